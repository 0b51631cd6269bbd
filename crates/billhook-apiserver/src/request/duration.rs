//! Durations in Go's notation, such as `1m30s` (RE-22).

use std::time::Duration;

use billhook_apimachinery::print::quote;

/// Reads a duration; a negative one is none.
pub(crate) fn parse(text: &str) -> Result<Option<Duration>, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(Some(Duration::ZERO));
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    let mut sum = Duration::ZERO;
    let mut rest = unsigned;
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = split_at(rest, |c| !is_number(c));
        let (unit, after) = split_at(after, is_number);
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "" => return Err(format!("time: missing unit in duration {}", quote(text))),
            other => {
                let (unit, text) = (quote(other), quote(text));
                return Err(format!("time: unknown unit {unit} in duration {text}"));
            }
        };
        let part = Duration::try_from_secs_f64(number * seconds).map_err(|_| invalid())?;
        sum = sum.checked_add(part).filter(|sum| *sum <= MAX).ok_or_else(invalid)?;
        rest = after;
    }
    Ok(Some(sum).filter(|_| !text.starts_with('-')))
}

/// The longest duration: 64 bits of nanoseconds.
const MAX: Duration = Duration::from_nanos(i64::MAX as u64);

fn split_at(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at_checked(text.find(ends).unwrap_or(text.len())).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, expected) in [
            ("0", Ok(Some(Duration::ZERO))),
            ("1m30s", Ok(Some(Duration::from_secs(90)))),
            ("1.5s", Ok(Some(Duration::from_millis(1500)))),
            ("1ms2us3ns", Ok(Some(Duration::from_nanos(1_002_003)))),
            ("-5s", Ok(None)),
            ("5", Err("time: missing unit in duration \"5\"")),
            ("x", Err("time: invalid duration \"x\"")),
            ("", Err("time: invalid duration \"\"")),
            (".s", Err("time: invalid duration \".s\"")),
            ("5x", Err("time: unknown unit \"x\" in duration \"5x\"")),
            ("9999999999h", Err("time: invalid duration \"9999999999h\"")),
        ] {
            assert_eq!(parse(text), expected.map_err(str::to_owned), "{text}");
        }
    }
}
