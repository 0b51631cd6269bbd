//! RFC 3339 times as the server parses and writes them (OM-04, OM-05).

use std::fmt::Write as _;

use crate::calendar::Date;
use crate::message_error;

message_error! {
    /// A text that is not a time; prints the server's text.
    pub struct TimeError;
}

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
const MICRO_LAYOUT: &str = "2006-01-02T15:04:05.000000Z07:00";
const DAY: i64 = 86_400;
/// The seconds from 0001-01-01 to 1970-01-01.
const EPOCH: i64 = 62_135_596_800;

/// The seconds from 0001-01-01 to 9999-12-31T23:59:59Z.
const LAST: i64 = 315_537_897_599;

/// A time, as seconds from 0001-01-01T00:00:00Z and a fraction that is only kept to tell the zero
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    seconds: i64,
    has_fraction: bool,
}

impl Time {
    /// Returns the time that is some seconds after 1970-01-01T00:00:00Z.
    pub fn from_unix(seconds: i64) -> Time {
        Time { seconds: seconds.saturating_add(EPOCH), has_fraction: false }
    }

    /// The zero time is written back as if it were absent.
    pub fn is_zero(self) -> bool {
        self.seconds == 0 && !self.has_fraction
    }

    /// The time in UTC with second precision.
    pub fn to_rfc3339(self) -> String {
        let since_1970 = self.seconds.saturating_sub(EPOCH);
        let second = since_1970.rem_euclid(DAY);
        let Date { year, month, day } = Date::from_days(since_1970.div_euclid(DAY));
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let mut text = String::with_capacity(LAYOUT.len());
        if year < 0 {
            text.push('-');
        }
        match year.abs() {
            year @ ..10_000 => {
                push_pair(&mut text, year / 100);
                push_pair(&mut text, year);
            }
            year => text.push_str(itoa::Buffer::new().format(year)),
        }
        for (before, number) in
            [('-', month), ('-', day), ('T', hour), (':', minute), (':', second)]
        {
            text.push(before);
            push_pair(&mut text, number);
        }
        text.push('Z');
        text
    }

    /// Returns the time that is some seconds later; earlier if they are negative. After
    /// 9999-12-31T23:59:59Z, the last time that can be read again, it is that one.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Time {
        Time { seconds: self.seconds.saturating_add(seconds).min(LAST), ..self }
    }

    /// Returns how many whole seconds this time is after another one; negative if it is before.
    pub fn seconds_since(self, earlier: Time) -> i64 {
        self.seconds.saturating_sub(earlier.seconds)
    }

    /// Parses a time.
    ///
    /// # Errors
    ///
    /// If the text is not one.
    pub fn parse(text: &str) -> Result<Time, TimeError> {
        let mut parser = Parser { text, rest: text.as_bytes(), layout: LAYOUT };
        parser
            .time(|parser| Ok(parser.fraction()))
            .map(|(time, has_fraction)| Time { has_fraction, ..time })
    }
}

/// Appends the last two digits of a number.
fn push_pair(text: &mut String, number: i64) {
    for digit in [number / 10 % 10, number % 10] {
        text.push(char::from(b'0' + u8::try_from(digit).unwrap_or_default()));
    }
}

/// A time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MicroTime {
    time: Time,
    micros: i32,
}

impl MicroTime {
    /// Returns the time that is some seconds and microseconds after 1970-01-01T00:00:00Z.
    pub fn from_unix(seconds: i64, micros: i32) -> Self {
        MicroTime { time: Time::from_unix(seconds), micros }
    }

    /// The seconds since 1970-01-01T00:00:00Z, and the microseconds after them.
    pub fn to_unix(self) -> (i64, i32) {
        (self.time.seconds.saturating_sub(EPOCH), self.micros)
    }

    /// The time in UTC with six digits after the seconds.
    pub fn to_rfc3339(self) -> String {
        let mut text = self.time.to_rfc3339();
        text.pop();
        let _ = write!(text, ".{:06}Z", self.micros);
        text
    }

    /// Parses a time, whose fraction must have six digits (BK-26).
    ///
    /// # Errors
    ///
    /// If the text is not one.
    pub fn parse(text: &str) -> Result<MicroTime, TimeError> {
        let mut parser = Parser { text, rest: text.as_bytes(), layout: MICRO_LAYOUT };
        let (time, micros) = parser.time(Parser::micros)?;
        Ok(MicroTime { time, micros })
    }
}

