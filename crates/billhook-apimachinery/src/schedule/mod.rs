//! Schedules of CronJobs (CP-69).

mod parse;

use crate::calendar::Date;
use crate::{message_error, time_zone};

message_error! {
    /// A text that is not a schedule: the first thing that is wrong with it, in the server's text.
    pub struct ScheduleError;
}

/// A schedule: five fields (minute, hour, day of the month, month, day of the week), a name such as
/// `@daily`, or `@every 1h30m`.
///
/// ```
/// use billhook_apimachinery::schedule::Schedule;
///
/// let schedule = Schedule::parse("30 6 * * mon-fri").unwrap();
/// // From Saturday, 2026-01-03, to Monday, 2026-01-05T06:30:00Z.
/// assert_eq!(schedule.next_after(1_767_398_400, "UTC"), Some(1_767_594_600));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    zone: Option<String>,
    times: Times,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Times {
    Fields(Fields),
    /// A number of seconds after the last time.
    Every(i64),
}

/// The values of the fields, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fields {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether a day has to be of both, of `days` and of `weekdays`, because one of them is any day.
    is_any: bool,
}

const DAY: i64 = 86_400;
/// How many days are searched: a schedule may have no time at all.
const DAYS_SEARCHED: i64 = 5 * 366;

impl Schedule {
    /// Parses a schedule.
    ///
    /// # Errors
    ///
    /// If the text is not one.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        Ok(parse::schedule(text)?)
    }

    /// Returns the time zone that is in the schedule itself, if there is one.
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    /// Returns the first time after another one, in seconds since 1970-01-01, by the clocks of a time
    /// zone; `None` if absent in five years. An hour that clocks leave out has no times, one that
    /// they show twice has them twice.
    pub fn next_after(&self, after: i64, zone: &str) -> Option<i64> {
        match &self.times {
            Times::Every(period) => Some(after.saturating_add(*period)),
            Times::Fields(fields) => fields.next_after(after, self.zone().unwrap_or(zone)),
        }
    }

    /// Returns the last time after one and not after another, in seconds since 1970-01-01.
    pub fn last_between(&self, after: i64, until: i64, zone: &str) -> Option<i64> {
        let is_early = |after: i64| self.next_after(after, zone).filter(|next| *next <= until);
        let mut last = is_early(after)?;
        if let Times::Every(period) = self.times {
            let rest = until.saturating_sub(last).checked_rem(period).unwrap_or_default();
            return Some(until.saturating_sub(rest));
        }
        // The later one begins, the later the next time is: what is looked for is between both.
        let mut end = until;
        while last < end {
            let middle = last + (end - last) / 2;
            match is_early(middle) {
                Some(next) => last = next,
                None => end = middle,
            }
        }
        Some(last)
    }
}

impl Fields {
    fn next_after(&self, after: i64, zone: &str) -> Option<i64> {
        let today = after.saturating_add(offset(zone, after)).div_euclid(DAY);
        // Clocks that are set back may show a day again.
        let mut days = (today - 1)..(today + DAYS_SEARCHED);
        days.find_map(|day| self.first_of_day(day, after, zone))
    }

    /// Returns the first time of a day that is after another one.
    fn first_of_day(&self, day: i64, after: i64, zone: &str) -> Option<i64> {
        if !self.has_day(day) {
            return None;
        }
        let midnight = day * DAY;
        let offsets = [offset(zone, midnight - DAY), offset(zone, midnight + 2 * DAY)];
        let hours = (0..24).filter(|hour| has(self.hours, *hour));
        let minutes = || (0..60).filter(|minute| has(self.minutes, *minute));
        let clocks = hours.flat_map(|hour| minutes().map(move |minute| hour * 3600 + minute * 60));
        let [before, later] = offsets;
        if before == later {
            let mut times = clocks.map(|clock| midnight + clock - before);
            return times.find(|time| *time > after);
        }
        // Clocks are set in these days: a time is one that they show.
        let times =
            clocks.flat_map(|clock| offsets.map(|offset| (midnight + clock - offset, offset)));
        let shown = times.filter(|(time, of_clock)| offset(zone, *time) == *of_clock);
        shown.map(|(time, _)| time).filter(|time| *time > after).min()
    }

    fn has_day(&self, day: i64) -> bool {
        let date = Date::from_days(day);
        let is_day = has(self.days, date.day);
        let is_weekday = has(self.weekdays, (day + 4).rem_euclid(7));
        let is_either = if self.is_any { is_day && is_weekday } else { is_day || is_weekday };
        has(self.months, date.month) && is_either
    }
}

fn has(bits: u64, value: i64) -> bool {
    bits >> value & 1 == 1
}

/// Returns the offset of a zone; none of one that does not exist.
fn offset(zone: &str, at: i64) -> i64 {
    time_zone::offset_at(zone, at).unwrap_or_default().into()
}
