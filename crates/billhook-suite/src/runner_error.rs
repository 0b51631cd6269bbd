//! Definitions that cannot be used.

use billhook::{CrdError, DefinitionError};
use billhook_admission::PatchError;

/// A definition for which no case can be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// The document is not a definition.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// A server refuses the definition.
    #[error("a server refuses the definition: {0}")]
    Refused(String),
    /// The definition cannot be served.
    #[error(transparent)]
    Crd(#[from] CrdError),
    /// The definition does not have the version of the suite.
    #[error("the definition has no version `{0}`")]
    NoVersion(String),
    /// The definition has several versions, and the suite names none.
    #[error("the definition has {0} versions: the suite must name one of them")]
    Versions(usize),
    /// An object that policies see cannot be read.
    #[error("{0}")]
    Parameter(String),
    /// The definition cannot be patched as a case wants.
    #[error(transparent)]
    Patch(#[from] PatchError),
}
