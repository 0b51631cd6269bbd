//! The wording of errors, where it depends on the version of the server (KV-10 to KV-14).

use std::borrow::Cow;

/// The texts of errors that differ between versions of the server. What is compiled for a version
/// keeps its wording.
///
/// ```
/// use billhook_apimachinery::{KubernetesVersion, names};
/// let messages = |version: KubernetesVersion| {
///     names::label_value(&"x".repeat(64), version.wording()).join("")
/// };
/// assert_eq!(messages(KubernetesVersion::V1_34), "must be no more than 63 characters");
/// assert_eq!(messages(KubernetesVersion::V1_35), "must be no more than 63 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wording {
    /// The syntax of values other than strings, numbers and booleans (KV-10).
    pub values: ValueSyntax,
    /// Whether a limit of 1 comes with a noun in the singular (KV-11).
    pub has_singular: bool,
    /// Whether details repeat what the path of the error says already (KV-12, KV-13, KV-70).
    pub repeats_paths: bool,
    /// The unit of the lengths of label keys and label values (KV-14).
    pub label_unit: &'static str,
    /// The name of the syntax of label keys (KV-14).
    pub label_key: &'static str,
}

/// The syntax in which an error shows a value that is not a string, a number or a boolean (KV-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueSyntax {
    /// JSON.
    Json,
    /// Go.
    Go,
}

impl Wording {
    /// Returns the detail of an error about a field, which may begin with the name of the field
    /// (KV-12, KV-70).
    pub fn about<'d>(&self, field: &str, detail: &'d str) -> Cow<'d, str> {
        if self.repeats_paths { format!("{field} {detail}").into() } else { detail.into() }
    }

    /// Returns the detail of an error about a missing value, which may be left out (KV-13, KV-70).
    pub fn missing<'d>(&self, detail: &'d str) -> &'d str {
        if self.repeats_paths { detail } else { "" }
    }
}
