//! Reads schedules: five fields, or a name such as `@daily`.

use std::ops::RangeInclusive;

use super::{Fields, Schedule, Times};
use crate::time_zone;

/// A field of a schedule.
struct Field {
    range: RangeInclusive<i64>,
    /// Names of values, from the first one that has a name.
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { range: 0..=59, names: &[] },
    Field { range: 0..=23, names: &[] },
    Field { range: 1..=31, names: &[] },
    Field {
        range: 1..=12,
        names: &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    },
    Field { range: 0..=6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

/// The names of schedules, and the fields that they stand for.
const DESCRIPTORS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

pub(super) fn schedule(text: &str) -> Result<Schedule, String> {
    if !(text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
        return Ok(Schedule { zone: None, times: times(text)? });
    }
    let (zone, rest) = text.split_once(' ').unwrap_or((text, ""));
    let name = zone.split_once('=').map_or("", |(_, name)| name);
    if !time_zone::exists(name) {
        return Err(format!("provided bad location {name}: unknown time zone {name}"));
    }
    Ok(Schedule { zone: Some(name.to_owned()), times: times(rest.trim())? })
}

fn times(text: &str) -> Result<Times, String> {
    if let Some(period) = text.strip_prefix("@every ") {
        let nanoseconds = duration(period)
            .map_err(|error| format!("failed to parse duration {text}: {error}"))?;
        return Ok(Times::Every(i64::try_from(nanoseconds / SECOND).unwrap_or(i64::MAX).max(1)));
    }
    if text.starts_with('@') {
        let known = DESCRIPTORS.iter().find(|(name, _)| *name == text);
        let (_, text) = known.ok_or_else(|| format!("unrecognized descriptor: {text}"))?;
        return times(text);
    }
    let texts: Vec<&str> = text.split_whitespace().collect();
    let [minutes, hours, days, months, weekdays] = texts.as_slice() else {
        let (expected, found, fields) = (FIELDS.len(), texts.len(), texts.join(" "));
        return Err(format!("expected exactly {expected} fields, found {found}: [{fields}]"));
    };
    let [of_minute, of_hour, of_day, of_month, of_weekday] = &FIELDS;
    let ((minutes, _), (hours, _)) = (set(minutes, of_minute)?, set(hours, of_hour)?);
    let ((days, any_day), (months, _)) = (set(days, of_day)?, set(months, of_month)?);
    let (weekdays, any_weekday) = set(weekdays, of_weekday)?;
    let is_any = any_day || any_weekday;
    Ok(Times::Fields(Fields { minutes, hours, days, months, weekdays, is_any }))
}

/// Returns the values of a field as bits, and whether it is not restricted.
fn set(text: &str, field: &Field) -> Result<(u64, bool), String> {
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts.map(|part| range(part, field)).try_fold((0, false), |(bits, is_any), part| {
        let (more, is_every) = part?;
        Ok((bits | more, is_any || is_every))
    })
}

/// Returns the values of a range such as `*`, `5`, `1-5` or `0-30/2`, and whether they are all.
fn range(text: &str, field: &Field) -> Result<(u64, bool), String> {
    let (min, max) = (*field.range.start(), *field.range.end());
    let mut parts = text.split('/');
    let bounds: Vec<&str> = parts.next().unwrap_or_default().split('-').collect();
    let is_star = matches!(bounds.as_slice(), ["*" | "?", ..]);
    let (start, mut end) = match bounds.as_slice() {
        ["*" | "?", ..] => (min, max),
        [one] => (number(one, field)?, number(one, field)?),
        [low, high] => (number(low, field)?, number(high, field)?),
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let step = match (parts.next(), parts.next()) {
        (None, _) => 1,
        (Some(step), None) => {
            if bounds.len() == 1 {
                end = max;
            }
            not_negative(step)?
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if start < min {
        return Err(format!("beginning of range ({start}) below minimum ({min}): {text}"));
    }
    if end > max {
        return Err(format!("end of range ({end}) above maximum ({max}): {text}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    let values = (start..=end).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    Ok((values.fold(0, |bits, value| bits | 1 << value), is_star && step == 1))
}

/// Returns a number, or the one that a name stands for.
fn number(text: &str, field: &Field) -> Result<i64, String> {
    let lower = text.to_ascii_lowercase();
    let named = (*field.range.start()..).zip(field.names).find(|(_, name)| **name == lower);
    named.map_or_else(|| not_negative(text), |(number, _)| Ok(number))
}

fn not_negative(text: &str) -> Result<i64, String> {
    let error =
        |what| format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {what}");
    let number = text.parse::<i64>().map_err(|failed| match failed.kind() {
        std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
            error("value out of range")
        }
        _ => error("invalid syntax"),
    })?;
    if number < 0 {
        return Err(format!("negative number ({number}) not allowed: {text}"));
    }
    Ok(number)
}

/// The nanoseconds of a second.
const SECOND: u128 = 1_000_000_000;

/// Returns the nanoseconds of a duration such as `1h30m`; none of one that is negative.
fn duration(text: &str) -> Result<u128, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let is_negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut sum = 0_u128;
    while !rest.is_empty() {
        let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at(rest.find(|c| !is_of_number(c)).unwrap_or(rest.len()));
        if number.matches('.').count() > 1 || !number.contains(|c: char| c.is_ascii_digit()) {
            return Err(invalid());
        }
        let (unit, after) = after.split_at(after.find(is_of_number).unwrap_or(after.len()));
        let unit = match unit {
            "" => return Err(format!("time: missing unit in duration {text:?}")),
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3_600 * SECOND,
            _ => return Err(format!("time: unknown unit {unit:?} in duration {text:?}")),
        };
        sum = sum.saturating_add(scaled(number, unit));
        rest = after;
    }
    Ok(if is_negative { 0 } else { sum })
}

/// Returns a decimal number times a unit.
fn scaled(number: &str, unit: u128) -> u128 {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digit = |c: char| u128::from(c.to_digit(10).unwrap_or_default());
    let sum = whole.chars().fold(0_u128, |sum, c| sum.saturating_mul(10).saturating_add(digit(c)));
    let places = fraction.chars().scan(unit, |place, c| {
        *place /= 10;
        Some(digit(c).saturating_mul(*place))
    });
    places.fold(sum.saturating_mul(unit), u128::saturating_add)
}
