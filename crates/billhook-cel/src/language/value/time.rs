//! Points and lengths of time: texts, calendar, zones.

use std::cmp::Ordering;
use std::fmt::Write as _;

use billhook_apimachinery::calendar::Date;

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
    pub(crate) date: Date,
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
        let date = Date::from_days(days);
        Civil {
            date,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - Date { month: 1, day: 1, ..date }.days(),
        }
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
        let date = Date { year, month, day };
        date.exists().then(|| date.days() * DAY)
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
    let Civil { date: Date { year, month, day }, hour, minute, second, .. } =
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
