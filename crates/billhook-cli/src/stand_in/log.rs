//! Lines on standard error, in the form of kube-apiserver's. The process that started the program may not read
//! them, or may have gone.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use billhook_apimachinery::print::quote;

/// Writes a line as it is.
pub(super) fn line(text: &str) {
    // A failure to write here cannot be reported elsewhere.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Says why the program ends (ET-60).
pub(super) fn failed(why: &str) {
    let head = head(SystemTime::now(), std::process::id());
    line(&format!("E{head} run.go:72] \"command failed\" err={}", quote(why)));
}

/// Month and day, time of day in UTC, and the number of the process.
fn head(now: SystemTime, process: u32) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    // `2026-11-23T17:57:06Z`.
    let time = billhook::Time::from_unix(seconds).to_rfc3339();
    let part = |range| time.get(range).unwrap_or_default();
    let (month, day, clock) = (part(5..7), part(8..10), part(11..19));
    format!("{month}{day} {clock}.{:06} {process}", since.subsec_micros())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn lines_begin_as_those_of_a_server() {
        let time = UNIX_EPOCH + Duration::from_micros(1_795_456_626_155_557);
        assert_eq!(head(time, 8320), "1123 17:57:06.155557 8320");
    }
}
