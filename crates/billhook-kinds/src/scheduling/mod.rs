//! The group `scheduling.k8s.io`.

mod priority_class;

use self::priority_class::PriorityClass;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "PriorityClass" => &PriorityClass,
        _ => &Plain,
    }
}
