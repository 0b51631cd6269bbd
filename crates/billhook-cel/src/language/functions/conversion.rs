//! Conversions between the types of CEL.

use billhook_apimachinery::print::plain_float;

use super::float;
use crate::language::value::{
    EvaluationError, FIRST_SECOND, LAST_SECOND, Outcome, Timestamp, Value, duration_text, rfc3339,
    timestamp_text,
};

fn unreadable(to: &str) -> EvaluationError {
    EvaluationError::new(format!("type conversion error from 'string' to '{to}'"))
}

fn overflow<T>(of: &str) -> Result<T, EvaluationError> {
    Err(EvaluationError::new(format!("{of} overflow")))
}

pub(super) fn to_bool<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Bool(value)] => Ok(Value::Bool(*value)),
        [Value::String(text)] => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(unreadable("bool")),
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
        [Value::String(text)] => float::parse(text.as_str()).ok_or_else(|| unreadable("double"))?,
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

pub(super) fn to_int<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Int(match arguments {
        [Value::Int(int)] | [Value::Duration(int)] => *int,
        [Value::Timestamp(time)] => time.seconds,
        [Value::Uint(uint)] => i64::try_from(*uint).or_else(|_| overflow("integer"))?,
        [Value::Double(double)] if *double > i64::MIN as f64 && *double < i64::MAX as f64 => {
            *double as i64
        }
        [Value::Double(_)] => overflow("integer")?,
        [Value::String(text)] => text.as_str().parse().map_err(|_| unreadable("int"))?,
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

pub(super) fn to_uint<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Uint(match arguments {
        [Value::Uint(uint)] => *uint,
        [Value::Int(int)] => u64::try_from(*int).or_else(|_| overflow("unsigned integer"))?,
        [Value::Double(double)] if *double >= 0.0 && *double < u64::MAX as f64 => *double as u64,
        [Value::Double(_)] => overflow("unsigned integer")?,
        [Value::String(text)] => match text.as_str().parse() {
            Ok(uint) if !text.as_str().starts_with('+') => uint,
            _ => return Err(unreadable("uint")),
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
        [Value::Bytes(bytes)] => {
            let invalid = "invalid UTF-8 in bytes, cannot convert to string";
            let text = std::str::from_utf8(bytes).map_err(|_| EvaluationError::new(invalid))?;
            text.to_owned()
        }
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
        [Value::String(text)] => billhook_validation::parse_go_duration(text.as_str())
            .ok_or_else(|| unreadable("google.protobuf.Duration"))?,
        _ => return Err(EvaluationError::NoSuchOverload),
    }))
}

pub(super) fn to_timestamp<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Timestamp(match arguments {
        [Value::Timestamp(time)] => *time,
        [Value::Int(seconds)] if (FIRST_SECOND..=LAST_SECOND).contains(seconds) => {
            Timestamp { seconds: *seconds, nanos: 0, offset: 0 }
        }
        [Value::Int(_)] => overflow("timestamp")?,
        [Value::String(text)] => {
            rfc3339(text.as_str()).ok_or_else(|| unreadable("google.protobuf.Timestamp"))?
        }
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
