//! Finding the texts that a pattern matches (CE-10).

use billhook_regex::Pattern;

use super::cost;
use super::declare::{Cost, Overload, Result, int, text};
use crate::language::types::Type;
use crate::language::value::{EvaluationError, Value};

pub(super) fn library() -> Vec<Overload> {
    use Type::{Int, String};
    let cost = Cost::Of(cost::pattern);
    vec![
        Overload::method("find", vec![String, String], String, |arguments| {
            let found = pattern(arguments)?.find_iter(text(arguments, 0)?).next();
            Ok(Value::text(found.unwrap_or_default()))
        })
        .costs(cost),
        Overload::method("findAll", vec![String, String], String.list(), |arguments| {
            find_all(arguments, usize::MAX)
        })
        .costs(cost),
        Overload::method("findAll", vec![String, String, Int], String.list(), |arguments| {
            // Negative numbers set no limit.
            find_all(arguments, usize::try_from(int(arguments, 2)?).unwrap_or(usize::MAX))
        })
        .costs(cost),
    ]
}

fn pattern(arguments: &[Value<'_>]) -> Result<Pattern> {
    Pattern::new(text(arguments, 1)?)
        .map_err(|error| EvaluationError::new(format!("Illegal regex: {error}")))
}

fn find_all<'a>(arguments: &[Value<'a>], limit: usize) -> Result<Value<'a>> {
    let pattern = pattern(arguments)?;
    let found = pattern.find_iter(text(arguments, 0)?).take(limit);
    Ok(Value::list(found.map(Value::text).collect()))
}
