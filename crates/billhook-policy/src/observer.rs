//! Watching the evaluation of policies (PO-95, PO-96).

use std::time::Duration;

use billhook::webhook::ConditionResult;

use crate::expression::EvaluatedExpression;

/// Watches the evaluation of policies, for metrics. New methods will have defaults.
pub trait PolicyObserver {
    /// Returns the time since a moment that stays the same.
    fn now(&self) -> Duration;

    /// An expression led to something: not called for validations that are true, and not for
    /// errors of configuration (PO-95).
    fn checked(&self, check: &PolicyCheck<'_>) {
        let _ = check;
    }

    /// The match conditions of a policy were evaluated (PO-96).
    fn conditions_evaluated(&self, end: &PolicyConditions<'_>) {
        let _ = end;
    }

    /// Returns whether it wants to know of each expression, which costs a second evaluation.
    fn wants_expressions(&self) -> bool {
        false
    }

    /// An expression was evaluated; called if it [wants to know](Self::wants_expressions).
    fn expression_evaluated(&self, expression: EvaluatedExpression) {
        let _ = expression;
    }
}

/// An expression of a policy that was evaluated.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PolicyCheck<'c> {
    /// The name of the policy.
    pub policy: &'c str,
    /// The name of the binding.
    pub binding: &'c str,
    /// The effect of the evaluation.
    pub effect: PolicyEffect,
    /// The message of the denial or the error; none if there is neither.
    pub message: Option<&'c str>,
    /// How long the evaluation took.
    pub took: Duration,
}

/// The effect of an expression of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyEffect {
    /// An error of a validating policy is ignored.
    Allow,
    /// The request is denied.
    Deny,
    /// The client is warned of a denial.
    Warn,
    /// A denial is written to the audit log.
    Audit,
    /// A mutation was applied, or failed.
    Mutate,
}

/// Match conditions of a policy that were evaluated.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PolicyConditions<'c> {
    /// The name of the policy.
    pub policy: &'c str,
    /// How long the evaluation took.
    pub took: Duration,
    /// The result of each of them, or the error that ended the evaluation.
    pub results: Result<&'c [ConditionResult], &'c str>,
}
