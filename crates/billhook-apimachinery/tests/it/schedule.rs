//! Schedules of CronJobs (CP-69) by the clocks of time zones.

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::schedule::Schedule;

fn unix(text: &str) -> i64 {
    Time::parse(text).unwrap().seconds_since(Time::from_unix(0))
}

fn text(seconds: i64) -> String {
    Time::from_unix(seconds).to_rfc3339()
}

/// Five fields, names, steps, and what days are meant when both fields restrict them.
#[test]
fn the_next_time_is_found() {
    let cases = [
        ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
        ("*/15 * * * *", "2026-01-01T00:50:01Z", "2026-01-01T01:00:00Z"),
        ("5-20/5 3 * * *", "2026-01-01T03:15:00Z", "2026-01-01T03:20:00Z"),
        ("0 22 * * 1-5", "2026-01-02T22:00:00Z", "2026-01-05T22:00:00Z"),
        ("0 0 1,15 * sun", "2026-01-05T00:00:00Z", "2026-01-11T00:00:00Z"),
        ("0 0 1,15 * sun", "2026-01-11T00:00:00Z", "2026-01-15T00:00:00Z"),
        ("0 0 */2 * sun", "2026-01-04T00:00:00Z", "2026-01-05T00:00:00Z"),
        ("0 0 * jan ?", "2026-01-31T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
        ("@hourly", "2026-01-01T00:59:59Z", "2026-01-01T01:00:00Z"),
        ("@every 1h30m", "2026-01-01T00:00:07Z", "2026-01-01T01:30:07Z"),
        ("@every 1.5s", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"),
        ("TZ=Asia/Tokyo 0 9 * * *", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
    ];
    for (schedule, after, next) in cases {
        let found = Schedule::parse(schedule).unwrap().next_after(unix(after), "UTC");
        assert_eq!(found.map(text).as_deref(), Some(next), "{schedule} after {after}");
    }
}

/// Clocks are set forward on 2026-03-08 at 2:00 and back on 2026-11-01 at 2:00 in New York.
#[test]
fn clocks_that_are_set_leave_times_out_or_show_them_twice() {
    let cases = [
        ("30 2 * * *", "2026-03-07T12:00:00Z", "2026-03-09T06:30:00Z"),
        ("0 3 * * *", "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"),
        ("30 1 * * *", "2026-10-31T12:00:00Z", "2026-11-01T05:30:00Z"),
        ("30 1 * * *", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"),
        ("30 1 * * *", "2026-11-01T06:30:00Z", "2026-11-02T06:30:00Z"),
        ("*/30 1 * * *", "2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z"),
        ("*/30 1 * * *", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z"),
    ];
    for (schedule, after, next) in cases {
        let schedule = Schedule::parse(schedule).unwrap();
        let found = schedule.next_after(unix(after), "America/New_York");
        assert_eq!(found.map(text).as_deref(), Some(next), "{schedule:?} after {after}");
    }
}

/// A schedule may have no time at all.
#[test]
fn a_day_that_does_not_exist_never_comes() {
    let schedule = Schedule::parse("59 23 31 2 *").unwrap();
    assert_eq!(schedule.next_after(0, "UTC"), None);
    assert_eq!(schedule.last_between(0, 1_767_225_600, "UTC"), None);
}

/// The last time is the one after which there is none until the end.
#[test]
fn the_last_time_of_a_period_is_found() {
    let cases = [
        ("* * * * *", "2025-01-01T00:00:00Z", "2026-01-01T00:00:30Z", Some("2026-01-01T00:00:00Z")),
        (
            "0 6-16/4 * * 1-5",
            "2026-01-02T00:00:00Z",
            "2026-01-04T00:00:00Z",
            Some("2026-01-02T14:00:00Z"),
        ),
        ("@every 7s", "2026-01-01T00:00:00Z", "2026-01-01T00:00:20Z", Some("2026-01-01T00:00:14Z")),
        ("@daily", "2026-01-01T00:00:00Z", "2026-01-01T23:59:59Z", None),
        ("@daily", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", Some("2026-01-02T00:00:00Z")),
    ];
    for (schedule, after, until, last) in cases {
        let parsed = Schedule::parse(schedule).unwrap();
        let found = parsed.last_between(unix(after), unix(until), "UTC");
        assert_eq!(found.map(text).as_deref(), last, "{schedule} until {until}");
    }
}
