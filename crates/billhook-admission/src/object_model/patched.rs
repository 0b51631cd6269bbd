//! Objects that a webhook has patched (DI-31 to DI-35).

use billhook::type_meta;
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::value::{deep_eq, grow};
use serde_json::Value;

/// Checks an object after a patch (DI-31, DI-35): any tree that still says it is of the same kind.
pub(crate) fn check_patched(object: &Value, kind: &GroupVersionKind) -> Result<(), String> {
    let found = type_meta(object, &kind.kind).map_err(|error| error.to_string())?;
    let expected = kind.api_version();
    if found.api_version != expected || found.kind != kind.kind {
        return Err(format!(
            "the patch changed the object from {expected} {} to {} {}",
            kind.kind, found.api_version, found.kind
        ));
    }
    Ok(())
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
