//! Failures of cases.

use std::fmt;

use billhook::{DeepValue, Status};
use similar::TextDiff;

use crate::object_case::ExpectedError;

/// The part of a case that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseStage {
    /// The creation of `initial`.
    Create,
    /// The update to `updated`.
    Update,
    /// The update of the status.
    UpdateStatus,
}

impl fmt::Display for CaseStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CaseStage::Create => "create",
            CaseStage::Update => "update",
            CaseStage::UpdateStatus => "status update",
        })
    }
}

/// A case that fails, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The case itself cannot be used, for example if its object is not YAML.
    #[error("the case cannot be run: {0}")]
    Unusable(String),
    /// No definition serves the kind and the version of the object.
    #[error("the case cannot be run: {text}")]
    NotServed {
        /// The field of the object: `kind` or `apiVersion`.
        field: &'static str,
        /// The reason.
        text: String,
        /// The value that may have been meant.
        meant: Option<String>,
    },
    /// A request is refused that should be accepted.
    #[error("{stage}: refused: {actual}")]
    Refused {
        /// The request.
        stage: CaseStage,
        /// The server's answer.
        actual: Box<Status>,
    },
    /// A request is accepted that should be refused.
    #[error("{stage}: accepted, but expected an error with `{expected}`")]
    Accepted {
        /// The request.
        stage: CaseStage,
        /// The part of the error that is expected.
        expected: String,
    },
    /// A request is refused as expected, but with another text.
    #[error("{stage}: expected an error with `{expected}`, got: {actual}")]
    Text {
        /// The request.
        stage: CaseStage,
        /// The part of the error that is expected.
        expected: String,
        /// The server's text.
        actual: String,
    },
    /// A request is accepted that should be refused.
    #[error("{stage}: accepted, but expected {expected}")]
    NoError {
        /// The request.
        stage: CaseStage,
        /// The error that is expected.
        expected: ExpectedError,
    },
    /// A request is refused as expected, but with another error.
    #[error("{stage}: expected {expected}, got: {actual}")]
    OtherError {
        /// The request.
        stage: CaseStage,
        /// The error that is expected.
        expected: ExpectedError,
        /// The server's answer.
        actual: Box<Status>,
    },
    /// Something else happens to the object, or is said of it.
    #[error("{part}: expected {}, got {}", billhook::to_json(expected), billhook::to_json(actual))]
    Part {
        /// The part of the expectation: `warnings`, `pruned`, `defaulted`, `webhooks` or
        /// `auditAnnotations`.
        part: &'static str,
        /// All that is expected.
        expected: DeepValue,
        /// All that was found.
        actual: DeepValue,
    },
    /// Another object is stored.
    #[error("another object is stored than expected")]
    Object {
        /// The object that is expected, as it is compared.
        expected: DeepValue,
        /// The object that is stored, as it is compared.
        actual: DeepValue,
    },
}

impl Failure {
    /// The rule of all failures.
    pub const RULE: &str = "failed-case";

    /// Returns whether the case could not be run at all.
    pub fn is_unusable(&self) -> bool {
        matches!(self, Failure::Unusable(_) | Failure::NotServed { .. })
    }

    /// Returns whether the decision is as expected and only the text of the error is not.
    pub fn is_only_text(&self) -> bool {
        matches!(self, Failure::Text { .. })
    }

    /// Returns the lines in which the stored object differs from the expected one, if that is what
    /// fails.
    pub fn difference(&self) -> Option<String> {
        let Failure::Object { expected, actual } = self else { return None };
        let (expected, actual) = (billhook::to_yaml(expected), billhook::to_yaml(actual));
        let diff = TextDiff::from_lines(&expected, &actual);
        Some(diff.unified_diff().header("expected", "stored").to_string())
    }
}
