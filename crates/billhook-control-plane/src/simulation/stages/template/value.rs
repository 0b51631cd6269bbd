//! Values of templates: whether they count as true, and how they are printed.

use serde_json::Value;

/// Whether a value counts as true: it is neither absent, false, 0 nor empty.
pub(super) fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// Returns a value as it is printed.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
