//! The clock of a server.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use billhook::Time;
use billhook_admission::now;
use billhook_apimachinery::metadata::MicroTime;

/// Tells the time of day: a given function, or else the system.
#[derive(Clone, Default)]
pub(crate) struct Clock(pub(crate) Option<Arc<dyn Fn() -> Time + Send + Sync>>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl Clock {
    pub(crate) fn now(&self) -> Time {
        match &self.0 {
            Some(clock) => clock(),
            None => now(),
        }
    }

    /// The time in microseconds, if the clock has them.
    pub(crate) fn precise(&self) -> MicroTime {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        match (&self.0, since_1970) {
            (None, Ok(time)) => {
                let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
                MicroTime::from_unix(seconds, i32::try_from(time.subsec_micros()).unwrap_or(0))
            }
            _ => MicroTime::from_unix(self.now().seconds_since(Time::from_unix(0)), 0),
        }
    }
}
