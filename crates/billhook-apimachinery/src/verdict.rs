//! Whether a server accepts something.

use crate::FieldError;

/// The outcome of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A server accepts it.
    Valid,
    /// A server refuses it.
    Invalid,
}

impl Verdict {
    /// Returns the verdict of a list of errors.
    pub fn of(errors: &[FieldError]) -> Self {
        if errors.is_empty() { Verdict::Valid } else { Verdict::Invalid }
    }
}