/// Returns whether a text is a time as it is written back: in UTC, with second precision, not the
/// zero time.
pub fn is_normal_time(text: &[u8]) -> bool {
    let [
        y1,
        y2,
        y3,
        y4,
        b'-',
        mo1,
        mo2,
        b'-',
        d1,
        d2,
        b'T',
        h1,
        h2,
        b':',
        mi1,
        mi2,
        b':',
        s1,
        s2,
        b'Z',
    ] = *text
    else {
        return false;
    };
    let parts = (
        digits(&[y1, y2, y3, y4]),
        digits(&[mo1, mo2]),
        digits(&[d1, d2]),
        digits(&[h1, h2]),
        digits(&[mi1, mi2]),
        digits(&[s1, s2]),
    );
    let (Some(year), Some(month), Some(day), Some(hour), Some(minute), Some(second)) = parts else {
        return false;
    };
    Date { year: year.into(), month: month.into(), day: day.into() }.exists()
        && hour < 24
        && minute < 60
        && second < 60
        && text != b"0001-01-01T00:00:00Z"
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t [u8],
    layout: &'static str,
}

impl Parser<'_> {
    /// Reads a time, and its fraction as a layout has it.
    fn time<F>(
        &mut self,
        fraction: impl FnOnce(&mut Self) -> Result<F, TimeError>,
    ) -> Result<(Time, F), TimeError> {
        let year = self.year()?;
        self.literal("-")?;
        let month = self.number("01", true)?;
        if !(1..=12).contains(&month) {
            return Err(self.out_of_range("month"));
        }
        self.literal("-")?;
        let day = self.number("02", true)?;
        self.literal("T")?;
        let hour = self.number("15", false)?;
        if hour > 23 {
            return Err(self.out_of_range("hour"));
        }
        self.literal(":")?;
        let minute = self.number("04", true)?;
        if minute > 59 {
            return Err(self.out_of_range("minute"));
        }
        self.literal(":")?;
        let second = self.number("05", true)?;
        if second > 59 {
            return Err(self.out_of_range("second"));
        }
        let fraction = fraction(self)?;
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(self.failure(&format!(": extra text: {}", quote(self.rest))));
        }
        let date = Date { year, month: month.into(), day: day.into() };
        if !date.exists() {
            return Err(self.out_of_range("day"));
        }
        let clock = i64::from(hour * 3600 + minute * 60 + second - offset);
        let seconds = date.days() * DAY + clock + EPOCH;
        Ok((Time { seconds, has_fraction: false }, fraction))
    }

    /// Six digits after a point.
    fn micros(&mut self) -> Result<i32, TimeError> {
        let micros = self.rest.strip_prefix(b".").and_then(|rest| digits(rest.get(..6)?));
        let Some(micros) = micros else { return Err(self.cannot_parse(".000000")) };
        self.advance(7);
        Ok(micros)
    }

    fn year(&mut self) -> Result<i64, TimeError> {
        let year = self.rest.get(..4).and_then(digits);
        let Some(year) = year else { return Err(self.cannot_parse("2006")) };
        self.advance(4);
        Ok(i64::from(year))
    }

    fn literal(&mut self, literal: &str) -> Result<(), TimeError> {
        match self.rest.strip_prefix(literal.as_bytes()) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.cannot_parse(literal)),
        }
    }

    /// One or two digits; exactly two when `fixed`.
    fn number(&mut self, element: &str, fixed: bool) -> Result<i32, TimeError> {
        let width = match self.rest {
            [first, second, ..] if first.is_ascii_digit() && second.is_ascii_digit() => 2,
            [first, ..] if first.is_ascii_digit() && !fixed => 1,
            _ => return Err(self.cannot_parse(element)),
        };
        let number = self.rest.get(..width).and_then(digits).unwrap_or_default();
        self.advance(width);
        Ok(number)
    }

    /// Skips a fraction; tells whether it is more than zero nanoseconds.
    fn fraction(&mut self) -> bool {
        let [b'.' | b',', first, ..] = self.rest else { return false };
        if !first.is_ascii_digit() {
            return false;
        }
        self.advance(1);
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let nonzero = self.rest.iter().take(length.min(9)).any(|byte| *byte != b'0');
        self.advance(length);
        nonzero
    }

    /// The offset from UTC in seconds.
    fn offset(&mut self) -> Result<i32, TimeError> {
        const ELEMENT: &str = "Z07:00";
        if self.rest.first() == Some(&b'Z') {
            self.advance(1);
            return Ok(0);
        }
        let [sign, h1, h2, b':', m1, m2, ..] = *self.rest else {
            return Err(self.cannot_parse(ELEMENT));
        };
        let (Some(hours), Some(minutes)) = (digits(&[h1, h2]), digits(&[m1, m2])) else {
            return Err(self.cannot_parse(ELEMENT));
        };
        if hours > 24 {
            return Err(self.out_of_range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(self.out_of_range("time zone offset minute"));
        }
        let offset = hours * 3600 + minutes * 60;
        let offset = match sign {
            b'+' => offset,
            b'-' => -offset,
            _ => return Err(self.cannot_parse(ELEMENT)),
        };
        self.advance(6);
        Ok(offset)
    }

    fn advance(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn cannot_parse(&self, element: &str) -> TimeError {
        let (text, rest) = (quote(self.text.as_bytes()), quote(self.rest));
        let layout = self.layout;
        format!("parsing time {text} as \"{layout}\": cannot parse {rest} as \"{element}\"").into()
    }

    fn out_of_range(&self, element: &str) -> TimeError {
        self.failure(&format!(": {element} out of range"))
    }

    fn failure(&self, message: &str) -> TimeError {
        format!("parsing time {}{message}", quote(self.text.as_bytes())).into()
    }
}

fn digits(text: &[u8]) -> Option<i32> {
    text.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i32::from(byte - b'0'))
    })
}

