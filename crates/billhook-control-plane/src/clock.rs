//! The clock that a server, its controllers and its nodes share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use billhook_apimachinery::metadata::{MicroTime, Time};

/// A time, to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    since_1970: Duration,
}

impl Timestamp {
    /// The last time that objects can have: 9999-12-31T23:59:59Z.
    pub(crate) const LAST: Timestamp =
        Timestamp { since_1970: Duration::from_secs(253_402_300_799) };

    /// Returns the time that is so long after 1970-01-01T00:00:00Z.
    pub fn from_unix(since_1970: Duration) -> Self {
        Timestamp { since_1970 }
    }

    /// Parses a time as objects have it; `None` if it is absent or malformed.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(time) = Time::parse(text) {
            let seconds = time.seconds_since(Time::from_unix(0));
            return Some(Timestamp::from_unix(Duration::from_secs(u64::try_from(seconds).ok()?)));
        }
        let (seconds, micros) = MicroTime::parse(text).ok()?.to_unix();
        let seconds = Duration::from_secs(u64::try_from(seconds).ok()?);
        let micros = Duration::from_micros(u64::try_from(micros).ok()?);
        Some(Timestamp::from_unix(seconds.saturating_add(micros)))
    }

    /// Returns how long after 1970-01-01T00:00:00Z it is.
    pub fn to_unix(self) -> Duration {
        self.since_1970
    }

    /// Returns the time with second precision, as most fields have it.
    pub fn to_time(self) -> Time {
        Time::from_unix(i64::try_from(self.since_1970.as_secs()).unwrap_or(i64::MAX))
    }

    /// Prints the time with second precision.
    pub fn to_rfc3339(self) -> String {
        self.to_time().to_rfc3339()
    }

    /// Prints the time with the precision of microseconds.
    pub(crate) fn to_rfc3339_micros(self) -> String {
        let seconds = i64::try_from(self.since_1970.as_secs()).unwrap_or(i64::MAX);
        let micros = i32::try_from(self.since_1970.subsec_micros()).unwrap_or_default();
        MicroTime::from_unix(seconds, micros).to_rfc3339()
    }

    /// Returns the time that is so much later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Timestamp { since_1970: self.since_1970.saturating_add(duration) }
    }

    /// Returns how long after an earlier time it is; zero if it is before it.
    pub fn since(self, earlier: Timestamp) -> Duration {
        self.since_1970.saturating_sub(earlier.since_1970)
    }
}

/// Tells the time: that of the machine, or a virtual one that stands still until it is advanced, and ends
/// with the year 9999. Clones are the same clock.
///
/// ```
/// use std::time::Duration;
/// use billhook_control_plane::{Clock, Timestamp};
///
/// let clock = Clock::at(Timestamp::parse("2026-01-01T00:00:00Z").unwrap());
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(clock.now().to_rfc3339(), "2026-01-01T00:01:30Z");
/// ```
#[derive(Clone, Debug)]
pub struct Clock {
    /// `None` for the time of the machine.
    now: Option<Arc<Mutex<Timestamp>>>,
}

impl Clock {
    /// Creates the clock of the machine.
    pub fn real() -> Self {
        Clock { now: None }
    }

    /// Creates a virtual clock that shows a time.
    pub fn at(now: Timestamp) -> Self {
        Clock { now: Some(Arc::new(Mutex::new(now.min(Timestamp::LAST)))) }
    }

    /// Returns whether time stands still until it is advanced.
    pub fn is_virtual(&self) -> bool {
        self.now.is_some()
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        match &self.now {
            Some(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
            None => Timestamp::from_unix(
                SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            ),
        }
    }

    /// Advances a virtual clock; that of the machine goes on by itself.
    pub fn advance(&self, duration: Duration) {
        if let Some(now) = &self.now {
            let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
            *now = now.plus(duration).min(Timestamp::LAST);
        }
    }
}
