//! Parts of points and lengths of time.

use super::declare::Call;
use crate::language::value::{Civil, EvaluationError, Outcome, Timestamp, Value, offset_of};

/// A part of a time in UTC or in the zone of the second argument.
fn part<'a>(arguments: &[Value<'a>], of: fn(Civil, Timestamp) -> i64) -> Outcome<'a> {
    let (time, offset) = match arguments {
        [Value::Timestamp(time)] => (*time, 0),
        [Value::Timestamp(time), Value::String(zone)] => (*time, offset_of(zone.as_str(), *time)?),
        _ => return Err(EvaluationError::NoSuchOverload),
    };
    Ok(Value::Int(of(Civil::of(time.seconds + i64::from(offset)), time)))
}

/// A length in whole units, or a part of a time.
fn unit<'a>(
    arguments: &[Value<'a>],
    nanoseconds: i64,
    of: fn(Civil, Timestamp) -> i64,
) -> Outcome<'a> {
    match arguments {
        [Value::Duration(duration)] => Ok(Value::Int(duration / nanoseconds)),
        _ => part(arguments, of),
    }
}

/// The parts of a time; from hours on they are also those of a length.
pub(super) const PARTS: [(&str, Call); 10] = [
    ("getFullYear", |arguments| part(arguments, |civil, _| civil.date.year)),
    ("getMonth", |arguments| part(arguments, |civil, _| civil.date.month - 1)),
    ("getDayOfYear", |arguments| part(arguments, |civil, _| civil.day_of_year)),
    ("getDayOfMonth", |arguments| part(arguments, |civil, _| civil.date.day - 1)),
    ("getDate", |arguments| part(arguments, |civil, _| civil.date.day)),
    ("getDayOfWeek", |arguments| part(arguments, |civil, _| civil.weekday)),
    ("getHours", |arguments| unit(arguments, 3_600_000_000_000, |civil, _| civil.hour)),
    ("getMinutes", |arguments| unit(arguments, 60_000_000_000, |civil, _| civil.minute)),
    ("getSeconds", |arguments| unit(arguments, 1_000_000_000, |civil, _| civil.second)),
    ("getMilliseconds", |arguments| {
        unit(arguments, 1_000_000, |_, time| i64::from(time.nanos / 1_000_000))
    }),
];
