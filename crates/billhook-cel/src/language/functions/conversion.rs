//! Conversions between the types of CEL.

use billhook_apimachinery::print::plain_float;

use super::float;
use crate::language::value::{
    EvaluationError, FIRST_SECOND, LAST_SECOND, Outcome, Timestamp, Value, duration_text, rfc3339,
    timestamp_text,
};

fn unreadable<'a>(to: &str) -> Outcome<'a> {
    Err(EvaluationError::new(format!("type conversion error from 'string' to '{to}'")))
}

fn fail<'a>(text: &str) -> Outcome<'a> {
    Err(EvaluationError::new(text))
}

pub(super) fn to_bool<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Bool(value)] => Ok(Value::Bool(*value)),
        [Value::String(text)] => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => unreadable("bool"),
        },
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn to_bytes<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Bytes(bytes)] => Ok(Value::Bytes(bytes.clone())),
        [Value::String(text)] => Ok(Value::Bytes(text.as_str().as_bytes().into())),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

pub(super) fn to_double<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Double(match arguments {
        [Value::Double(double)] => *double,
        [Value::Int(int)] => *int as f64,
        [Value::Uint(uint)] => *uint as f64,
        [Value::String(text)] => match float::parse(text.as_str()) {
            Some(double) => double,
            None => return unreadable("double"),
        },
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

pub(super) fn to_int<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Int(match arguments {
        [Value::Int(int)] | [Value::Duration(int)] => *int,
        [Value::Timestamp(time)] => time.seconds,
        [Value::Uint(uint)] => match i64::try_from(*uint) {
            Ok(int) => int,
            Err(_) => return fail("integer overflow"),
        },
        [Value::Double(double)] => {
            let is_inside = *double > i64::MIN as f64 && *double < i64::MAX as f64;
            if !is_inside {
                return fail("integer overflow");
            }
            *double as i64
        }
        [Value::String(text)] => match text.as_str().parse() {
            Ok(int) => int,
            Err(_) => return unreadable("int"),
        },
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

pub(super) fn to_uint<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Uint(match arguments {
        [Value::Uint(uint)] => *uint,
        [Value::Int(int)] => match u64::try_from(*int) {
            Ok(uint) => uint,
            Err(_) => return fail("unsigned integer overflow"),
        },
        [Value::Double(double)] => {
            let is_inside = *double >= 0.0 && *double < u64::MAX as f64;
            if !is_inside {
                return fail("unsigned integer overflow");
            }
            *double as u64
        }
        [Value::String(text)] => match text.as_str().parse() {
            Ok(uint) if !text.as_str().starts_with('+') => uint,
            _ => return unreadable("uint"),
        },
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

pub(super) fn to_string<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::text(match arguments {
        [text @ Value::String(_)] => return Ok(text.clone()),
        [Value::Bool(value)] => value.to_string(),
        [Value::Int(int)] => int.to_string(),
        [Value::Uint(uint)] => uint.to_string(),
        [Value::Double(double)] => double_text(*double),
        [Value::Duration(duration)] => duration_text(*duration),
        [Value::Timestamp(time)] => timestamp_text(*time),
        [Value::Bytes(bytes)] => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return fail("invalid UTF-8 in bytes, cannot convert to string"),
        },
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

/// Shortest digits, an exponent where the server prints one.
pub(crate) fn double_text(double: f64) -> String {
    if double.is_infinite() {
        return if double > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    plain_float(double)
}

pub(super) fn to_duration<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Duration(match arguments {
        [Value::Duration(duration)] | [Value::Int(duration)] => *duration,
        [Value::String(text)] => match billhook_validation::parse_go_duration(text.as_str()) {
            Some(duration) => duration,
            None => return unreadable("google.protobuf.Duration"),
        },
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

pub(super) fn to_timestamp<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Timestamp(match arguments {
        [Value::Timestamp(time)] => *time,
        [Value::Int(seconds)] => {
            if !(FIRST_SECOND..=LAST_SECOND).contains(seconds) {
                return fail("timestamp overflow");
            }
            Timestamp { seconds: *seconds, nanos: 0, offset: 0 }
        }
        [Value::String(text)] => match rfc3339(text.as_str()) {
            Some(time) => time,
            None => return unreadable("google.protobuf.Timestamp"),
        },
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

pub(super) fn to_dyn<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    arguments.first().cloned().ok_or(EvaluationError::NoSuchOverload)
}

pub(super) fn type_of<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    let value = arguments.first().ok_or(EvaluationError::NoSuchOverload)?;
    Ok(Value::Type(value.type_name()))
}
