//! The cost of a call at run time, given its arguments and its result.

use super::node::Call;
use crate::language::functions::{Cost, Overload};
use crate::language::value::{EvaluationError, Value};

/// Puts a value without a length in the place of an optional.
pub(super) fn hide_optional(value: &mut Value<'_>) {
    if matches!(value, Value::Optional(_)) {
        *value = Value::Null;
    }
}

/// Returns the cost of a call (CE-35).
pub(super) fn cost(
    call: &Call,
    chosen: Option<&Overload>,
    arguments: &[Value<'_>],
    result: &Value<'_>,
    failed: bool,
) -> Result<u64, EvaluationError> {
    let is_resolved = call.overloads.len() == 1;
    Ok(match chosen.or(call.overloads.first().copied()).map(|overload| overload.cost) {
        None => 1,
        Some(Cost::Fixed(cost)) => cost,
        Some(Cost::Of(cost)) => cost(arguments, result),
        Some(Cost::Resolved(_) | Cost::OfLists(_)) if !is_resolved => 1,
        Some(Cost::OfLists(_)) if failed => {
            return Err(EvaluationError::Internal(
                "internal error: interface conversion: *types.Err is not traits.Lister: missing \
                 method Add"
                    .into(),
            ));
        }
        Some(Cost::Resolved(cost) | Cost::OfLists(cost)) => cost(arguments, result),
    })
}

/// Returns whether a value has parts.
pub(super) fn is_container(value: &Value<'_>) -> bool {
    matches!(value, Value::List(_) | Value::Map(_) | Value::Optional(Some(_)))
}
