//! Errors of evaluations.

/// An expression without a value; the text is the one that the server prints before ` evaluating
/// rule: …` (CE-33).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// Anything but the following.
    #[error("{0}")]
    Other(String),
    /// No overload takes arguments of these types.
    #[error("no such overload")]
    NoSuchOverload,
    /// The limit of cost for one evaluation is exceeded (CE-35).
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimit,
}

impl EvaluationError {
    /// Returns an error with a text.
    pub fn new(text: impl Into<String>) -> Self {
        EvaluationError::Other(text.into())
    }
}
