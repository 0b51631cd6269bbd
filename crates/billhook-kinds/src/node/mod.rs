//! The group `node.k8s.io`.

mod runtime_class;

use self::runtime_class::RuntimeClass;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "RuntimeClass" => &RuntimeClass,
        _ => &Plain,
    }
}
