//! The built-in kinds, which need no definition.

use billhook_kinds::Kind;
use serde_json::Value;

/// Returns the kind of an object, if it is built in.
pub(crate) fn kind_of(object: &Value) -> Option<&'static Kind> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    Kind::named(text("apiVersion")?, text("kind")?)
}
