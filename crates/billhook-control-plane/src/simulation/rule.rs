//! Rules: what happens to the pods of a pattern (CP-115, CP-116).

use std::time::Duration;

use super::script::{ContainerScript, End, Exit, Script};
use crate::object::Object;

/// The pods that a rule is about, by a pattern of their names in which `*` stands for any text. One with
/// a slash has the namespace before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pods {
    pattern: String,
    container: String,
}

/// An event in the life of pods.
///
/// ```
/// use std::time::Duration;
/// use billhook_control_plane::simulation::Rule;
///
/// let crashes = Rule::pods("web-*").container("app").exits(1).after(Duration::from_secs(3)).times(2);
/// let is_full = Rule::pods("jobs/*").stay_pending();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pods: Pods,
    effect: Effect,
    after: Duration,
    times: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Effect {
    StayPending,
    Start,
    GetReady,
    NeverGetReady,
    Exit { code: i64, is_oom: bool },
    NotBePulled,
    FailLiveness,
    IgnoreSigterm,
    IgnoreDeletion,
    BeEvicted,
}

impl Rule {
    /// Begins a rule about pods.
    pub fn pods(pattern: &str) -> Pods {
        Pods { pattern: pattern.to_owned(), container: "*".to_owned() }
    }

    /// Lets it happen later: so long after the pod has come to its node, or after the container has
    /// started.
    #[must_use]
    pub fn after(mut self, duration: Duration) -> Self {
        self.after = duration;
        self
    }

    /// Lets a container end so often; then it runs.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Changes the script of a pod, if the rule is about it.
    pub(super) fn apply(&self, pod: &Object, script: &mut Script) {
        if !self.pods.contain(pod) {
            return;
        }
        match &self.effect {
            Effect::StayPending => script.stays_pending = true,
            Effect::IgnoreDeletion => script.ignores_deletion = true,
            Effect::BeEvicted => script.end = Some(End::Eviction(self.after)),
            effect => {
                let container = |name: &str| matches(&self.pods.container, name);
                let containers = script.containers.iter_mut().filter(|(name, _)| container(name));
                containers.for_each(|(_, script)| self.apply_to(effect, script));
            }
        }
    }

    fn apply_to(&self, effect: &Effect, script: &mut ContainerScript) {
        match effect {
            Effect::Start => script.starts_after = self.after,
            Effect::GetReady => script.ready_after = Some(self.after),
            Effect::NeverGetReady => script.ready_after = None,
            Effect::NotBePulled => script.is_not_pulled = true,
            Effect::FailLiveness => {
                script.fails_liveness_after = Some(self.after);
                script.exits_times = self.times;
            }
            Effect::IgnoreSigterm => script.ignores_sigterm = true,
            Effect::Exit { code, is_oom } => {
                script.exit = Some(Exit { code: *code, after: self.after, is_oom: *is_oom });
                script.exits_times = self.times;
            }
            Effect::StayPending | Effect::IgnoreDeletion | Effect::BeEvicted => {}
        }
    }
}

impl Pods {
    /// Says which containers the rule is about, by a pattern of their names; by default all.
    #[must_use]
    pub fn container(mut self, pattern: &str) -> Self {
        self.container = pattern.to_owned();
        self
    }

    /// Containers end with an exit code; at once, if the rule says nothing else.
    pub fn exits(self, code: i64) -> Rule {
        self.have(Effect::Exit { code, is_oom: false })
    }

    /// Containers are killed because they take too much memory.
    pub fn run_out_of_memory(self) -> Rule {
        self.have(Effect::Exit { code: 137, is_oom: true })
    }

    /// Containers are ready at a time after they have started.
    pub fn get_ready(self) -> Rule {
        self.have(Effect::GetReady)
    }

    /// Containers are never ready.
    pub fn never_get_ready(self) -> Rule {
        self.have(Effect::NeverGetReady)
    }

    /// Containers start at a time after the pod has come to its node.
    pub fn start(self) -> Rule {
        self.have(Effect::Start)
    }

    /// The images of containers cannot be pulled.
    pub fn fail_to_pull(self) -> Rule {
        self.have(Effect::NotBePulled)
    }

    /// The liveness probes of containers fail at a time after these have started: they are killed.
    pub fn fail_liveness(self) -> Rule {
        self.have(Effect::FailLiveness)
    }

    /// Containers go on until the grace period is over when the pod is deleted.
    pub fn ignore_sigterm(self) -> Rule {
        self.have(Effect::IgnoreSigterm)
    }

    /// Pods are not scheduled.
    pub fn stay_pending(self) -> Rule {
        self.have(Effect::StayPending)
    }

    /// Nothing happens when pods are deleted, as if their nodes were gone.
    pub fn ignore_deletion(self) -> Rule {
        self.have(Effect::IgnoreDeletion)
    }

    /// Nodes evict pods at a time after they have come.
    pub fn are_evicted(self) -> Rule {
        self.have(Effect::BeEvicted)
    }

    fn have(self, effect: Effect) -> Rule {
        Rule { pods: self, effect, after: Duration::ZERO, times: None }
    }

    fn contain(&self, pod: &Object) -> bool {
        match self.pattern.contains('/') {
            true => matches(&self.pattern, pod.key()),
            false => matches(&self.pattern, pod.name()),
        }
    }
}

/// Returns whether a text matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}
