//! Why a patch cannot be read or applied, as the server's library says it (DI-30).

/// A patch that cannot be read or applied. Prints as the server's library prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatchError {
    message: String,
    is_failed_test: bool,
}

impl PatchError {
    /// Returns whether an operation `test` found another value.
    pub fn is_failed_test(&self) -> bool {
        self.is_failed_test
    }

    pub(super) fn new(message: impl Into<String>) -> Self {
        PatchError { message: message.into(), is_failed_test: false }
    }

    pub(super) fn missing(text: &str) -> Self {
        PatchError::new(format!("{text}: missing value"))
    }

    pub(super) fn test_failed(path: &str) -> Self {
        let message = format!("testing value {path} failed: test failed");
        PatchError { message, is_failed_test: true }
    }

    pub(super) fn within(self, text: &str) -> Self {
        PatchError::new(format!("{text}: {}", self.message))
    }

    pub(super) fn too_deep() -> Self {
        PatchError::new("exceeded max depth")
    }
}
