//! The group `apps`.

mod controller_revision;
mod daemon_set;
mod deployment;
mod replica_set;
mod stateful_set;
mod template;

use self::controller_revision::ControllerRevision;
use self::daemon_set::DaemonSet;
use self::deployment::Deployment;
use self::replica_set::ReplicaSet;
use self::stateful_set::StatefulSet;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "ControllerRevision" => &ControllerRevision,
        "DaemonSet" => &DaemonSet,
        "Deployment" => &Deployment,
        "ReplicaSet" => &ReplicaSet,
        "StatefulSet" => &StatefulSet,
        _ => &Plain,
    }
}
