//! Evaluating expressions that need no object, and showing what they give.

use billhook_cel::{Environment, List, Map, Value};

use crate::traces::check_trace;

/// The limit of cost for one evaluation (CE-35).
const LIMIT: u64 = 1_000_000;

/// Returns the result of an expression, or its error.
pub(crate) fn evaluate(expression: &str) -> String {
    evaluate_in(&Environment::default(), &[], expression)
}

/// Returns the result of an expression with variables.
pub(crate) fn evaluate_in(
    environment: &Environment,
    variables: &[(&str, Value<'_>)],
    expression: &str,
) -> String {
    match environment.compile(expression) {
        Ok(program) => {
            let evaluation = program.evaluate(variables, LIMIT);
            check_trace(expression, &program, variables, LIMIT, &evaluation);
            match evaluation.result {
                Ok(value) => show(&value),
                Err(error) => format!("error: {error}"),
            }
        }
        Err(error) => format!("does not compile: {error}"),
    }
}

/// Returns the cost of an expression.
pub(crate) fn cost(expression: &str) -> u64 {
    let program = Environment::default().compile(expression);
    let program = program.unwrap_or_else(|error| panic!("{expression}: {error}"));
    program.evaluate(&[], LIMIT).cost
}

/// Checks what each expression gives.
#[track_caller]
pub(crate) fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(expression, expected)| {
            let actual = evaluate(expression);
            (actual != *expected).then(|| format!("{expression}\n  - {expected}\n  + {actual}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A value as one would write it.
pub(crate) fn show(value: &Value<'_>) -> String {
    let show_part = |part: Result<Value<'_>, _>| part.map_or_else(|_| "?".to_owned(), |v| show(&v));
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Uint(uint) => format!("{uint}u"),
        Value::Double(double) => format!("{double:?}"),
        Value::String(text) => text.as_str().to_owned(),
        Value::List(list) => {
            let parts: Vec<String> = List::iter(list).map(show_part).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Map(map) => {
            let parts: Vec<String> = Map::entries(map)
                .into_iter()
                .map(|(key, value)| format!("{}: {}", show(&key), show_part(value)))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        Value::Optional(Some(value)) => format!("some {}", show(value)),
        Value::Optional(None) => "none".to_owned(),
        other => format!("{other:?}"),
    }
}
