//! What the containers of a pod do on a simulated node (CP-115).

use std::time::Duration;

use crate::object::Object;

/// What happens to a pod on its node. By default its containers start at once, are ready, and run until
/// the pod is deleted; those of Jobs end well after a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Script {
    /// Whether the pod is not scheduled.
    pub stays_pending: bool,
    /// Why the pod is not ready; `None` if it is.
    pub unready: Option<Unready>,
    /// How its containers end, if they do.
    pub exit: Option<Exit>,
    /// Whether its containers go on when the pod is deleted.
    pub ignores_deletion: bool,
}

/// Why a pod is not ready, as its conditions say.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub code: i32,
    /// How long it runs before.
    pub after: Duration,
}

/// How long the containers of a Job run.
const JOB: Duration = Duration::from_secs(1);

impl Script {
    /// Returns the script of a pod that no rule is about.
    pub fn of_pod(pod: &Object) -> Self {
        let owner = pod.controller().and_then(|owner| owner.get("kind")?.as_str());
        let exit = (owner == Some("Job")).then_some(Exit { code: 0, after: JOB });
        Script { exit, ..Script::default() }
    }
}
