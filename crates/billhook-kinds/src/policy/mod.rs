//! The group `policy`.

mod disruption_budget;

use self::disruption_budget::PodDisruptionBudget;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "PodDisruptionBudget" => &PodDisruptionBudget,
        _ => &Plain,
    }
}
