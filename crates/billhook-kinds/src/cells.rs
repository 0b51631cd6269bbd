//! The cells of tables (BK-721, BK-722).

use billhook_apimachinery::age;
use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::values::{members, text};

/// The cell of the name.
pub(crate) fn name(object: &Value) -> Value {
    text(object, "/metadata/name").into()
}

/// The cell of the time since the object was created.
pub(crate) fn created(object: &Value, now: Time) -> Value {
    since(text(object, "/metadata/creationTimestamp"), now)
}

/// The cell of the time since another one.
pub(crate) fn since(time: &str, now: Time) -> Value {
    age(Time::parse(time).unwrap_or_default(), now).into()
}

/// The cell of a text; empty if there is none.
pub(crate) fn at(object: &Value, place: &str) -> Value {
    text(object, place).into()
}

/// The number of members or items.
pub(crate) fn count(object: &Value, place: &str) -> usize {
    match object.pointer(place) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    }
}

/// The cell of labels at a place: `k=v`, joined with commas.
pub(crate) fn labels(object: &Value, place: &str) -> Value {
    let labels = members(object, place);
    let mut pairs: Vec<String> = labels
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    pairs.sort();
    if pairs.is_empty() { "<none>".into() } else { pairs.join(",").into() }
}
