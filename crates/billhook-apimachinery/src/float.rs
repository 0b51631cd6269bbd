//! Floats as a server prints them.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A float of single or double precision.
pub trait Float: Copy + fmt::LowerExp + FromStr + Into<f64> + PartialEq {}

impl<T: Copy + fmt::LowerExp + FromStr + Into<f64> + PartialEq> Float for T {}

/// Prints a float outside JSON: shortest digits, an exponent below 1e-4 and from 1e6 on.
pub fn plain_float(float: impl Float) -> String {
    float_text(float, -4..6, 2)
}

/// Prints a float in JSON: shortest digits, an exponent below 1e-6 and from 1e21 on.
pub fn json_float(float: f64) -> String {
    float_text(float, -6..21, 1)
}

/// Shortest digits; `plain` are the decimal exponents written without exponent notation,
/// `exponent_width` is the least number of exponent digits.
fn float_text(float: impl Float, plain: Range<i32>, exponent_width: usize) -> String {
    let scientific = shortest_float(float);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let Ok(exponent) = exponent.parse::<i32>() else { return scientific };
    if plain.contains(&exponent) {
        return with_point(mantissa, exponent);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{mantissa}e{sign}{:0width$}",
        exponent.abs(),
        width = if exponent < 0 { exponent_width } else { 2 }
    )
}

/// Returns the digits of a mantissa with the point where the exponent has it.
fn with_point(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let digits = mantissa.replacen('.', "", 1);
    let Ok(whole) = usize::try_from(exponent + 1) else {
        let zeros = usize::try_from(-1 - exponent).unwrap_or_default();
        return [sign, "0.", &"0".repeat(zeros), &digits].concat();
    };
    match digits.split_at_checked(whole) {
        Some(("", fraction)) => [sign, "0.", fraction].concat(),
        Some((whole, "")) => [sign, whole].concat(),
        Some((whole, fraction)) => [sign, whole, ".", fraction].concat(),
        None => [sign, &digits, &"0".repeat(whole - digits.len())].concat(),
    }
}

/// Prints a float with an exponent, `-1.25e3`, by the fewest digits that mean it. Of two that are equally
/// near, the even one is printed, as by a server; the standard library takes the greater one.
pub fn shortest_float<F: Float>(float: F) -> String {
    /// Shorter ones are nearer than any other.
    const DIGITS_OF_SINGLE: usize = 7;
    let text = format!("{float:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let last_is_odd = digits.ends_with(['1', '3', '5', '7', '9']);
    if digits.len() < DIGITS_OF_SINGLE || !last_is_odd {
        return text;
    }
    let (Ok(number), Ok(exponent_of_first)) = (digits.parse::<u64>(), exponent.parse::<i32>())
    else {
        return text;
    };
    let exponent_of_last = exponent_of_first.saturating_sub_unsigned(digits.len() as u32 - 1);
    if !is_halfway(float.into(), number, exponent_of_last) {
        return text;
    }
    let mut even = text.clone();
    // The digit before an odd one is one less, and the others are the same.
    let place = mantissa.len() - 1;
    even.replace_range(place..=place, &(number % 10 - 1).to_string());
    if even.parse().is_ok_and(|even: F| even == float) { even } else { text }
}

/// Whether a number is in the middle between some digits and those before them, by the exponent of
/// the last one.
fn is_halfway(number: f64, digits: u64, exponent: i32) -> bool {
    const MANTISSA_BITS: u32 = 52;
    let bits = number.abs().to_bits();
    let (stored, mantissa) = ((bits >> MANTISSA_BITS) as i32, bits & ((1 << MANTISSA_BITS) - 1));
    let mantissa = if stored == 0 { mantissa } else { mantissa | 1 << MANTISSA_BITS };
    let zeros = mantissa.trailing_zeros();
    // Twice the number is `odd` times this power of two; twice the middle is `middle` times the same power of ten.
    let odd = u128::from(mantissa >> zeros);
    let power = stored.max(1) - 1075 + 1 + zeros as i32;
    let middle = 2 * u128::from(digits) - 1;
    let fives = 5u128.checked_pow(exponent.unsigned_abs());
    let (left, right) = match exponent < 0 {
        true => (fives.and_then(|fives| fives.checked_mul(odd)), Some(middle)),
        false => (Some(odd), fives.and_then(|fives| fives.checked_mul(middle))),
    };
    power == exponent && left.is_some() && left == right
}
