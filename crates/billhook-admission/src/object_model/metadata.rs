//! Members of the metadata of objects.

use serde_json::Value;

/// Returns a member of the metadata of an object.
pub(crate) fn metadata_member<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    object.get("metadata")?.get(name)
}

/// Returns a text in the metadata of an object; empty if absent.
pub(crate) fn metadata_text<'v>(object: &'v Value, name: &str) -> &'v str {
    metadata_member(object, name).and_then(Value::as_str).unwrap_or_default()
}
