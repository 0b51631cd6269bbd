//! Checking JSON text without reading it.

use crate::error::JsonError;
use crate::reader::{MAX_DEPTH, read_json};
use crate::scanner::{AnyKeys, Scan};

/// The result of checking JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Whether the text is UTF-8 and no string has a lone surrogate; otherwise the server reads
    /// U+FFFD in their places.
    pub is_unicode: bool,
}

/// Checks that a text is JSON as the server accepts it: the whole grammar, depth, the range of
/// numbers. Builds nothing.
///
/// # Errors
///
/// If the text is not JSON, is nested too deeply, or has a number beyond float64.
pub fn check_json(text: &[u8]) -> Result<Checked, JsonError> {
    let is_utf8 = std::str::from_utf8(text).is_ok();
    let mut scan = Scan::new(text);
    match scan.whole(|scan, at, byte| scan.skip_value(at, byte, &mut AnyKeys, MAX_DEPTH)) {
        Ok(()) => Ok(Checked { is_unicode: is_utf8 && !scan.lone_surrogate }),
        // The reader finds the same error and words it.
        Err(_) => read_json(text).map(|_| Checked { is_unicode: false }),
    }
}
