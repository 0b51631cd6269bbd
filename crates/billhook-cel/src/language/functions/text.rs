//! Methods of text that every CEL has.

use crate::language::value::{EvaluationError, Outcome, Value};

fn two<'v>(arguments: &'v [Value<'_>]) -> Result<(&'v str, &'v str), EvaluationError> {
    match arguments {
        [Value::String(text), Value::String(other)] => Ok((text.as_str(), other.as_str())),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn contains<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    two(arguments).map(|(text, part)| Value::Bool(text.contains(part)))
}

pub(super) fn starts_with<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    two(arguments).map(|(text, part)| Value::Bool(text.starts_with(part)))
}

pub(super) fn ends_with<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    two(arguments).map(|(text, part)| Value::Bool(text.ends_with(part)))
}
