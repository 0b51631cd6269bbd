//! The expressions of policies that a request evaluated, for reports of coverage.

use billhook::FieldPath;
use billhook_cel::{Branch, EvaluationError, Value};

use crate::document::PolicyKind;

/// An expression of a policy that was evaluated for a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EvaluatedExpression {
    /// The kind of the policy.
    pub kind: PolicyKind,
    /// The name of the policy.
    pub policy: String,
    /// The expression, in the policy.
    pub path: FieldPath,
    /// The outcome.
    pub outcome: ExpressionOutcome,
    /// How often its branches were true and false.
    pub branches: Vec<Branch>,
}

/// The outcome of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpressionOutcome {
    /// True.
    True,
    /// False.
    False,
    /// A value of another type.
    Value,
    /// An error.
    Error,
}

impl From<Result<&Value<'_>, &EvaluationError>> for ExpressionOutcome {
    fn from(result: Result<&Value<'_>, &EvaluationError>) -> Self {
        match result {
            Ok(Value::Bool(true)) => ExpressionOutcome::True,
            Ok(Value::Bool(false)) => ExpressionOutcome::False,
            Ok(_) => ExpressionOutcome::Value,
            Err(_) => ExpressionOutcome::Error,
        }
    }
}

/// Returns the path of an expression: a list of the spec, a position, and a field.
pub(crate) fn expression_path(list: &str, index: usize, field: &str) -> FieldPath {
    let path = FieldPath::default().name("spec").name(list).index(index);
    field.split('.').fold(path, |path, field| path.name(field))
}
