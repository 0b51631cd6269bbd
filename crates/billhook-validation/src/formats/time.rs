//! Dates, times and durations (VV-71).

use billhook_apimachinery::calendar::Date;

/// `YYYY-MM-DD`, a day of the calendar.
pub(super) fn is_date(text: &str) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return false };
    match (number([y1, y2, y3, y4]), number([m1, m2]), number([d1, d2])) {
        (Some(year), Some(month), Some(day)) => {
            Date { year: year.into(), month: month.into(), day: day.into() }.exists()
        }
        _ => false,
    }
}

/// The number that digits make.
fn number<const N: usize>(digits: [u8; N]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0'))
    })
}

/// A date, `t` in either case, a time with a zone; after another `t` there may be anything.
pub(super) fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    let Some(rest) = rest.strip_prefix(['t', 'T']) else { return false };
    let end = rest.bytes().position(|byte| matches!(byte, b't' | b'T'));
    is_date(date) && rest.get(..end.unwrap_or(rest.len())).is_some_and(is_time)
}

/// `hh:mm:ss`, any character and digits as a fraction, then `z` or an offset of any size.
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    is_clock(clock) && (is_zone(rest) || is_fraction_and_zone(rest))
}

fn is_clock(text: &str) -> bool {
    let &[h1, h2, b':', m1, m2, b':', s1, s2] = text.as_bytes() else { return false };
    let is_below = |digits, end| number(digits).is_some_and(|number| number < end);
    is_below([h1, h2], 24) && is_below([m1, m2], 60) && is_below([s1, s2], 60)
}

/// Whether a text has digits where the shape has `#` and the same bytes elsewhere.
fn is_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, expected)| match expected {
            b'#' => byte.is_ascii_digit(),
            _ => byte == expected,
        })
}

fn is_fraction_and_zone(text: &str) -> bool {
    let mut characters = text.chars();
    if characters.next().is_none_or(|separator| separator == '\n') {
        return false;
    }
    let digits = characters.as_str();
    let zone = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    zone.len() < digits.len() && is_zone(zone)
}

fn is_zone(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'z' | b'Z') => text.len() == 1,
        Some(b'+' | b'-') => text.get(1..).is_some_and(|offset| is_shape(offset, "##:##")),
        _ => false,
    }
}

/// Returns the nanoseconds of one of Go's durations, or of any text with at least one number that a
/// known unit follows.
pub fn parse_duration(text: &str) -> Option<i64> {
    parse_go_duration(text).or_else(|| sum_of_known_units(text))
}

/// The units of Go's durations in nanoseconds.
const GO_UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// One more than the greatest duration in nanoseconds.
const GO_LIMIT: u128 = 1 << 63;

/// Returns the nanoseconds of one of Go's durations: `1h30m`, `-1.5s`.
pub fn parse_go_duration(text: &str) -> Option<i64> {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0_u128;
    while let Some((nanoseconds, behind)) = go_group(rest) {
        total += nanoseconds;
        if total > GO_LIMIT {
            return None;
        }
        if behind.is_empty() {
            let total = i128::try_from(total).ok()?;
            return i64::try_from(if text.starts_with('-') { -total } else { total }).ok();
        }
        rest = behind;
    }
    None
}

/// A number with or without a fraction, and a unit: its length without the fraction, which adds
/// less than one unit, and the rest of the text.
fn go_group(text: &str) -> Option<(u128, &str)> {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (whole, rest) = text.split_at_checked(digits(text))?;
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at_checked(digits(rest))?,
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (name, rest) = rest.split_at_checked(end)?;
    let (_, unit) = GO_UNITS.iter().find(|(known, _)| *known == name)?;
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let shown = fraction.get(..18).unwrap_or(fraction);
    let part = if shown.is_empty() { 0 } else { shown.parse::<u128>().ok()? };
    let part = part * unit / 10_u128.pow(shown.len() as u32);
    Some((whole.checked_mul(*unit)?.checked_add(part)?, rest))
}

/// Names of units, the last of each row is also the beginning of longer names, and nanoseconds.
const UNITS: [(&[&str], i64); 8] = [
    (&["ns", "nano"], 1),
    (&["us", "µs", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], 1_000_000_000),
    (&["m", "min"], 60_000_000_000),
    (&["h", "hr", "hour"], 3_600_000_000_000),
    (&["d", "day"], 86_400_000_000_000),
    (&["w", "wk", "week"], 604_800_000_000_000),
];

/// Looks for `digits [spaces] letters` groups. Groups without a known unit don't matter, a number
/// that does not fit 64 bits does.
fn sum_of_known_units(text: &str) -> Option<i64> {
    let is_digit = |c: char| c.is_ascii_digit();
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r');
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == 'µ';
    let (mut sum, mut rest) = (None, text);
    while let Some(start) = rest.find(is_digit) {
        let digits = rest.get(start..).unwrap_or_default();
        let behind = digits.trim_start_matches(is_digit);
        let name = behind.trim_start_matches(is_space);
        let after = name.trim_start_matches(is_letter);
        rest = if name.len() == after.len() { behind } else { after };
        if name.len() == after.len() {
            continue;
        }
        let number = digits.strip_suffix(behind).unwrap_or_default();
        let number = number.parse::<i64>().ok()?;
        let unit = name.strip_suffix(after).unwrap_or_default().to_ascii_lowercase();
        for nanoseconds in units(&unit) {
            sum = Some(sum.unwrap_or(0_i64).wrapping_add(number.wrapping_mul(nanoseconds)));
        }
    }
    sum
}

/// The nanoseconds of the units that have a name.
fn units(name: &str) -> impl Iterator<Item = i64> {
    UNITS.iter().filter_map(move |(names, nanoseconds)| {
        let is_named =
            names.contains(&name) || names.last().is_some_and(|last| name.starts_with(last));
        is_named.then_some(*nanoseconds)
    })
}
