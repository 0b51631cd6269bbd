//! A piece of advice.

use std::fmt;

use crate::document::PolicyKind;

/// A piece of advice about a policy or a binding; prints as its message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyLint {
    /// The code, which is stable: `binding-without-policy`.
    pub code: &'static str,
    /// The kind of the document.
    pub kind: PolicyKind,
    /// The name of the document.
    pub name: String,
    /// The path of the field.
    pub path: String,
    /// The message.
    pub message: String,
}

impl fmt::Display for PolicyLint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
