//! Scripts: the life of a pod on a simulated node (CP-115, CP-116).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::object::Object;

/// The life of a pod. By default it is scheduled, its containers start at once, are ready, and run
/// until the pod is deleted; those of Jobs end well after a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Script {
    /// Whether the pod is not scheduled.
    pub stays_pending: bool,
    /// Whether the scheduler finds no node for the pod, and says so.
    pub is_unschedulable: bool,
    /// Why the pod is not ready, whatever its containers are; `None` if these decide.
    pub unready: Option<Unready>,
    /// How the whole pod ends, whatever its restart policy is; `None` if its containers decide.
    pub end: Option<End>,
    /// Whether nothing happens when the pod is deleted, as if its node were gone.
    pub ignores_deletion: bool,
    /// Whether the pod runs without the objects that it needs: claims, Secrets and ConfigMaps.
    pub ignores_missing: bool,
    /// The scripts of the containers, by their names.
    pub containers: BTreeMap<String, ContainerScript>,
}

/// The life of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContainerScript {
    /// How long its image takes to be pulled, before it starts.
    pub pulled_after: Duration,
    /// How long it takes to start.
    pub starts_after: Duration,
    /// Whether its image cannot be pulled.
    pub is_not_pulled: bool,
    /// How long it runs until it is ready; `None` if it never is.
    pub ready_after: Option<Duration>,
    /// Changes of its readiness after that, in any order.
    pub readiness_changes: Vec<ReadinessChange>,
    /// How it ends, if it does.
    pub exit: Option<Exit>,
    /// The words of its end.
    pub exit_words: ExitWords,
    /// How long it runs until its liveness probe fails, for which it is killed; `None` if that never does.
    pub fails_liveness_after: Option<Duration>,
    /// How often it ends, or is killed, before it goes on; `None` if always.
    pub exits_times: Option<u64>,
    /// Whether it goes on until the grace period is over when the pod is deleted.
    pub ignores_sigterm: bool,
    /// How long it goes on when the pod is deleted, within the grace period.
    pub stops_after: Duration,
    /// The text that it logs.
    pub log: String,
}

/// A change of the readiness of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadinessChange {
    /// How long the container runs before.
    pub after: Duration,
    /// Whether it is ready from then on.
    pub is_ready: bool,
}

/// The words of a container's end, as its status has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExitWords {
    /// The reason; the usual one if it is empty.
    pub reason: String,
    /// The message; empty for none.
    pub message: String,
    /// The signal that has ended it.
    pub signal: Option<i64>,
}

/// Why a pod is not ready, as its conditions say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unready {
    /// The reason; empty for none.
    pub reason: String,
    /// The message; empty for none.
    pub message: String,
}

/// The end of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code.
    pub code: i64,
    /// How long it runs before, to the second.
    pub after: Duration,
    /// Whether it was killed because it took too much memory.
    pub is_oom: bool,
}

/// The end of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All its containers end with an exit code after a time.
    Exit(Exit),
    /// Its node evicts it after a time.
    Eviction(Duration),
    /// Its node is shut down after a time.
    Shutdown(Duration),
}

/// How long the containers of a Job run.
const JOB: Duration = Duration::from_secs(1);

impl Exit {
    /// A container ends with an exit code, after a time.
    pub fn new(code: i64, after: Duration) -> Self {
        Exit { code, after, is_oom: false }
    }
}

impl ContainerScript {
    /// Returns the script of a container that runs and is ready.
    fn running() -> Self {
        ContainerScript { ready_after: Some(Duration::ZERO), ..ContainerScript::default() }
    }

    /// Returns whether it is ready when it has run for some time, and for how long from then on that stays
    /// so, if it changes.
    pub(super) fn readiness(&self, ran: Duration) -> (bool, Option<Duration>) {
        let first = self.ready_after.map(|after| ReadinessChange { after, is_ready: true });
        let changes = || first.iter().chain(&self.readiness_changes);
        // Of changes at the same time the last one counts.
        let last = changes().filter(|change| change.after <= ran).max_by_key(|change| change.after);
        let next = changes().map(|change| change.after).filter(|after| *after > ran).min();
        (last.is_some_and(|change| change.is_ready), next.map(|next| next.saturating_sub(ran)))
    }
}

impl Script {
    /// Returns the script of a pod whose containers run until it is deleted.
    pub fn running(pod: &Object) -> Self {
        let named = |(is_init, name): (bool, String)| {
            let exit = is_init.then(|| Exit::new(0, Duration::ZERO));
            (name, ContainerScript { exit, ..ContainerScript::running() })
        };
        Script { containers: containers(pod).map(named).collect(), ..Script::default() }
    }

    /// Returns the script of a pod that no rule is about.
    pub(super) fn of_pod(pod: &Object) -> Self {
        let mut script = Script::running(pod);
        let owner = pod.controller().and_then(|owner| owner.get("kind")?.as_str());
        if owner == Some("Job") {
            let running = script.containers.values_mut().filter(|it| it.exit.is_none());
            running.for_each(|container| container.exit = Some(Exit::new(0, JOB)));
        }
        script
    }

    /// Returns what a container does.
    pub(crate) fn container(&self, name: &str) -> ContainerScript {
        self.containers.get(name).cloned().unwrap_or_else(ContainerScript::running)
    }
}

/// Returns the names of a pod's containers, and whether each is one that ends before others begin.
fn containers(pod: &Object) -> impl Iterator<Item = (bool, String)> {
    let lists = [("/spec/initContainers", true), ("/spec/containers", false)];
    lists.into_iter().flat_map(|(list, is_init)| {
        pod.list(list).iter().filter_map(move |container| {
            let is_sidecar = container.get("restartPolicy").is_some_and(|it| it == "Always");
            Some((is_init && !is_sidecar, container.get("name")?.as_str()?.to_owned()))
        })
    })
}
