//! Errors that show values in the server's internal form (CV-06), and how often.

use billhook_apimachinery::{FieldError, FieldPath};

/// An error about a value that is printed in the server's internal form (CV-06).
pub(crate) fn invalid(path: FieldPath, shown: String, detail: &str) -> FieldError {
    let value = billhook_decode::read_json_to_depth(shown.as_bytes(), usize::MAX);
    let value = value.map(|document| document.into_value().into_inner()).unwrap_or_default();
    FieldError::invalid(path, value, detail).show_value_as(shown)
}

/// The maximum number of elements in all errors that show the same list; the server has no limit.
const MAX_REPEATED: usize = 16 * 1024;

/// Returns the number of errors that may show a list of some length.
pub(crate) fn repeats(length: usize) -> usize {
    (MAX_REPEATED / length.max(1)).max(1)
}
