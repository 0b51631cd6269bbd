//! Errors of evaluations.

/// An expression without a value; the text is the one that the server prints before ` evaluating
/// rule: …` (CE-33).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// Anything but the following.
    #[error("{0}")]
    Other(Box<str>),
    /// No overload takes arguments of these types.
    #[error("no such overload")]
    NoSuchOverload,
    /// A function of one argument does not take values of this type; its name.
    #[error("no such overload: {0}")]
    NoSuchOverloadOf(&'static str),
    /// The server fails inside, which ends the evaluation (CE-04).
    #[error("{0}")]
    Internal(Box<str>),
    /// The limit of cost for one evaluation is exceeded (CE-35).
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimit,
    /// The values that the evaluation made take more than [`MAX_BYTES`](crate::limits::MAX_BYTES)
    /// together (CE-36).
    #[error("evaluation stopped: the values that it makes take more than 512 MiB of memory")]
    MemoryLimit,
    /// The functions of the evaluation looked at more values than
    /// [`MAX_STEPS`](crate::limits::MAX_STEPS) (CE-36).
    #[error("evaluation stopped: its functions look at more than 134217728 values")]
    WorkLimit,
}

impl EvaluationError {
    /// Returns whether the error ends the whole evaluation, whatever the expression makes of other
    /// errors.
    #[inline]
    pub(crate) fn ends_evaluation(&self) -> bool {
        self.is_limit() || matches!(self, Self::Internal(_))
    }

    /// Returns whether a limit of all evaluations is exceeded.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::CostLimit | Self::MemoryLimit | Self::WorkLimit)
    }

    /// Returns an error with a text.
    pub fn new(text: impl Into<String>) -> Self {
        EvaluationError::Other(text.into().into_boxed_str())
    }
}
