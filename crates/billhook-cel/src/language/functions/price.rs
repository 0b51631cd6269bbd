//! The prices of what expressions do, when they are judged (CE-25) and when they run (CE-35).

/// Making a list.
pub(crate) const LIST: u64 = 10;
/// Making a map.
pub(crate) const MAP: u64 = 30;
/// Making a message or an object.
pub(crate) const STRUCT: u64 = 40;
/// A call that makes a list, besides its elements.
pub(crate) const NEW_LIST: u64 = 11;
/// Going through a character or a byte.
pub(crate) const TRAVERSAL: f64 = 0.1;
/// Matching against a character of a pattern.
pub(crate) const PATTERN: f64 = 0.25;
