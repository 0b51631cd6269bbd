//! Values that may be missing.

use std::sync::Arc;

use crate::language::value::{EvaluationError, FIRST_SECOND, Outcome, Value};

pub(super) fn of<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [value] => Ok(Value::Optional(Some(Arc::new(value.clone())))),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn of_non_zero<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [value] if is_zero(value) => Ok(Value::Optional(None)),
        _ => of(arguments),
    }
}

fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) | Value::Uint(0) | Value::Duration(0) => {
            true
        }
        Value::Double(double) => *double == 0.0,
        Value::Timestamp(time) => time.seconds == FIRST_SECOND && time.nanos == 0,
        Value::Optional(value) => value.is_none(),
        _ => value.size() == Some(0),
    }
}

pub(super) fn none<'a>(_: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Optional(None))
}

pub(super) fn has_value<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn value<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Optional(Some(value))] => Value::clone(value).read(),
        [Value::Optional(None)] => Err(EvaluationError::new("optional.none() dereference")),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn first<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    element(arguments, |_| Some(0))
}

pub(super) fn last<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    element(arguments, |length| length.checked_sub(1))
}

fn element<'a>(arguments: &[Value<'a>], index: fn(usize) -> Option<usize>) -> Outcome<'a> {
    let [Value::List(list)] = arguments else { return Err(EvaluationError::NoSuchOverload) };
    let value = index(list.len()).and_then(|index| list.get(index)).transpose()?;
    Ok(Value::Optional(value.map(Arc::new)))
}

/// The values that are there.
pub(super) fn unwrap<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = arguments else { return Err(EvaluationError::NoSuchOverload) };
    let mut values = Vec::new();
    for value in list.iter() {
        match value? {
            Value::Optional(Some(value)) => values.push(Value::clone(&value)),
            Value::Optional(None) => {}
            _ => return Err(EvaluationError::NoSuchOverload),
        }
    }
    Ok(Value::list(values))
}
