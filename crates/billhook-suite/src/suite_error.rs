//! Texts that are not suites.

use billhook::{FieldPath, ManifestError, RecordError};

/// A text that is not a suite.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The text is neither YAML nor JSON.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The text holds no suite, or more than one.
    #[error("expected one suite, found {0} documents")]
    Count(usize),
    /// A field has the wrong type.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The suite does not name its definition.
    #[error("not a suite: neither `cases` nor `crdName` is at its top")]
    NoDefinition,
    /// A field of our own format cannot be used.
    #[error("{path}: {message}")]
    #[non_exhaustive]
    Field {
        /// The field.
        path: FieldPath,
        /// The reason.
        message: String,
        /// Line and column in the text, from 1.
        place: (usize, usize),
    },
}

impl SuiteError {
    /// Returns line and column in the text, from 1, where known.
    pub fn place(&self) -> Option<(usize, usize)> {
        match self {
            SuiteError::Manifest(error) => error.place(),
            SuiteError::Field { place, .. } => Some(*place),
            _ => None,
        }
    }
}
