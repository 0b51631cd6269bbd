//! The group `rbac.authorization.k8s.io`.

use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        _ => &Plain,
    }
}
