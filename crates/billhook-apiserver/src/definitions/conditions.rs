//! The conditions of a definition (LC-20).

use billhook::Time;
use billhook::definition::{Condition, DefinitionStatus};

pub(crate) const NAMES_ACCEPTED: &str = "NamesAccepted";
pub(crate) const ESTABLISHED: &str = "Established";
pub(crate) const TERMINATING: &str = "Terminating";
pub(crate) const CONFORMANT: &str = "KubernetesAPIApprovalPolicyConformant";

/// A condition of a type: whether it holds, the reason and the message.
pub(crate) type Outcome<'o> = (bool, &'o str, &'o str);

/// Sets a condition in its place, or at the end (LC-20).
pub(crate) fn set(
    status: &mut DefinitionStatus,
    type_: &str,
    (holds, reason, message): Outcome<'_>,
    now: Time,
) {
    let holds = if holds { "True" } else { "False" };
    let place = status.conditions.iter().position(|condition| condition.type_ == type_);
    let place = place.unwrap_or_else(|| {
        let mut condition = Condition::default();
        type_.clone_into(&mut condition.type_);
        status.conditions.push(condition);
        status.conditions.len() - 1
    });
    let Some(condition) = status.conditions.get_mut(place) else { return };
    if condition.status != holds || condition.last_transition_time.is_zero() {
        condition.last_transition_time = now;
    }
    holds.clone_into(&mut condition.status);
    reason.clone_into(&mut condition.reason);
    message.clone_into(&mut condition.message);
}

pub(crate) fn is_true(status: &DefinitionStatus, type_: &str) -> bool {
    status.conditions.iter().any(|condition| condition.is_true(type_))
}

/// The reason of a condition; empty if absent.
pub(crate) fn reason<'s>(status: &'s DefinitionStatus, type_: &str) -> &'s str {
    let mut conditions = status.conditions.iter();
    let condition = conditions.find(|condition| condition.type_ == type_);
    condition.map_or("", |condition| &condition.reason)
}
