//! The fate of a policy for a request.

use std::fmt;

use crate::params::Params;
use crate::set::{Binding, Head};

/// The fate of one expression of a policy, or of the whole policy, for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyRecord {
    /// The name of the policy.
    pub policy: String,
    /// The name of the binding; empty for an error of the policy itself.
    pub binding: String,
    /// `<namespace>/<name>` of the parameter; empty if absent.
    pub parameter: String,
    /// The position of the validation or mutation; none for what is about the whole policy.
    pub index: Option<usize>,
    /// Its fate.
    pub verdict: PolicyVerdict,
}

/// The fate of a validation or a mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyVerdict {
    /// The match conditions do not hold (PO-42).
    ConditionsNotMet,
    /// The validation is true.
    Admitted,
    /// The validation is false, or failed with a policy that fails closed.
    Denied {
        /// The message.
        message: String,
        /// The reason as it was written; empty for `Invalid`.
        reason: String,
        /// Whether it could not be evaluated.
        is_error: bool,
    },
    /// An error that is ignored.
    ErrorIgnored(String),
    /// The mutation was applied.
    Mutated {
        /// Whether the object differs from before.
        changed: bool,
    },
    /// The mutating policy need not run again (PO-80).
    NotReinvoked,
}

impl PolicyRecord {
    /// The fate of a policy for a binding and a parameter.
    pub(crate) fn new(
        policy: &Head,
        binding: &Binding,
        params: &Params,
        index: Option<usize>,
        verdict: PolicyVerdict,
    ) -> Self {
        let (policy, binding) = (policy.name.clone(), binding.name.clone());
        PolicyRecord { policy, binding, parameter: params.key(), index, verdict }
    }
}

impl PolicyVerdict {
    /// A failure to evaluate, with a policy that fails closed.
    pub(crate) fn failed(message: String) -> Self {
        PolicyVerdict::Denied { message, reason: String::new(), is_error: true }
    }

    /// Returns the message of a denial, or of an error that is ignored.
    pub(crate) fn error(&self) -> Option<&str> {
        match self {
            PolicyVerdict::Denied { message, .. } => Some(message),
            PolicyVerdict::ErrorIgnored(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for PolicyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyVerdict::ConditionsNotMet => f.write_str("match conditions do not hold"),
            PolicyVerdict::Admitted => f.write_str("met"),
            PolicyVerdict::Denied { message, is_error: false, .. } => {
                write!(f, "not met: {message}")
            }
            PolicyVerdict::Denied { message, .. } => write!(f, "error: {message}"),
            PolicyVerdict::ErrorIgnored(error) => write!(f, "error ignored: {error}"),
            PolicyVerdict::Mutated { changed: true } => f.write_str("changed the object"),
            PolicyVerdict::Mutated { changed: false } => f.write_str("changed nothing"),
            PolicyVerdict::NotReinvoked => f.write_str("not run again"),
        }
    }
}
