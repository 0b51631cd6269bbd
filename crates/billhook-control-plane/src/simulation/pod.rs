//! The state of a pod on its node: that of its containers, and what follows from it (CP-111, CP-112).

use std::time::Duration;

use serde_json::Value;

use super::container::{Container, KILLED, STOPPED, Surroundings};
use super::needs::Needs;
use super::restart::Restart;
use super::script::{End, Exit, Script};
use crate::clock::Timestamp;
use crate::object::Object;

/// A pod, and its containers.
#[derive(Clone)]
pub(super) struct Pod<'p> {
    pub(super) object: &'p Object,
    pub(super) init: Vec<Init>,
    pub(super) containers: Vec<Container>,
    /// Those that were added to the running pod, on which nothing else depends.
    pub(super) ephemeral: Vec<Container>,
    /// When it has come to its node.
    pub(super) arrived: Timestamp,
    /// Its end, if it was ended from outside.
    pub(super) ended: Option<Ended>,
}

/// An init container.
#[derive(Clone)]
pub(super) struct Init {
    pub(super) container: Container,
    /// Whether it goes on while the others run.
    is_sidecar: bool,
}

/// Why a pod has ended that did not end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Its containers were stopped.
    Stopped,
    Evicted,
    ShutDown,
    DeadlineExceeded,
}

/// The phase of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Pending,
    Running,
    Succeeded,
    Failed,
}

impl Phase {
    pub(super) fn name(self) -> &'static str {
        match self {
            Phase::Pending => "Pending",
            Phase::Running => "Running",
            Phase::Succeeded => "Succeeded",
            Phase::Failed => "Failed",
        }
    }

    pub(super) fn is_terminal(self) -> bool {
        matches!(self, Phase::Succeeded | Phase::Failed)
    }
}

impl<'p> Pod<'p> {
    pub(super) fn read(object: &'p Object, now: Timestamp) -> Self {
        let specs = object.list("/spec/initContainers");
        let waits_for = if specs.is_empty() { "ContainerCreating" } else { "PodInitializing" };
        let read = |specs: &[Value], is_init: bool, statuses: &str| -> Vec<Container> {
            let (statuses, policy) = (object.list(statuses), object.text("/spec/restartPolicy"));
            let read = |spec| {
                let restart = Restart::read(spec, policy, is_init);
                Container::read(spec, statuses, restart, waits_for)
            };
            specs.iter().map(read).collect()
        };
        let init = read(specs, true, "/status/initContainerStatuses").into_iter().zip(specs);
        let is_sidecar = |spec: &Value| spec.get("restartPolicy").is_some_and(|it| it == "Always");
        let init = init.map(|(container, spec)| Init { container, is_sidecar: is_sidecar(spec) });
        Pod {
            object,
            init: init.collect(),
            containers: read(object.list("/spec/containers"), false, "/status/containerStatuses"),
            ephemeral: Container::read_ephemeral(object),
            arrived: object.time("/status/startTime").unwrap_or(now),
            ended: None,
        }
    }

    /// Goes on for as far as the time has come. Returns how long the next step still takes, if there is
    /// one.
    pub(super) fn advance(
        &mut self,
        script: &Script,
        needs: &Needs,
        now: Timestamp,
    ) -> Option<Duration> {
        if let Some((ended, at)) = self.end(script)
            && self.phase() != Phase::Pending
        {
            if at > now {
                return self
                    .advance_containers(script, needs, now)
                    .into_iter()
                    .chain([at.since(now)])
                    .min();
            }
            let (code, is_oom) = match script.end {
                Some(End::Exit(exit)) if ended == Ended::Stopped => (exit.code, exit.is_oom),
                _ => (KILLED, false),
            };
            self.all_mut().for_each(|container| container.end(code, is_oom, now));
            self.ended = Some(ended);
            return None;
        }
        self.advance_containers(script, needs, now)
    }

    /// Returns how and when the pod is ended from outside, if it is.
    fn end(&self, script: &Script) -> Option<(Ended, Timestamp)> {
        let (ended, after) = match script.end {
            Some(End::Exit(Exit { after, .. })) => (Ended::Stopped, after),
            Some(End::Eviction(after)) => (Ended::Evicted, after),
            Some(End::Shutdown(after)) => (Ended::ShutDown, after),
            None => {
                let deadline = self.object.int("/spec/activeDeadlineSeconds")?;
                let deadline = Duration::from_secs(u64::try_from(deadline).ok()?);
                (Ended::DeadlineExceeded, deadline)
            }
        };
        Some((ended, self.arrived.plus(after)))
    }

