//! Members of the metadata of objects.

use serde_json::Value;

/// Returns a text in the metadata of an object; empty if there is none.
pub(crate) fn metadata_text<'v>(object: &'v Value, name: &str) -> &'v str {
    let metadata = object.get("metadata");
    metadata.and_then(|metadata| metadata.get(name)).and_then(Value::as_str).unwrap_or_default()
}
