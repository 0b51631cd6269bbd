//! Rules: what happens to the pods of a pattern (CP-115, CP-116).

use std::time::Duration;

use billhook_apimachinery::label_selector::Selector;
use billhook_apimachinery::record::text;
use serde_json::Value;

use super::script::{ContainerScript, End, Exit, ExitWords, ReadinessChange, Script};
use crate::object::Object;

/// Why a text or a document is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RuleError(pub(super) String);

impl RuleError {
    fn of(error: &impl std::fmt::Display) -> Self {
        RuleError(error.to_string())
    }
}

/// The pods that a rule is about, by a pattern of their names in which `*` stands for any text. One with
/// a slash has the namespace before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pods {
    pattern: String,
    labels: Option<Selector>,
    container: String,
    image: String,
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
    BeUnschedulable,
    BePulled,
    Start,
    GetReady,
    NeverGetReady,
    LoseReadiness,
    RegainReadiness,
    Exit { code: i64, is_oom: bool, words: ExitWords },
    KeepRunning,
    Log(String),
    NotBePulled,
    FailLiveness,
    IgnoreSigterm,
    Stop,
    IgnoreDeletion,
    BeEvicted,
    BeShutDown,
}

impl Rule {
    /// Begins a rule about pods.
    pub fn pods(pattern: &str) -> Pods {
        let (pattern, any) = (pattern.to_owned(), "*".to_owned());
        Pods { pattern, labels: None, container: any.clone(), image: any }
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

    /// Says with which reason and message a container ends, if it does, and by which signal.
    #[must_use]
    pub fn words(mut self, reason: &str, message: &str, signal: Option<i64>) -> Self {
        if let Effect::Exit { words, .. } = &mut self.effect {
            *words = ExitWords { reason: reason.to_owned(), message: message.to_owned(), signal };
        }
        self
    }

    /// Changes the script of a pod, if the rule is about it.
    pub(super) fn apply(&self, pod: &Object, script: &mut Script) {
        if !self.pods.contain(pod) {
            return;
        }
        match &self.effect {
            Effect::StayPending => script.stays_pending = true,
            Effect::BeUnschedulable => script.is_unschedulable = true,
            Effect::IgnoreDeletion => script.ignores_deletion = true,
            Effect::BeEvicted => script.end = Some(End::Eviction(self.after)),
            Effect::BeShutDown => script.end = Some(End::Shutdown(self.after)),
            effect => {
                let is_meant = |name: &str| {
                    matches(&self.pods.container, name) && self.pods.contain_image(pod, name)
                };
                let containers = script.containers.iter_mut().filter(|(name, _)| is_meant(name));
                containers.for_each(|(_, script)| self.apply_to(effect, script));
            }
        }
    }

    fn apply_to(&self, effect: &Effect, script: &mut ContainerScript) {
        match effect {
            Effect::BePulled => script.pulled_after = self.after,
            Effect::Start => script.starts_after = self.after,
            // Readiness that is set anew does not change any more, unless a later rule says so.
            Effect::GetReady => set_readiness(script, Some(self.after)),
            Effect::NeverGetReady => set_readiness(script, None),
            Effect::LoseReadiness => self.change_readiness(script, false),
            Effect::RegainReadiness => self.change_readiness(script, true),
            Effect::NotBePulled => script.is_not_pulled = true,
            Effect::FailLiveness => {
                script.fails_liveness_after = Some(self.after);
                script.exits_times = self.times;
            }
            Effect::IgnoreSigterm => script.ignores_sigterm = true,
            Effect::Stop => script.stops_after = self.after,
            Effect::Exit { code, is_oom, words } => {
                script.exit = Some(Exit { code: *code, after: self.after, is_oom: *is_oom });
                script.exit_words.clone_from(words);
                script.exits_times = self.times;
            }
            Effect::KeepRunning => script.exit = None,
            Effect::Log(text) => script.log.clone_from(text),
            Effect::StayPending
            | Effect::BeUnschedulable
            | Effect::IgnoreDeletion
            | Effect::BeEvicted
            | Effect::BeShutDown => {}
        }
    }

    fn change_readiness(&self, script: &mut ContainerScript, is_ready: bool) {
        script.readiness_changes.push(ReadinessChange { after: self.after, is_ready });
    }
}

impl Pods {
    /// Says which containers the rule is about, by a pattern of their names; by default all.
    #[must_use]
    pub fn container(mut self, pattern: &str) -> Self {
        self.container = pattern.to_owned();
        self
    }

