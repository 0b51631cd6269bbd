//! Parsing of quantities.

use std::cmp::Ordering;

use super::Family;
use super::amount::Amount;
use super::decimal::Decimal;

const FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMBER: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";

/// The digits that surely fit 64 bits.
const SHORT_DIGITS: i64 = 18;

/// The lowest exponent.
const NANO: i32 = -9;

/// A quantity in its parts.
struct Parts<'t> {
    is_negative: bool,
    /// Without leading zeros; `0` if there was nothing else.
    whole: &'t str,
    fraction: &'t str,
    suffix: Suffix,
}

/// The factor of a suffix.
#[derive(Clone, Copy)]
enum Suffix {
    Ten(i32),
    Two(u32),
}

/// The number a text is.
pub(super) fn amount(text: &str) -> Result<Amount, &'static str> {
    if text.is_empty() {
        return Err(FORMAT);
    }
    let parts = split(text)?;
    match short(&parts)? {
        Some(amount) => Ok(amount),
        None => Ok(Amount::Long(long(&parts))),
    }
}

/// Whether a text is a quantity in its canonical form, as nearly all short ones are. False may also mean
/// that only reading it tells.
pub(super) fn is_short_form(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    // From 1000 on, the next suffix may do.
    (1..=3).contains(&digits)
        && !text.starts_with('0')
        && matches!(text.get(digits..), Some("" | "m" | "k" | "M" | "G" | "Ki" | "Mi" | "Gi"))
}

/// The suffixes of a text that is a quantity.
pub(super) fn family(text: &str) -> Family {
    let suffix = text.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match multiplier(suffix) {
        Some(Suffix::Two(_)) => Family::Binary,
        // One letter is exa.
        _ if suffix.len() > 1 && suffix.starts_with(['e', 'E']) => Family::Exponent,
        _ => Family::Decimal,
    }
}

fn split(text: &str) -> Result<Parts<'_>, &'static str> {
    let is_negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, rest) = digits(unsigned.trim_start_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
    let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if !digits(exponent).1.is_empty() {
        return Err(FORMAT);
    }
    Ok(Parts { is_negative, whole, fraction, suffix: multiplier(suffix).ok_or(SUFFIX)? })
}

/// Returns the leading digits of a text, and the rest.
fn digits(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (text.strip_suffix(rest).unwrap_or_default(), rest)
}

fn multiplier(suffix: &str) -> Option<Suffix> {
    Some(match suffix {
        "n" => Suffix::Ten(-9),
        "u" => Suffix::Ten(-6),
        "m" => Suffix::Ten(-3),
        "" => Suffix::Ten(0),
        "k" => Suffix::Ten(3),
        "M" => Suffix::Ten(6),
        "G" => Suffix::Ten(9),
        "T" => Suffix::Ten(12),
        "P" => Suffix::Ten(15),
        "E" => Suffix::Ten(18),
        "Ki" => Suffix::Two(10),
        "Mi" => Suffix::Two(20),
        "Gi" => Suffix::Two(30),
        "Ti" => Suffix::Two(40),
        "Pi" => Suffix::Two(50),
        "Ei" => Suffix::Two(60),
        _ => {
            let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            // Greater ones wrap around in the server too.
            Suffix::Ten(exponent as i32)
        }
    })
}

/// Returns the short form, if its number of digits fits.
fn short(parts: &Parts<'_>) -> Result<Option<Amount>, &'static str> {
    let (whole, fraction) = (parts.whole.len() as i64, parts.fraction.len() as i64);
    let (precision, exponent, factor) = match parts.suffix {
        Suffix::Ten(exponent) => (SHORT_DIGITS - whole - fraction, exponent, 1),
        Suffix::Two(power) if fraction == 0 => {
            // A power of two has about three digits for ten bits.
            (14 - whole - i64::from(power) * 3 / 10, 0, 1_i64 << power)
        }
        Suffix::Two(_) => return Ok(None),
    };
    let exponent = exponent.wrapping_sub(fraction as i32);
    if precision < 0 || exponent < NANO {
        return Ok(None);
    }
    let value: i64 = [parts.whole, parts.fraction].concat().parse().map_err(|_| NUMBER)?;
    let value = value.checked_mul(factor);
    Ok(value.map(|value| Amount::Short {
        value: if parts.is_negative { -value } else { value },
        exponent,
    }))
}

fn long(parts: &Parts<'_>) -> Decimal {
    let digits = parts.whole.bytes().chain(parts.fraction.bytes());
    let mut number = Decimal::new(false, digits, -(parts.fraction.len() as i64));
    match parts.suffix {
        Suffix::Ten(exponent) => number.exponent += i64::from(exponent),
        Suffix::Two(power) => number.multiply(1 << power),
    }
    number.round_up(i64::from(NANO));
    number.extend(i64::from(NANO));
    if matches!(parts.suffix, Suffix::Two(_)) {
        let most = Decimal::new(false, i64::MAX.to_string().into_bytes().into_iter(), 0);
        if number.compare(&most) == Ordering::Greater {
            number = most;
        }
    }
    number.is_negative = parts.is_negative;
    number
}
