//! Matching patterns, and finding the texts that they match (CE-10). Patterns are compiled once for
//! many calls, which the interpreter does; so it is [`call`] that it uses.

use billhook_regex::{Error, Pattern};

use super::declare::{Cost, Overload, Result};
use super::{cost, operators};
use crate::language::meter::Meter;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, Value};

pub(super) fn library() -> Vec<Overload> {
    use Type::{Int, String};
    let cost = Cost::Of(cost::pattern);
    let method = |name, parameters, result| {
        Overload::method(name, parameters, result, operators::not_called).costs(cost)
    };
    vec![
        method("find", vec![String, String], String),
        method("findAll", vec![String, String], String.list()),
        method("findAll", vec![String, String, Int], String.list()),
    ]
}

/// Calls one of the functions that match a text with a pattern.
pub(crate) fn call<'a>(
    function: &str,
    pattern: std::result::Result<Pattern, Error>,
    arguments: &[Value<'a>],
    meter: &mut Meter,
) -> Result<Value<'a>> {
    let (text, limit) = match arguments {
        [Value::String(text), Value::String(_)] => (text.as_str(), -1),
        [Value::String(text), Value::String(_), Value::Int(limit)] => (text.as_str(), *limit),
        _ => return Err(EvaluationError::NoSuchOverload),
    };
    let pattern = pattern.map_err(|error| match function {
        "matches" => EvaluationError::new(error.to_string()),
        _ => EvaluationError::new(format!("Illegal regex: {error}")),
    })?;
    // Negative numbers set no limit.
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    meter.matching(|steps| match function {
        "matches" => pattern.is_match_within(text, steps).map(Value::Bool),
        "find" => {
            let found = pattern.find_within(text, 1, steps)?;
            Ok(Value::text(found.first().copied().unwrap_or_default()))
        }
        _ => {
            let found = pattern.find_within(text, limit, steps)?;
            Ok(Value::list(found.into_iter().map(Value::text).collect()))
        }
    })
}
