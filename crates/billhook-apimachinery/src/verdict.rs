//! Whether a server accepts something.

use crate::FieldError;

/// What a validation comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A server accepts it.
    Valid,
    /// A server refuses it.
    Invalid,
}

impl Verdict {
    /// What a list of errors comes to.
    pub fn of(errors: &[FieldError]) -> Self {
        if errors.is_empty() { Verdict::Valid } else { Verdict::Invalid }
    }
}
