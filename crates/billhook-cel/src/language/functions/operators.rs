//! Comparison, membership, elements and logic. The interpreter handles logic that does not evaluate
//! all of its operands, and selection of elements; this file handles plain calls of them.

use std::cmp::Ordering;

use super::declare::Call;
use crate::language::value::{EvaluationError, Outcome, Value, compare, equal};

pub(super) fn equals<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [left, right] => equal(left, right).map(Value::Bool),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

/// Values that cannot be compared differ.
pub(super) fn differs<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [left, right] => match equal(left, right) {
            Err(error @ EvaluationError::Internal(_)) => Err(error),
            same => Ok(Value::Bool(!same.unwrap_or_default())),
        },
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

fn ordered<'a>(arguments: &[Value<'a>], is: fn(Ordering) -> bool) -> Outcome<'a> {
    match arguments {
        [left, right] => compare(left, right).map(|ordering| Value::Bool(is(ordering))),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

/// The operators that ask for an order.
pub(super) const RELATIONS: [(&str, Call); 4] = [
    ("_<_", |arguments| ordered(arguments, Ordering::is_lt)),
    ("_<=_", |arguments| ordered(arguments, Ordering::is_le)),
    ("_>_", |arguments| ordered(arguments, Ordering::is_gt)),
    ("_>=_", |arguments| ordered(arguments, Ordering::is_ge)),
];

pub(super) fn is_in<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [value, Value::List(list)] => {
            let mut failure = None;
            for element in list.iter() {
                match element.and_then(|element| equal(&element, value)) {
                    Ok(true) => return Ok(Value::Bool(true)),
                    Ok(false) => {}
                    Err(error @ EvaluationError::Internal(_)) => return Err(error),
                    Err(error) => {
                        failure.get_or_insert(error);
                    }
                }
            }
            failure.map_or(Ok(Value::Bool(false)), Err)
        }
        [key, Value::Map(map)] => Ok(Value::Bool(map.get(key).transpose()?.is_some())),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn not<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Bool(value)] => Ok(Value::Bool(!value)),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn size<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    let size = match arguments {
        [value] => value.size(),
        _ => None,
    };
    let size = size.ok_or(EvaluationError::NoSuchOverload)?;
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

/// Returns the error of a call for whose arguments no overload exists. Functions of one argument that
/// ask for an ability of its type are named, unless the value answers to calls by name itself.
pub(crate) fn unmatched(function: &str, arguments: &[Value<'_>]) -> EvaluationError {
    let (name, has_calls) = match (function, arguments) {
        ("size", [value]) => ("size", matches!(value, Value::Duration(_) | Value::Timestamp(_))),
        ("-_", [value]) => ("-_", matches!(value, Value::String(_) | Value::Timestamp(_))),
        _ => return EvaluationError::NoSuchOverload,
    };
    match has_calls {
        true => EvaluationError::NoSuchOverload,
        false => EvaluationError::NoSuchOverloadOf(name),
    }
}

/// Operators that the interpreter evaluates itself are never called.
pub(super) fn not_called<'a>(_: &[Value<'a>]) -> Outcome<'a> {
    Err(EvaluationError::NoSuchOverload)
}
