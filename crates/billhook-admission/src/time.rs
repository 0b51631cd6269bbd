//! The time of day as API objects have it.

use std::time::{SystemTime, UNIX_EPOCH};

use billhook::Time;

/// Returns the time of the system's clock, in whole seconds.
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_unix(i64::try_from(since.as_secs()).unwrap_or_default())
}