    fn advance_containers(
        &mut self,
        script: &Script,
        needs: &Needs,
        now: Timestamp,
    ) -> Option<Duration> {
        if needs.volume.is_some() && self.all().all(Container::is_new) {
            return None;
        }
        let (pod, arrived) = ((&**self.object.key(), self.object.uid()), self.arrived);
        let around = Surroundings { pod, arrived, now, needs };
        let is_initialized = self.is_initialized();
        let mut next = None;
        for container in &mut self.ephemeral {
            let step = container.advance(&script.container(&container.name), &around);
            container.is_ready = false;
            next = next.into_iter().chain(step).min();
        }
        for Init { container, is_sidecar } in &mut self.init {
            let script = script.container(&container.name);
            let step = container.advance(&script, &around);
            next = next.into_iter().chain(step).min();
            if !is_initialized && !is_done(container, *is_sidecar) {
                return next;
            }
            container.is_ready |= !*is_sidecar;
        }
        for container in &mut self.containers {
            let script = script.container(&container.name);
            let step = container.advance(&script, &around);
            next = next.into_iter().chain(step).min();
        }
        if self.containers.iter().all(Container::has_ended) {
            let sidecars = self.init.iter_mut().filter(|init| init.is_sidecar);
            let sidecars = sidecars.map(|init| &mut init.container);
            let others = sidecars.chain(&mut self.ephemeral);
            others.for_each(|container| container.end(STOPPED, false, now));
        }
        next
    }

    /// Returns whether the containers have begun that come after the init containers. Those that stay may
    /// start again from then on without holding up the others.
    fn is_initialized(&self) -> bool {
        !self.containers.iter().all(Container::is_new)
    }

    /// Returns whether a container is to start, or to start again.
    pub(super) fn may_start(&self) -> bool {
        self.all().any(Container::may_start)
    }

    /// Stops the containers because the pod is deleted. Returns how long some go on.
    pub(super) fn stop(&mut self, script: &Script, now: Timestamp) -> Option<Duration> {
        let killed = self.object.time("/metadata/deletionTimestamp").unwrap_or(now);
        let asked = Timestamp::from_unix(killed.to_unix().saturating_sub(self.grace()));
        if let Some(End::Exit(exit)) = script.end {
            self.all_mut().for_each(|container| container.end(exit.code, false, now));
        }
        let stop = |container: &mut Container| {
            container.stop(&script.container(&container.name), (asked, killed), now)
        };
        let left = self.all_mut().filter_map(stop).max();
        self.ended = left.is_none().then_some(Ended::Stopped);
        left
    }

    /// Returns all containers, those first that start first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Container> {
        let init = self.init.iter().map(|init| &init.container);
        init.chain(&self.containers).chain(&self.ephemeral)
    }

    /// Returns the containers that run when the deletion of the pod begins; none later.
    pub(super) fn running_when_deleted(&self, now: Timestamp) -> impl Iterator<Item = &Container> {
        let killed = self.object.time("/metadata/deletionTimestamp").unwrap_or(now);
        let has_begun = killed.since(now).saturating_add(Duration::from_secs(1)) > self.grace();
        self.all().filter(move |container| has_begun && container.is_running())
    }

    /// Returns how long its containers may take to end.
    fn grace(&self) -> Duration {
        let grace = self.object.int("/metadata/deletionGracePeriodSeconds").unwrap_or_default();
        Duration::from_secs(u64::try_from(grace).unwrap_or_default())
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Container> {
        let init = self.init.iter_mut().map(|init| &mut init.container);
        init.chain(&mut self.containers).chain(&mut self.ephemeral)
    }

    /// Returns the names of the init containers that are not done.
    pub(super) fn uninitialized(&self) -> Vec<&str> {
        let is_done = |init: &&Init| is_done(&init.container, init.is_sidecar);
        let waiting = self.init.iter().skip_while(is_done);
        let waiting = waiting.filter(|_| !self.is_initialized());
        waiting.map(|init| init.container.name.as_str()).collect()
    }

    /// Returns the names of the containers that are not ready.
    pub(super) fn unready(&self) -> Vec<&str> {
        let unready = self.containers.iter().filter(|container| !container.is_ready);
        unready.map(|container| container.name.as_str()).collect()
    }

    pub(super) fn phase(&self) -> Phase {
        let codes = || self.containers.iter().filter_map(Container::exit_code);
        match self.ended {
            Some(Ended::Evicted | Ended::ShutDown | Ended::DeadlineExceeded) => {
                return Phase::Failed;
            }
            Some(Ended::Stopped) if codes().all(|code| code == 0) => return Phase::Succeeded,
            Some(Ended::Stopped) => return Phase::Failed,
            None => {}
        }
        if self.init.iter().any(|init| init.container.has_failed()) {
            return Phase::Failed;
        }
        if !self.uninitialized().is_empty() || self.containers.iter().any(Container::is_new) {
            return Phase::Pending;
        }
        let goes_on = |it: &Container| it.exit_code().is_none() || it.may_start();
        match () {
            () if self.containers.iter().any(goes_on) => Phase::Running,
            () if codes().all(|code| code == 0) => Phase::Succeeded,
            () => Phase::Failed,
        }
    }
}

/// Returns whether the next container may start after an init container.
fn is_done(container: &Container, is_sidecar: bool) -> bool {
    match is_sidecar {
        true => container.is_running(),
        false => container.exit_code() == Some(0),
    }
}
