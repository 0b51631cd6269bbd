//! Parts of recorded objects.

use serde_json::Value;

/// A text in an object; empty if there is none.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
