//! Everything that a request leaves for others: warnings, audit annotations, steps and findings.

use std::fmt;
use std::time::{Duration, Instant};

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, Status};
use billhook_policy::EvaluatedExpression;

use super::difference::FieldDifference;
use super::step::{Action, Step};
use crate::audit::{AuditAnnotations, Warnings};

/// The outcome of a request, and everything it left on its way.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestOutcome<T> {
    /// The result of the request, or the status that the client gets.
    pub result: Result<T, Status>,
    /// The warnings for the client.
    pub warnings: Warnings,
    /// The annotations for the audit log.
    pub annotations: AuditAnnotations,
    /// The steps in the order they were taken, if a trace was asked for.
    pub steps: Vec<Step>,
    /// The errors of the object that is refused as invalid: the causes of the status, as data.
    pub field_errors: Vec<FieldError>,
    /// All errors of the validating webhooks, of which the client gets the first (DI-66).
    pub validating_errors: Vec<Status>,
    /// The mutating webhooks and policies that are not idempotent, if that was to be checked.
    pub findings: Vec<IdempotenceFinding>,
    /// The expressions of policies that were evaluated, if they were asked for.
    pub expressions: Vec<EvaluatedExpression>,
}

/// A mutating webhook or policy that changes its own output.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IdempotenceFinding {
    /// Which one.
    pub mutator: Mutator,
    /// The changes made by the second run.
    pub changes: Vec<FieldDifference>,
    /// Why the second run came to nothing, if it failed or was refused.
    pub error: Option<String>,
}

/// A part of the mutating stage that may change objects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mutator {
    /// A webhook.
    Webhook {
        /// The name of its configuration.
        configuration: String,
        /// Its name.
        hook: String,
    },
    /// A policy.
    Policy {
        /// Its name.
        policy: String,
        /// The name of the binding.
        binding: String,
        /// `<namespace>/<name>` of the parameter; empty if absent.
        parameter: String,
    },
}

impl fmt::Display for Mutator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mutator::Webhook { configuration, hook } => {
                write!(f, "webhook `{hook}` of `{configuration}`")
            }
            Mutator::Policy { policy, binding, .. } => {
                write!(f, "policy `{policy}` with binding `{binding}`")
            }
        }
    }
}

/// The log of a request that is under way.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    pub(crate) warnings: Warnings,
    pub(crate) annotations: AuditAnnotations,
    pub(crate) steps: Vec<Step>,
    pub(crate) field_errors: Vec<FieldError>,
    pub(crate) validating_errors: Vec<Status>,
    pub(crate) findings: Vec<IdempotenceFinding>,
    pub(crate) expressions: Vec<EvaluatedExpression>,
    /// Whether steps are wanted.
    pub(crate) is_tracing: bool,
}

impl RequestLog {
    /// Continues the annotations of earlier stages with those of the stage that is over (DI-04).
    pub(crate) fn continue_annotations(&mut self, earlier: AuditAnnotations) {
        let own = std::mem::replace(&mut self.annotations, earlier);
        self.annotations.merge(own);
    }

    /// Adds a finding, unless there is one about the same mutator from an earlier round.
    pub(crate) fn not_idempotent(&mut self, finding: IdempotenceFinding) {
        if self.findings.iter().all(|known| known.mutator != finding.mutator) {
            self.findings.push(finding);
        }
    }

    /// Returns when a step begins, if steps are wanted.
    pub(crate) fn begin(&self) -> Option<Instant> {
        self.is_tracing.then(Instant::now)
    }

    pub(crate) fn step(&mut self, action: Action, took: Duration) {
        self.step_with(action, took, None, None);
    }

    /// Adds a step that may have changed the object.
    pub(crate) fn step_with(
        &mut self,
        action: Action,
        took: Duration,
        before: Option<&DeepValue>,
        after: Option<&DeepValue>,
    ) {
        if !self.is_tracing {
            return;
        }
        self.steps.push(match before {
            Some(before) => Step::changing(action, took, before, after),
            None => Step { action, took, changes: Vec::new() },
        });
    }

    /// Ends the log with the result of the request.
    pub(crate) fn conclude<T>(self, result: Result<T, Status>) -> RequestOutcome<T> {
        RequestOutcome {
            result,
            warnings: self.warnings,
            annotations: self.annotations,
            steps: self.steps,
            field_errors: self.field_errors,
            validating_errors: self.validating_errors,
            findings: self.findings,
            expressions: self.expressions,
        }
    }
}
