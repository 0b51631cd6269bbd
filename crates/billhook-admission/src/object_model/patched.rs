//! Objects that a webhook has patched (DI-31 to DI-33).

use billhook::type_meta;
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::value::{deep_eq, grow};
use serde_json::Value;

/// Returns the kind of an object after a patch (DI-31, DI-35): any that the object says.
pub(crate) fn patched_kind(
    object: &Value,
    kind: &GroupVersionKind,
) -> Result<GroupVersionKind, String> {
    let found = type_meta(object, &kind.kind).map_err(|error| error.to_string())?;
    Ok(found.into())
}

/// Whether two objects are the same to the server (DI-33): null equals the empty list and the
/// empty map.
pub(crate) fn semantically_equal(left: &Value, right: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    match (left, right) {
        (Value::Null, other) | (other, Value::Null) => other.is_null() || is_empty(other),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && grow(|| left.iter().zip(right).all(|(l, r)| semantically_equal(l, r)))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(key, left): (&String, &Value)| {
                right.get(key).is_some_and(|right| semantically_equal(left, right))
            };
            left.len() == right.len() && grow(|| left.iter().all(same))
        }
        (left, right) => deep_eq(left, right),
    }
}
