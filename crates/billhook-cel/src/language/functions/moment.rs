//! Parts of points and lengths of time.

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

pub(super) fn full_year<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    part(arguments, |civil, _| civil.date.year)
}

pub(super) fn month<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    part(arguments, |civil, _| civil.date.month - 1)
}

pub(super) fn day_of_year<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    part(arguments, |civil, _| civil.day_of_year)
}

pub(super) fn day_of_month<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    part(arguments, |civil, _| civil.date.day - 1)
}

pub(super) fn date<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    part(arguments, |civil, _| civil.date.day)
}

pub(super) fn day_of_week<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    part(arguments, |civil, _| civil.weekday)
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

pub(super) fn hours<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    unit(arguments, 3_600_000_000_000, |civil, _| civil.hour)
}

pub(super) fn minutes<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    unit(arguments, 60_000_000_000, |civil, _| civil.minute)
}

pub(super) fn seconds<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    unit(arguments, 1_000_000_000, |civil, _| civil.second)
}

pub(super) fn milliseconds<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    unit(arguments, 1_000_000, |_, time| i64::from(time.nanos / 1_000_000))
}
