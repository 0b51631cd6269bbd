//! The cells of tables (BK-721, BK-722).

use billhook_apimachinery::age;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::FieldValue as _;
use serde_json::Value;

use crate::values::{members, text, value_at};

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

/// The cell of a text; empty if absent.
pub(crate) fn at(object: &Value, place: &str) -> Value {
    text(object, place).into()
}

/// The number of members or items.
pub(crate) fn count(object: &Value, place: &str) -> usize {
    match value_at(object, place) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    }
}

/// The cell of a text, or of another one if there is none.
pub(crate) fn at_or(object: &Value, place: &str, otherwise: &str) -> Value {
    let text = text(object, place);
    if text.is_empty() { otherwise } else { text }.into()
}

/// The cell of texts in a row, or of another text if there are none.
pub(crate) fn joined<T: AsRef<str>>(texts: &[T], otherwise: &str) -> Value {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    if texts.is_empty() { otherwise.into() } else { texts.join(",").into() }
}

/// The cell of the first three texts, with the number of the others.
pub(crate) fn first_three(texts: &[String], otherwise: &str) -> Value {
    match texts.split_at_checked(3) {
        Some((first, more)) if !more.is_empty() => {
            format!("{} + {} more...", first.join(","), more.len()).into()
        }
        _ => joined(texts, otherwise),
    }
}

/// The cell of labels that must match.
pub(crate) fn labels(object: &Value, place: &str) -> Value {
    let mut labels: Vec<String> = members(object, place)
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect();
    labels.sort();
    joined(&labels, "<none>")
}

/// The cell of a label selector.
pub(crate) fn selector(object: &Value, place: &str) -> Value {
    let selector = value_at(object, place).map(LabelSelector::of).unwrap_or_default();
    match selector.parse() {
        Ok(_) if selector.is_empty() => "<none>".into(),
        Ok(selector) => selector.to_string().into(),
        Err(_) => "<error>".into(),
    }
}
