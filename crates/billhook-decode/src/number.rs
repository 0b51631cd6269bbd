//! Numbers: integers that fit `i64` are integers, everything else a double (SS-01).

use serde_json::Number;

/// The number that a well-formed literal stands for; none when it is beyond float64.
pub(crate) fn parse(literal: &str) -> Option<Number> {
    let is_integer = !literal.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_integer && let Ok(int) = literal.parse::<i64>() {
        return Some(Number::from(int));
    }
    let float: f64 = literal.parse().ok()?;
    Number::from_f64(float)
}
