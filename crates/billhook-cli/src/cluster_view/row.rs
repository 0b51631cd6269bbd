//! An object in one line.

use billhook_apiserver::storage::{Collection, Object};
use serde_json::{Value, json};

/// The longest text of a line, in characters: objects may have any.
const LONGEST: usize = 64;
/// How many owners of an object are shown.
const MOST_OWNERS: usize = 10;

/// Returns the line of an object: names, owners, and one word about its state.
pub(super) fn of(collection: &Collection, object: &Object) -> Value {
    let (group, resource) = collection.parts();
    let (namespace, name) = object.key.split_once('/').unwrap_or(("", &object.key));
    // One that is nested too deeply has its names only.
    let value: Value = serde_json::from_slice(&object.text).unwrap_or_default();
    let text = |pointer: &str| short(value.pointer(pointer).and_then(Value::as_str).unwrap_or(""));
    let owners = value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let uid = |owner: &Value| owner.get("uid").and_then(Value::as_str).map(short);
    let owners: Vec<String> =
        owners.into_iter().flatten().take(MOST_OWNERS).filter_map(uid).collect();
    json!({
        "group": group, "resource": resource, "namespace": namespace, "name": name,
        "apiVersion": text("/apiVersion"), "kind": text("/kind"), "uid": text("/metadata/uid"),
        "created": text("/metadata/creationTimestamp"), "revision": object.modified,
        "owners": owners, "state": short(state(&value)),
    })
}

/// Returns what an object says of itself, in a word.
fn state(value: &Value) -> &str {
    if value.pointer("/metadata/deletionTimestamp").is_some() {
        return "Terminating";
    }
    if let Some(phase) = value.pointer("/status/phase").and_then(Value::as_str) {
        return phase;
    }
    let conditions = value.pointer("/status/conditions").and_then(Value::as_array);
    let of_type = |wanted: &str| {
        let mut conditions = conditions.into_iter().flatten();
        let found = conditions.find(|it| it.get("type").and_then(Value::as_str) == Some(wanted));
        found.and_then(|it| it.get("status")).and_then(Value::as_str)
    };
    for (condition, when_true, when_false) in [
        ("Failed", "Failed", ""),
        ("Complete", "Complete", ""),
        ("Ready", "Ready", "NotReady"),
        ("Available", "Available", "Unavailable"),
    ] {
        match of_type(condition) {
            Some("True") => return when_true,
            Some("False") if !when_false.is_empty() => return when_false,
            _ => {}
        }
    }
    ""
}

fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
