//! Points and lengths of time: texts, calendar, zones.

use std::cmp::Ordering;
use std::fmt::Write as _;

/// The first second of the year 1.
pub(crate) const FIRST_SECOND: i64 = -62_135_596_800;
/// The last second of the year 9999.
pub(crate) const LAST_SECOND: i64 = 253_402_300_799;

const DAY: i64 = 86_400;

/// Seconds since 1970, between the years 1 and 9999, and nanoseconds. Two are equal if they are
/// the same moment, whatever their offsets.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Seconds since 1970.
    pub seconds: i64,
    /// The nanoseconds of the second.
    pub nanos: u32,
    /// The offset from UTC in seconds in which it is written.
    pub offset: i32,
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

/// A time in parts, with the zone that it is looked at from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From one.
    pub(crate) month: i64,
    /// From one.
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    /// From Sunday, which is zero.
    pub(crate) weekday: i64,
    /// From zero.
    pub(crate) day_of_year: i64,
}

impl Civil {
    /// Seconds since 1970, of a clock that is set to local time.
    pub(crate) fn of(seconds: i64) -> Civil {
        let days = seconds.div_euclid(DAY);
        let rest = seconds.rem_euclid(DAY);
        // Years begin in March, so that the day that may be missing is the last one, and are
        // counted in eras of 400.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_march_year =
            day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_march_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Civil {
            year,
            month,
            day: day_of_march_year - (153 * shifted_month + 2) / 5 + 1,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - days_to(year, 1, 1),
        }
    }
}

/// The number of days from 1970 to a day of the calendar.
pub(crate) fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

pub(crate) fn days_in(month: i64, year: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Reads text from the left.
struct Reader<'t>(&'t str);

impl<'t> Reader<'t> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        self.0 = rest;
        if is_number { digits.parse().ok() } else { None }
    }

    fn literal(&mut self, c: char) -> Option<()> {
        self.0 = self.0.strip_prefix(c)?;
        Some(())
    }

    fn date(&mut self) -> Option<i64> {
        let year = self.digits(4)?;
        self.literal('-')?;
        let month = self.digits(2)?;
        self.literal('-')?;
        let day = self.digits(2)?;
        let exists = (1..=12).contains(&month) && (1..=days_in(month, year)).contains(&day);
        exists.then(|| days_to(year, month, day) * DAY)
    }

    /// Two digits of less than an end.
    fn part(&mut self, end: i64) -> Option<i64> {
        self.digits(2).filter(|part| *part < end)
    }

    /// A fraction of a second in nanoseconds, if there is one; further digits are dropped.
    fn fraction(&mut self) -> Option<u32> {
        let Some(rest) = self.0.strip_prefix(['.', ',']) else { return Some(0) };
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, rest) = rest.split_at_checked(end)?;
        self.0 = rest;
        let shown = digits.get(..9).unwrap_or(digits);
        let number: u32 = shown.parse().ok()?;
        Some(number * 10_u32.pow(9 - shown.len() as u32))
    }

    /// `Z` or an offset, in seconds; the colon may be missing in the loose form.
    fn zone(&mut self, loose: bool) -> Option<i32> {
        if self.literal('Z').is_some() {
            return Some(0);
        }
        let sign = if self.literal('+').is_some() {
            1
        } else {
            self.literal('-')?;
            -1
        };
        let hours = self.part(25)?;
        if self.literal(':').is_none() && !loose {
            return None;
        }
        let minutes = self.part(61)?;
        i32::try_from(sign * (hours * 3600 + minutes * 60)).ok()
    }
}

/// A time in RFC 3339, as `timestamp` reads it.
pub(crate) fn rfc3339(text: &str) -> Option<Timestamp> {
    let mut reader = Reader(text);
    let date = reader.date()?;
    reader.literal('T')?;
    // An hour may have one digit.
    let hour = match reader.0.as_bytes() {
        [_, b':', ..] => reader.digits(1)?,
        _ => reader.part(24)?,
    };
    reader.literal(':')?;
    let minute = reader.part(60)?;
    reader.literal(':')?;
    let second = reader.part(60)?;
    let nanos = reader.fraction()?;
    let offset = reader.zone(false)?;
    let seconds = date + hour * 3600 + minute * 60 + second - i64::from(offset);
    let is_known = reader.0.is_empty() && (FIRST_SECOND..=LAST_SECOND).contains(&seconds);
    is_known.then_some(Timestamp { seconds, nanos, offset })
}

/// A date-time of an object (VV-71): also without a zone, which is UTC, and without seconds.
pub(crate) fn date_time(text: &str) -> Option<Timestamp> {
    if text.is_empty() {
        return Some(Timestamp { seconds: 0, nanos: 0, offset: 0 });
    }
    let mut reader = Reader(text);
    let date = reader.date()?;
    reader.literal('T')?;
    let hour = reader.part(24)?;
    reader.literal(':')?;
    let minute = reader.part(60)?;
    let (mut second, mut nanos) = (0, 0);
    if reader.literal(':').is_some() {
        second = reader.part(60)?;
        nanos = reader.fraction()?;
    }
    let offset = if reader.0.is_empty() { 0 } else { reader.zone(true)? };
    let seconds = date + hour * 3600 + minute * 60 + second - i64::from(offset);
    reader.0.is_empty().then_some(Timestamp { seconds, nanos, offset })
}

/// `YYYY-MM-DD`, as its first moment in UTC.
pub(crate) fn date(text: &str) -> Option<Timestamp> {
    let mut reader = Reader(text);
    let seconds = reader.date()?;
    reader.0.is_empty().then_some(Timestamp { seconds, nanos: 0, offset: 0 })
}

/// A time as text, in the offset it was written in.
pub(crate) fn timestamp_text(time: Timestamp) -> String {
    let Civil { year, month, day, hour, minute, second, .. } =
        Civil::of(time.seconds + i64::from(time.offset));
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if time.nanos > 0 {
        let fraction = format!(".{:09}", time.nanos);
        text.push_str(fraction.trim_end_matches('0'));
    }
    if time.offset == 0 {
        text.push('Z');
    } else {
        let sign = if time.offset < 0 { '-' } else { '+' };
        let minutes = time.offset.abs() / 60;
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    }
    text
}

/// A length of time as text: its seconds and `s`.
pub(crate) fn duration_text(nanoseconds: i64) -> String {
    let whole = nanoseconds / 1_000_000_000;
    let rest = nanoseconds % 1_000_000_000;
    format!("{}s", whole as f64 + rest as f64 / 1e9)
}
