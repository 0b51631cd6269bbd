//! Conditions of statuses.

use serde_json::{Value, json};

use crate::clock::Timestamp;

/// Sets a condition in a list: its transition time stays if its status does.
pub(crate) fn set_condition(
    conditions: &mut Vec<Value>,
    [kind, status, reason, message]: [&str; 4],
    now: Timestamp,
) {
    let is_of_kind = |it: &Value| it.get("type").and_then(Value::as_str) == Some(kind);
    let before = conditions.iter().position(is_of_kind);
    let known = before.and_then(|index| conditions.get(index));
    let has_status = |it: &&Value| it.get("status").and_then(Value::as_str) == Some(status);
    let since = known.filter(has_status).and_then(|it| it.get("lastTransitionTime")).cloned();
    let condition = json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": since.unwrap_or_else(|| now.to_rfc3339().into()),
    });
    match before.and_then(|index| conditions.get_mut(index)) {
        Some(place) => *place = condition,
        None => conditions.push(condition),
    }
}

/// Removes a condition from a list.
pub(crate) fn remove_condition(conditions: &mut Vec<Value>, kind: &str) {
    conditions.retain(|it| it.get("type").and_then(Value::as_str) != Some(kind));
}