/// Quoting of times in errors: everything outside printable ASCII byte by byte.
fn quote(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in text {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b' '..=b'~' | 0x7f => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OM-04.
    #[test]
    fn times_are_brought_to_utc_seconds() {
        for (text, expected) in [
            ("2020-01-01T02:00:00.123+02:00", "2020-01-01T00:00:00Z"),
            ("2020-02-29T23:59:59Z", "2020-02-29T23:59:59Z"),
            ("2019-12-31T23:00:00-02:30", "2020-01-01T01:30:00Z"),
            ("0001-01-01T00:00:01Z", "0001-01-01T00:00:01Z"),
            ("0000-03-01T00:00:00Z", "0000-03-01T00:00:00Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
            ("2020-01-01T1:00:00Z", "2020-01-01T01:00:00Z"),
            ("2020-01-01T00:00:00,5Z", "2020-01-01T00:00:00Z"),
        ] {
            let time = Time::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(time.to_rfc3339(), expected, "{text}");
            assert!(!time.is_zero());
        }
        assert!(Time::parse("0001-01-01T00:00:00Z").unwrap().is_zero());
        assert!(Time::parse("0001-01-01T01:00:00+01:00").unwrap().is_zero());
    }

    /// BK-26.
    #[test]
    fn micro_times_have_six_digits() {
        let printed = |text| MicroTime::parse(text).map(MicroTime::to_rfc3339);
        assert_eq!(
            printed("2024-01-02T03:04:05.678901+01:00"),
            Ok("2024-01-02T02:04:05.678901Z".to_owned())
        );
        let layout = "2006-01-02T15:04:05.000000Z07:00";
        for (text, rest, element) in [
            ("2024-01-02T03:04:05Z", "Z", ".000000"),
            ("2024-01-02T03:04:05.123Z", ".123Z", ".000000"),
            ("2024-01-02T03:04:05.1234567Z", "7Z", "Z07:00"),
        ] {
            let error = format!(
                "parsing time \"{text}\" as \"{layout}\": cannot parse \"{rest}\" as \"{element}\""
            );
            assert_eq!(printed(text), Err(error.into()));
        }
    }

    #[test]
    fn times_end_with_the_last_year() {
        let last = Time::parse("9999-12-31T23:59:59Z").unwrap();
        assert_eq!(Time::from_unix(0).plus_seconds(i64::MAX), last);
        assert_eq!(last.plus_seconds(-1).plus_seconds(2), last);
    }

    #[test]
    fn seconds_since_1970_are_times() {
        for (seconds, expected) in [
            (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            let time = Time::from_unix(seconds);
            assert_eq!(time.to_rfc3339(), expected);
            assert_eq!(Time::parse(expected), Ok(time));
        }
    }

    /// OM-05.
    #[test]
    fn errors_are_the_servers() {
        let as_layout = |text: &str, rest: &str, element: &str| {
            format!(
                "parsing time \"{text}\" as \"2006-01-02T15:04:05Z07:00\": \
                 cannot parse \"{rest}\" as \"{element}\""
            )
        };
        for (text, expected) in [
            ("bogus", as_layout("bogus", "bogus", "2006")),
            ("2020-01-01", as_layout("2020-01-01", "", "T")),
            ("", as_layout("", "", "2006")),
            ("2020-01-01t00:00:00z", as_layout("2020-01-01t00:00:00z", "t00:00:00z", "T")),
            ("2020-01-01T00:00:00", as_layout("2020-01-01T00:00:00", "", "Z07:00")),
            ("2020-1-01T00:00:00Z", as_layout("2020-1-01T00:00:00Z", "1-01T00:00:00Z", "01")),
            (
                "2020-01-01T24:00:00Z",
                "parsing time \"2020-01-01T24:00:00Z\": hour out of range".to_owned(),
            ),
            (
                "2020-02-30T00:00:00Z",
                "parsing time \"2020-02-30T00:00:00Z\": day out of range".to_owned(),
            ),
            (
                "2020-01-01T00:00:00Zx",
                "parsing time \"2020-01-01T00:00:00Zx\": extra text: \"x\"".to_owned(),
            ),
        ] {
            assert_eq!(Time::parse(text).unwrap_err().to_string(), expected);
        }
    }
}
