//! Errors that show values in the server's internal form (CV-06), and how often.

use billhook_apimachinery::record::{Type, go_syntax};
use billhook_apimachinery::value::{DeepValue, deep_clone, dismantle};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

/// The Go package of the server's internal form (KV-10).
const PACKAGE: &str = "apiextensions";

/// An error about a value of a type that is printed in the server's internal form (CV-06).
pub(crate) fn invalid(path: FieldPath, shown: String, type_: Type, detail: &str) -> FieldError {
    let value = billhook_decode::read_json_to_depth(shown.as_bytes(), usize::MAX);
    let value = value.map(|document| document.into_value().into_inner()).unwrap_or_default();
    let in_go = go_syntax(&value, type_, PACKAGE);
    FieldError::invalid(path, value, detail).show_value_as(shown).show_value_in_go_as(in_go)
}

/// The maximum number of elements in all errors that show the same list; the server has no limit.
const MAX_REPEATED: usize = 16 * 1024;

/// Returns the number of errors that may show a list of some length.
pub(crate) fn repeats(length: usize) -> usize {
    (MAX_REPEATED / length.max(1)).max(1)
}

/// Returns the part of a definition at a path with the defaults in it as they are after their
/// validation (DF-47): that is what the server shows.
pub(crate) fn with_rewritten(
    part: &Value,
    at: &FieldPath,
    rewritten: &[(FieldPath, DeepValue)],
) -> DeepValue {
    let mut part = DeepValue::from(deep_clone(part));
    let start = at.to_json_pointer();
    for (path, default) in rewritten {
        let path = path.to_json_pointer();
        let path = path.strip_prefix(&start).filter(|path| path.starts_with('/'));
        if let Some(place) = path.and_then(|path| part.pointer_mut(path)) {
            dismantle(std::mem::replace(place, deep_clone(default)));
        }
    }
    part
}
