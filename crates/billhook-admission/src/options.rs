//! The options of a request, and the time it has (DI-53).

use std::time::{Duration, Instant};

use crate::cancellation::Cancellation;

/// The options of a request: its deadline and the reports it asks for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestOptions {
    /// When the request must be over (DI-53).
    pub(crate) deadline: Option<Instant>,
    /// Whether the steps of the request are listed, with what each of them changed.
    pub(crate) trace: bool,
    /// Whether each mutating webhook and policy is run again on its own output, which costs time.
    pub(crate) check_idempotence: bool,
    /// Whether the outcome tells of each expression of a policy, which costs time.
    pub(crate) expressions: bool,
    /// Tells that the client has given up the request.
    pub(crate) cancellation: Cancellation,
}

impl RequestOptions {
    /// The options with a deadline.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The options of a request that can be cancelled.
    #[must_use]
    pub fn cancellation(mut self, cancellation: &Cancellation) -> Self {
        self.cancellation = cancellation.clone();
        self
    }

    /// The options with or without a check that mutating webhooks and policies are idempotent.
    #[must_use]
    pub fn check_idempotence(mut self, check: bool) -> Self {
        self.check_idempotence = check;
        self
    }

    /// The options with or without an account of the expressions of policies.
    #[must_use]
    pub fn expressions(mut self, expressions: bool) -> Self {
        self.expressions = expressions;
        self
    }

    /// The options with or without a trace.
    #[must_use]
    pub fn trace(mut self, trace: bool) -> Self {
        self.trace = trace;
        self
    }
}

/// The time a request has (DI-53): until when, and what time it is.
#[derive(Clone, Copy)]
pub(crate) struct Deadline<'d> {
    pub(crate) at: Option<Instant>,
    pub(crate) clock: &'d (dyn Fn() -> Instant + Send + Sync),
    pub(crate) cancellation: &'d Cancellation,
}

impl Deadline<'_> {
    pub(crate) fn now(&self) -> Instant {
        (self.clock)()
    }

    /// How long ago something began.
    pub(crate) fn since(&self, began: Instant) -> Duration {
        self.now().saturating_duration_since(began)
    }

    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(self.now()))
    }

    /// Whether the time is over.
    pub(crate) fn has_passed(&self) -> bool {
        self.at.is_some_and(|at| at <= self.now())
    }

    /// Whether the time is over, or the client gone.
    pub(crate) fn is_over(&self) -> bool {
        self.cancellation.is_cancelled() || self.has_passed()
    }
}
