//! When a CronJob is due (CP-69).

use std::time::Duration;

use billhook_apimachinery::calendar::Date;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::schedule::Schedule;
use billhook_apimachinery::time_zone;

use crate::clock::Timestamp;
use crate::object::Object;

/// How many times may be missed before there is a warning.
const MANY: i64 = 100;
/// How long after a time a controller looks, which then is past by any clock.
const DELTA: Duration = Duration::from_millis(100);

/// The times of a CronJob.
pub(super) struct Times {
    schedule: Schedule,
    zone: String,
    /// From when on times count, in seconds since 1970-01-01.
    since: i64,
    /// How late a time may be.
    deadline: Option<i64>,
    now: Timestamp,
}

/// The times that have come.
pub(super) struct Due {
    /// The last one.
    pub(super) time: i64,
    /// Whether many are missed.
    pub(super) are_many: bool,
}

impl Times {
    /// Reads the schedule and the time zone.
    ///
    /// # Errors
    ///
    /// The reason and the message of the event that says what is wrong with them.
    pub(super) fn of(cron_job: &Object, now: Timestamp) -> Result<Self, (&'static str, String)> {
        let text = cron_job.text("/spec/schedule");
        let zone = cron_job.get("/spec/timeZone").as_str();
        if let Some(zone) = zone.filter(|zone| !time_zone::exists(zone)) {
            let message = format!("invalid timeZone: {zone:?}: unknown time zone {zone}");
            return Err(("UnknownTimeZone", message));
        }
        let unparseable =
            |error| ("UnparseableSchedule", format!("unparseable schedule: {text:?} : {error}"));
        let schedule = Schedule::parse(text).map_err(unparseable)?;
        let last = cron_job.time("/status/lastScheduleTime");
        let since = last.or_else(|| cron_job.time("/metadata/creationTimestamp"));
        Ok(Times {
            schedule,
            zone: zone.unwrap_or("UTC").to_owned(),
            since: seconds(since.unwrap_or_default()),
            deadline: cron_job.int("/spec/startingDeadlineSeconds"),
            now,
        })
    }

    fn next_after(&self, after: i64) -> Option<i64> {
        self.schedule.next_after(after, &self.zone)
    }

    /// Returns the time that is due, if one is.
    pub(super) fn due(&self) -> Option<Due> {
        let now = seconds(self.now);
        let earliest = self.deadline.map(|deadline| now.saturating_sub(deadline));
        let since = earliest.map_or(self.since, |earliest| earliest.max(self.since));
        let time = self.schedule.last_between(since, now, &self.zone)?;
        let first = self.next_after(since).unwrap_or(time);
        let period = self.next_after(first).unwrap_or(time).saturating_sub(first).max(1);
        let missed = now.saturating_sub(first) / period + 1;
        Some(Due { time, are_many: missed > MANY })
    }

    /// Returns whether it is too late for a time.
    pub(super) fn is_too_late(&self, time: i64) -> bool {
        self.deadline.is_some_and(|deadline| time.saturating_add(deadline) < seconds(self.now))
    }

    /// Returns how long it takes until the next time, if there is one.
    pub(super) fn until_next(&self) -> Option<Duration> {
        let last = self.schedule.last_between(self.since, seconds(self.now), &self.zone);
        let next = u64::try_from(self.next_after(last.unwrap_or(self.since))?).ok()?;
        let next = Timestamp::from_unix(Duration::from_secs(next));
        Some(next.plus(DELTA).since(self.now))
    }

    /// Prints a time by the clocks of the time zone, with their offset.
    pub(super) fn print(&self, time: i64) -> String {
        let offset = time_zone::offset_at(&self.zone, time).unwrap_or_default();
        let local = Time::from_unix(time.saturating_add(offset.into())).to_rfc3339();
        let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs() / 60);
        match minutes {
            0 => local,
            minutes => {
                let local = local.trim_end_matches('Z');
                format!("{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

fn seconds(time: Timestamp) -> i64 {
    i64::try_from(time.to_unix().as_secs()).unwrap_or(i64::MAX)
}

/// Prints a time as `Mon, 02 Jan 2006 15:04:05 +0000`.
pub(super) fn rfc1123(time: i64) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, clock) = (time.div_euclid(86_400), time.rem_euclid(86_400));
    let Date { year, month, day } = Date::from_days(days);
    let name = |names: &[&'static str], index: i64| {
        usize::try_from(index).ok().and_then(|index| names.get(index).copied()).unwrap_or_default()
    };
    let (weekday, month) = (name(&WEEKDAYS, days.rem_euclid(7)), name(&MONTHS, month - 1));
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} +0000")
}
