//! The group `coordination.k8s.io`.

mod lease;

use self::lease::Lease;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "Lease" => &Lease,
        _ => &Plain,
    }
}
