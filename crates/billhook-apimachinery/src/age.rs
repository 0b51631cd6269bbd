//! How old something is, in few characters (DT-68).

use crate::time::Time;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Returns how long before another time a time was, as tables show it: `90s`, `3h15m`, `<unknown>`
/// for no time.
pub fn age(time: Time, now: Time) -> String {
    if time.is_zero() {
        return "<unknown>".to_owned();
    }
    let seconds = now.seconds_since(time);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two(seconds, (MINUTE, "m"), (1, "s")),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two(seconds, (HOUR, "h"), (MINUTE, "m")),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two(seconds, (DAY, "d"), (HOUR, "h")),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two(seconds, (YEAR, "y"), (DAY, "d")),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// An age in two units; the smaller one is left out if it is 0.
fn two(seconds: i64, (large, large_name): (i64, &str), (small, small_name): (i64, &str)) -> String {
    let rest = seconds % large / small;
    let rest = if rest == 0 { String::new() } else { format!("{rest}{small_name}") };
    format!("{}{large_name}{rest}", seconds / large)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DT-68.
    #[test]
    fn ages_are_short() {
        let now = Time::parse("2026-11-22T12:00:00Z").unwrap_or_default();
        for (time, expected) in [
            ("2026-11-22T12:00:02Z", "<invalid>"),
            ("2026-11-22T12:00:01Z", "0s"),
            ("2026-11-22T12:00:00Z", "0s"),
            ("2026-11-22T11:58:30Z", "90s"),
            ("2026-11-22T11:58:00Z", "2m"),
            ("2026-11-22T11:57:55Z", "2m5s"),
            ("2026-11-22T11:50:00Z", "10m"),
            ("2026-11-22T09:00:01Z", "179m"),
            ("2026-11-22T08:50:00Z", "3h10m"),
            ("2026-11-22T04:00:00Z", "8h"),
            ("2026-11-20T10:00:00Z", "2d2h"),
            ("2026-11-14T11:00:00Z", "8d"),
            ("2024-11-23T12:00:00Z", "729d"),
            ("2023-11-22T12:00:00Z", "3y1d"),
            ("2001-02-03T04:05:06Z", "25y"),
            ("0001-01-01T00:00:00Z", "<unknown>"),
        ] {
            let time = Time::parse(time).unwrap_or_default();
            assert_eq!(age(time, now), expected, "{}", time.to_rfc3339());
        }
    }
}