    /// Says by a selector of their labels, such as `app=web`, which pods the rule is about.
    ///
    /// # Errors
    ///
    /// If the selector is malformed.
    pub fn labels(mut self, selector: &str) -> Result<Self, RuleError> {
        let parsed = selector.parse().map_err(|error| RuleError::of(&error))?;
        self.labels = Some(parsed);
        Ok(self)
    }

    /// Says by a pattern of their images which containers the rule is about, and of which pods.
    #[must_use]
    pub fn image(mut self, pattern: &str) -> Self {
        self.image = pattern.to_owned();
        self
    }

    /// Containers end with an exit code; at once, if the rule says nothing else.
    pub fn exits(self, code: i64) -> Rule {
        self.have(Effect::Exit { code, is_oom: false, words: ExitWords::default() })
    }

    /// Containers are killed because they take too much memory.
    pub fn run_out_of_memory(self) -> Rule {
        self.have(Effect::Exit { code: 137, is_oom: true, words: ExitWords::default() })
    }

    /// Containers run until the pod is deleted, those of Jobs, too.
    pub fn keep_running(self) -> Rule {
        self.have(Effect::KeepRunning)
    }

    /// Containers log a text.
    pub fn log(self, text: &str) -> Rule {
        self.have(Effect::Log(text.to_owned()))
    }

    /// Containers are ready at a time after they have started.
    pub fn get_ready(self) -> Rule {
        self.have(Effect::GetReady)
    }

    /// Containers are never ready.
    pub fn never_get_ready(self) -> Rule {
        self.have(Effect::NeverGetReady)
    }

    /// Containers are not ready any more at a time after they have started, until they are again.
    pub fn lose_readiness(self) -> Rule {
        self.have(Effect::LoseReadiness)
    }

    /// Containers that were not ready any more are ready again at a time after they have started.
    pub fn regain_readiness(self) -> Rule {
        self.have(Effect::RegainReadiness)
    }

    /// The images of containers take some time to be pulled, before the containers start.
    pub fn are_pulled(self) -> Rule {
        self.have(Effect::BePulled)
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

    /// Containers take some time to stop when the pod is deleted, within the grace period.
    pub fn stop(self) -> Rule {
        self.have(Effect::Stop)
    }

    /// The scheduler finds no node for pods, and says so.
    pub fn are_unschedulable(self) -> Rule {
        self.have(Effect::BeUnschedulable)
    }

    /// Pods are not scheduled, as if there were no scheduler.
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

    /// The nodes of pods are shut down at a time after these have come.
    pub fn are_shut_down(self) -> Rule {
        self.have(Effect::BeShutDown)
    }

    fn have(self, effect: Effect) -> Rule {
        Rule { pods: self, effect, after: Duration::ZERO, times: None }
    }

    fn contain(&self, pod: &Object) -> bool {
        let is_named = match self.pattern.contains('/') {
            true => matches(&self.pattern, pod.key()),
            false => matches(&self.pattern, pod.name()),
        };
        is_named
            && self.labels.as_ref().is_none_or(|labels| labels.matches(pod.labels()))
            && (self.image == "*" || specs(pod).any(|it| matches(&self.image, text(it, "image"))))
    }

    /// Returns whether the rule is about the image of a container.
    fn contain_image(&self, pod: &Object, container: &str) -> bool {
        let mut same = specs(pod).filter(|it| text(it, "name") == container);
        self.image == "*" || same.any(|it| matches(&self.image, text(it, "image")))
    }
}

fn set_readiness(script: &mut ContainerScript, after: Option<Duration>) {
    script.ready_after = after;
    script.readiness_changes.clear();
}

/// Returns the containers of a pod as its spec has them.
fn specs(pod: &Object) -> impl Iterator<Item = &Value> {
    ["/spec/initContainers", "/spec/containers"].into_iter().flat_map(|list| pod.list(list))
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
