//! Numbers: integers that fit `i64` are integers, everything else a double (SS-01).

use serde_json::Number;

/// Returns the integer of a literal with at most 18 digits.
pub(crate) fn short_integer(literal: Option<&[u8]>) -> Option<i64> {
    const DIGITS: usize = 18;
    let literal = literal?;
    let (sign, digits) = match literal.split_first()? {
        (b'-', digits) => (-1, digits),
        _ => (1, literal),
    };
    if digits.len() > DIGITS {
        return None;
    }
    Some(sign * digits.iter().fold(0, |int, digit| int * 10 + i64::from(digit - b'0')))
}

/// Returns the number of a well-formed literal; `None` when it is beyond float64.
pub(crate) fn parse(literal: &str) -> Option<Number> {
    let is_integer = !literal.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_integer && let Ok(int) = literal.parse::<i64>() {
        return Some(Number::from(int));
    }
    let float: f64 = literal.parse().ok()?;
    Number::from_f64(float)
}
