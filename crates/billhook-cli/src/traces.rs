//! Traces of expressions as JSON.

use billhook_cel::{ExpressionTrace, TracedOutcome, TracedTurn};
use serde_json::{Map, Value};

use crate::json::Fields;

/// Returns a part of an expression with its outcome and its parts.
pub(crate) fn to_value(trace: &ExpressionTrace) -> Value {
    let mut fields = Fields::default();
    fields.text("text", Some(trace.text.clone()));
    fields.number("start", Some(trace.span.start));
    fields.number("end", Some(trace.span.end));
    match &trace.outcome {
        TracedOutcome::Value { text, type_name } => {
            fields.text("value", Some(text.clone()));
            fields.text("type", Some(type_name.clone()));
        }
        TracedOutcome::Error(error) => fields.text("error", Some(error.clone())),
        _ => {}
    }
    let is_evaluated = trace.outcome != TracedOutcome::NotEvaluated;
    fields.value("evaluated", is_evaluated.into());
    if is_evaluated {
        fields.value("cost", trace.cost.into());
    }
    if !trace.parts.is_empty() {
        fields.value("parts", trace.parts.iter().map(to_value).collect());
    }
    if !trace.turns.is_empty() {
        fields.value("turns", trace.turns.iter().map(turn).collect());
        fields.number("turnsLeftOut", Some(trace.turns_left_out).filter(|it| *it > 0));
    }
    fields.into_value()
}

fn turn(turn: &TracedTurn) -> Value {
    let variable = |(name, value): &(String, String)| (name.clone(), Value::from(value.as_str()));
    let variables: Map<String, Value> = turn.variables.iter().map(variable).collect();
    let mut fields = Fields::default();
    fields.value("variables", Value::Object(variables));
    fields.value("parts", turn.parts.iter().map(to_value).collect());
    fields.into_value()
}
