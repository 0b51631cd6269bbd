//! Match conditions: their evaluators, and the decision from their results (WM-70 to WM-83).

use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{GroupVersionKind, aggregate, message_error};
use serde_json::Value;

use super::attributes::AdmissionAttributes;
use super::configuration::{MatchCondition, Webhook};
use super::decision::{Decision, DecisionReason, Match};
use super::status::forbidden;

message_error! {
    /// An error that ends the evaluation of a webhook's conditions.
    pub struct ConditionsError;
}

/// Evaluates the conditions of webhooks, which are CEL expressions. New methods will have defaults.
pub trait MatchConditions {
    /// Evaluates all conditions of one webhook, in order, without stopping at a false one
    /// (WM-72). An error of the whole ends the evaluation at once, e.g. an exhausted budget
    /// (WM-82).
    fn evaluate(
        &self,
        conditions: &[MatchCondition],
        input: &ConditionInput<'_>,
    ) -> Result<Vec<ConditionResult>, ConditionsError>;

    /// Returns an evaluator for the conditions of all webhooks that one request meets, if they have
    /// bounds to share.
    fn for_request(&self) -> Option<Box<dyn MatchConditions + Send + Sync + '_>> {
        None
    }
}

/// The input of match conditions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConditionInput<'i> {
    /// The request.
    pub attributes: &'i AdmissionAttributes,
    /// The selection of the webhook's rules.
    pub matched: &'i Match,
    /// The new object in the matched kind.
    pub object: Option<&'i Value>,
    /// The old object in the matched kind.
    pub old_object: Option<&'i Value>,
    /// The parameters of a policy; none if it has none, so that `params` is not declared (PO-30).
    pub params: Option<&'i Value>,
}

/// The result of a match condition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConditionResult {
    /// It holds.
    True,
    /// It does not.
    False,
    /// It cannot be evaluated; the text of CEL.
    Error(String),
    /// It cannot be compiled; the text of the compiler.
    CompilationError(String),
    /// It cannot be known without a cluster; unless another condition is false, the decision is
    /// [`Decision::NotEvaluated`].
    Undecided,
}

impl<'i> ConditionInput<'i> {
    /// The input for a request whose own kind matched.
    pub fn new(attributes: &'i AdmissionAttributes, matched: &'i Match) -> Self {
        ConditionInput {
            attributes,
            matched,
            object: attributes.object.as_deref(),
            old_object: attributes.old_object.as_deref(),
            params: None,
        }
    }

    /// The input with parameters, which may be null.
    #[must_use]
    pub fn params(mut self, params: &'i Value) -> Self {
        self.params = Some(params);
        self
    }

    /// The input with the objects in the matched kind.
    #[must_use]
    pub fn converted(mut self, object: Option<&'i Value>, old_object: Option<&'i Value>) -> Self {
        (self.object, self.old_object) = (object, old_object);
        self
    }

    /// Takes the results of a webhook's conditions for a decision (WM-72, WM-80).
    pub(crate) fn decide(
        &self,
        webhook: &Webhook,
        results: Result<Vec<ConditionResult>, ConditionsError>,
    ) -> Decision {
        if let Ok(results) = &results
            && results.contains(&ConditionResult::Undecided)
            && !results.contains(&ConditionResult::False)
        {
            return Decision::NotEvaluated(self.matched.clone());
        }
        let errors = match results {
            Err(error) => vec![error.to_string()],
            Ok(results) => {
                if results.contains(&ConditionResult::False) {
                    return Decision::Skipped(DecisionReason::MatchConditionFalse);
                }
                let conditions = webhook.match_conditions.iter().zip(&results);
                conditions.filter_map(|(condition, result)| text(condition, result)).collect()
            }
        };
        if errors.is_empty() {
            return Decision::Called(self.matched.clone());
        }
        if webhook.ignores_failures() {
            return Decision::Skipped(DecisionReason::MatchConditionErrorIgnored);
        }
        let status = forbidden(self.attributes, &aggregate(&errors));
        Decision::Rejected(DecisionReason::MatchConditionError, status)
    }
}

/// Returns an object as one of the kind that matched (WM-77); none if it is one.
pub(super) fn renamed(object: &Value, kind: &GroupVersionKind) -> Option<DeepValue> {
    if !object.is_object() || is_of_kind(object, kind) {
        return None;
    }
    let mut object = DeepValue::from(deep_clone(object));
    for (name, text) in [("apiVersion", kind.api_version()), ("kind", kind.kind.clone())] {
        if let Value::Object(members) = &mut *object {
            members.insert(name.to_owned(), text.into());
        }
    }
    Some(object)
}

fn is_of_kind(object: &Value, kind: &GroupVersionKind) -> bool {
    let text = |name| object.get(name).and_then(Value::as_str);
    let version = text("apiVersion").and_then(|api_version| match kind.group.as_str() {
        "" => Some(api_version),
        group => api_version.strip_prefix(group)?.strip_prefix('/'),
    });
    version == Some(&*kind.version) && text("kind") == Some(&*kind.kind)
}

impl MatchCondition {
    /// Returns the text of the error if its result is one (WM-81).
    pub fn error_of(&self, result: &ConditionResult) -> Option<String> {
        text(self, result)
    }
}

/// The error of one condition (WM-81).
pub(crate) fn text(condition: &MatchCondition, result: &ConditionResult) -> Option<String> {
    match result {
        ConditionResult::True | ConditionResult::False | ConditionResult::Undecided => None,
        ConditionResult::Error(error) => {
            Some(format!("expression '{}' resulted in error: {error}", condition.expression))
        }
        ConditionResult::CompilationError(error) => Some(format!("compilation error: {error}")),
    }
}
