//! Floats as Go reads them: `1e3`, `0x1.8p4`, `1_000`, `Inf` (CE-10).

/// The bits of a float that count.
const PRECISION: i64 = 53;
/// The exponent of the smallest float, and one that is larger than that of any.
const SMALLEST: i64 = -1074;
const BEYOND: i64 = 1 << 20;

/// The float that a text says; nothing if it says none or one that is too large.
pub(super) fn parse(text: &str) -> Option<f64> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if ["inf", "infinity"].iter().any(|name| unsigned.eq_ignore_ascii_case(name)) {
        return Some(sign * f64::INFINITY);
    }
    if text.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    let is_hexadecimal = unsigned.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x"));
    let digits = without_underscores(unsigned, is_hexadecimal)?;
    let value = if is_hexadecimal {
        hexadecimal(digits.get(2..)?)?
    } else {
        let is_plain = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let value = digits.chars().all(is_plain).then(|| digits.parse().ok())?;
        value.filter(|_| !digits.starts_with(['+', '-']))?
    };
    f64::is_finite(value).then_some(sign * value)
}

/// The text without the underscores, which may only stand between digits; the prefix counts as one.
fn without_underscores(text: &str, is_hexadecimal: bool) -> Option<String> {
    let radix = if is_hexadecimal { 16 } else { 10 };
    let is_digit = |c: Option<char>| {
        c.is_some_and(|c| c.is_digit(radix) || is_hexadecimal && matches!(c, 'x' | 'X'))
    };
    let mut before = None;
    let mut characters = text.chars().peekable();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = characters.next() {
        match c {
            '_' if is_digit(before) && is_digit(characters.peek().copied()) => {}
            '_' => return None,
            c => plain.push(c),
        }
        before = Some(c);
    }
    Some(plain)
}

/// Hexadecimal digits, perhaps with a point, and the exponent of two, which must be there.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let is_number =
        exponent.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
    let mut exponent = match exponent.parse::<i64>() {
        Ok(exponent) => exponent.clamp(-BEYOND, BEYOND),
        Err(error) if is_number => match error.kind() {
            std::num::IntErrorKind::PosOverflow => BEYOND,
            std::num::IntErrorKind::NegOverflow => -BEYOND,
            _ => return None,
        },
        Err(_) => return None,
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value: u128 = 0;
    for (digit, is_fraction) in
        whole.chars().map(|c| (c, false)).chain(fraction.chars().map(|c| (c, true)))
    {
        let digit = u128::from(digit.to_digit(16)?);
        if value >> 120 == 0 {
            value = value << 4 | digit;
            exponent -= if is_fraction { 4 } else { 0 };
        } else {
            // Digits beyond these only say that something follows.
            value |= u128::from(digit != 0);
            exponent += if is_fraction { 0 } else { 4 };
        }
    }
    Some(scaled(value, exponent))
}

/// A number times a power of two, rounded to the even one when in the middle.
fn scaled(value: u128, exponent: i64) -> f64 {
    let bits = i64::from(u128::BITS - value.leading_zeros());
    let kept = PRECISION.min(bits + exponent - SMALLEST);
    if bits == 0 || kept < 0 {
        return 0.0;
    }
    let lost = u32::try_from(bits - kept).unwrap_or(0);
    let half = 1_u128.checked_shl(lost).unwrap_or(0) >> 1;
    let rest = value & (half | half.saturating_sub(1));
    let mut kept = value.checked_shr(lost).unwrap_or(0);
    if half > 0 && (rest > half || rest == half && kept & 1 == 1) {
        kept += 1;
    }
    let power = (exponent + i64::from(lost)).clamp(-2 * BEYOND, 2 * BEYOND) as i32;
    kept as f64 * 2_f64.powi(power / 2) * 2_f64.powi(power - power / 2)
}
