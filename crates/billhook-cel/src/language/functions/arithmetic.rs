//! Arithmetic and addition: overflow is an error.

use crate::language::schema::{ListType, SchemaType};
use crate::language::value::{
    EvaluationError, FIRST_SECOND, Joined, LAST_SECOND, List, Outcome, Timestamp, Value, unite,
};

const NANOS: i64 = 1_000_000_000;

fn fail<'a>(text: &str) -> Outcome<'a> {
    Err(EvaluationError::new(text))
}

fn int<'a>(result: Option<i64>) -> Outcome<'a> {
    result.map_or_else(|| fail("integer overflow"), |int| Ok(Value::Int(int)))
}

fn uint<'a>(result: Option<u64>) -> Outcome<'a> {
    result.map_or_else(|| fail("unsigned integer overflow"), |uint| Ok(Value::Uint(uint)))
}

/// Lengths are integers.
fn duration<'a>(result: Option<i64>) -> Outcome<'a> {
    result.map_or_else(|| fail("integer overflow"), |length| Ok(Value::Duration(length)))
}

/// A time and a length, which is less than 300 years.
fn later<'a>(time: Timestamp, length: i64) -> Outcome<'a> {
    let nanos = i64::from(time.nanos) + length.rem_euclid(NANOS);
    let seconds = time.seconds + length.div_euclid(NANOS) + nanos / NANOS;
    if !(FIRST_SECOND..=LAST_SECOND).contains(&seconds) {
        return fail("timestamp overflow");
    }
    let nanos = u32::try_from(nanos % NANOS).unwrap_or_default();
    Ok(Value::Timestamp(Timestamp { seconds, nanos, ..time }))
}

pub(crate) fn add<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Int(a), Value::Int(b)] => int(a.checked_add(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_add(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a + b)),
        [Value::String(a), Value::String(b)] => Ok(Value::text([a.as_str(), b.as_str()].concat())),
        [Value::Bytes(a), Value::Bytes(b)] => Ok(Value::Bytes([&**a, &**b].concat().into())),
        [Value::Duration(a), Value::Duration(b)] => duration(a.checked_add(*b)),
        [Value::Timestamp(time), Value::Duration(length)]
        | [Value::Duration(length), Value::Timestamp(time)] => later(*time, *length),
        [Value::List(a), Value::List(b)] => add_lists(a, b),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

/// Sets unite, maps by keys merge (CE-04), other lists are concatenated.
fn add_lists<'a>(left: &List<'a>, right: &List<'a>) -> Outcome<'a> {
    let Some(schema) = merging(left) else {
        return Joined::list(left.clone(), right.clone()).map(Value::List);
    };
    unite(left, right, schema)
}

/// Returns the schema of a list that others are merged into.
pub(super) fn merging<'a>(list: &List<'a>) -> Option<&'a SchemaType> {
    match list {
        List::Json(_, schema) | List::Merged(_, schema) => {
            Some(*schema).filter(|schema| schema.list_type != ListType::Atomic)
        }
        List::Values(_) | List::Joined(_) => None,
    }
}

pub(super) fn subtract<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Int(a), Value::Int(b)] => int(a.checked_sub(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_sub(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a - b)),
        [Value::Duration(a), Value::Duration(b)] => duration(a.checked_sub(*b)),
        [Value::Timestamp(time), Value::Duration(length)] => match length.checked_neg() {
            Some(length) => later(*time, length),
            None => fail("timestamp overflow"),
        },
        [Value::Timestamp(a), Value::Timestamp(b)] => {
            let seconds = (a.seconds - b.seconds).checked_mul(NANOS);
            duration(seconds.and_then(|s| s.checked_add(i64::from(a.nanos) - i64::from(b.nanos))))
        }
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn multiply<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Int(a), Value::Int(b)] => int(a.checked_mul(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_mul(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a * b)),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn divide<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            fail("division by zero")
        }
        [Value::Int(a), Value::Int(b)] => int(a.checked_div(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_div(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a / b)),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn remainder<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            fail("modulus by zero")
        }
        [Value::Int(a), Value::Int(b)] => int(a.checked_rem(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_rem(*b)),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn negate<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Int(a)] => int(a.checked_neg()),
        [Value::Double(a)] => Ok(Value::Double(-a)),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}
