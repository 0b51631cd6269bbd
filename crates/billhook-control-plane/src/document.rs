//! Reading and changing documents.

use billhook_apimachinery::value::at;
use serde_json::{Map, Value};

/// Returns the elements of the list at a JSON pointer; none if it is absent.
pub(crate) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    at(value, pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the text at a JSON pointer; an empty one if it is absent.
pub(crate) fn text_at<'v>(value: &'v Value, pointer: &str) -> &'v str {
    at(value, pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Sets a member of a document, by the names on the way to it; objects that are missing are made.
pub(crate) fn set(document: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *document = value;
        return;
    };
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    if let Some(members) = document.as_object_mut() {
        let member = members.entry((*first).to_owned()).or_insert(Value::Null);
        set(member, rest, value);
    }
}

/// Removes a member of a document, by the names on the way to it.
pub(crate) fn remove(document: &mut Value, path: &[&str]) {
    let Some((last, way)) = path.split_last() else { return };
    let parent = way.iter().try_fold(document, |parent, name| parent.get_mut(*name));
    if let Some(members) = parent.and_then(Value::as_object_mut) {
        members.remove(*last);
    }
}
