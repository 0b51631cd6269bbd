//! Quantities: numbers with suffixes, as in the resources of containers (BK-25, CE-10).

mod amount;
mod decimal;
mod parse;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use amount::Amount;
use decimal::Decimal;

/// The highest and the lowest exponent that has a suffix.
const SUFFIXES: [(i64, &str); 10] = [
    (18, "E"),
    (15, "P"),
    (12, "T"),
    (9, "G"),
    (6, "M"),
    (3, "k"),
    (0, ""),
    (-3, "m"),
    (-6, "u"),
    (-9, "n"),
];

const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// A number that is written with a suffix. Prints its canonical form: the largest suffix of its
/// family that leaves no fraction.
///
/// ```
/// use billhook_apimachinery::Quantity;
/// let printed = |text: &str| text.parse::<Quantity>().map(|quantity| quantity.to_string());
/// assert_eq!(printed("1024Mi"), Ok("1Gi".to_owned()));
/// assert_eq!(printed("0.5"), Ok("500m".to_owned()));
/// assert_eq!(printed("1.5Gi"), Ok("1536Mi".to_owned()));
/// assert_eq!(printed("0.1Gi"), Ok("107374182400m".to_owned()));
/// assert_eq!(printed("12e6"), Ok("12e6".to_owned()));
/// assert_eq!(printed("x").unwrap_err().to_string().get(..22), Some("quantities must match "));
/// ```
#[derive(Clone, Debug)]
pub struct Quantity {
    amount: Amount,
    family: Family,
}

/// The suffixes that a quantity was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Decimal,
    Binary,
    Exponent,
}

/// A text that is not a quantity; prints the server's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QuantityError(&'static str);

impl Quantity {
    /// Returns whether a text is a quantity in its canonical form. False may also mean that only reading
    /// it tells.
    pub(crate) fn is_short_form(text: &str) -> bool {
        parse::is_short_form(text)
    }

    /// Returns -1, 0 or 1.
    pub fn signum(&self) -> i64 {
        self.amount.signum()
    }

    /// Returns the number if it is an integer of 64 bits that was written without a fraction:
    /// `1000m` was not.
    pub fn as_int(&self) -> Option<i64> {
        self.amount.as_int()
    }

    /// Returns the nearest float.
    pub fn as_float(&self) -> f64 {
        self.amount.as_float()
    }

    /// Returns the number with the other sign.
    #[must_use]
    pub fn negated(&self) -> Self {
        Quantity { amount: self.amount.negated(), family: self.family }
    }

    /// Returns the sum; none if it had too many digits.
    pub fn plus(&self, other: &Quantity) -> Option<Self> {
        let family = if self.signum() == 0 { other.family } else { self.family };
        self.amount.plus(&other.amount).map(|amount| Quantity { amount, family })
    }

    /// Returns whether the number is a multiple of another one; none if that is zero, or if they have too
    /// many digits.
    ///
    /// ```
    /// use billhook_apimachinery::Quantity;
    /// let quantity = |text: &str| text.parse::<Quantity>().unwrap();
    /// assert_eq!(quantity("1Gi").is_multiple_of(&quantity("512Mi")), Some(true));
    /// assert_eq!(quantity("1").is_multiple_of(&quantity("300m")), Some(false));
    /// assert_eq!(quantity("1").is_multiple_of(&quantity("0")), None);
    /// ```
    pub fn is_multiple_of(&self, other: &Quantity) -> Option<bool> {
        /// More than the digits of the integers below.
        const MAX_ZEROS: i64 = 40;
        let (number, other) = (self.amount.decimal().stripped(), other.amount.decimal().stripped());
        let exponent = number.exponent.min(other.exponent);
        let whole = |number: &Decimal| -> Option<i128> {
            let zeros = number.exponent.saturating_sub(exponent);
            (zeros <= MAX_ZEROS).then(|| number.unscaled_at(exponent).parse().ok())?
        };
        if number.is_zero() {
            return (!other.is_zero()).then_some(true);
        }
        Some(whole(&number)?.checked_rem(whole(&other)?)? == 0)
    }

    /// Returns the number rounded away from zero to a power of ten: -3 for thousandths.
    #[must_use]
    pub fn rounded_up(&self, exponent: i32) -> Self {
        let mut number = self.amount.decimal();
        if number.exponent >= i64::from(exponent) {
            return self.clone();
        }
        number.round_up(i64::from(exponent));
        Quantity { amount: Amount::Long(number), family: self.family }
    }

    /// Whether the number has no fraction.
    pub fn is_integer(&self) -> bool {
        self.amount.decimal().stripped().exponent >= 0
    }
}

impl From<i64> for Quantity {
    fn from(number: i64) -> Self {
        Quantity { amount: number.into(), family: Family::Decimal }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let amount = parse::amount(text).map_err(QuantityError)?;
        Ok(Quantity { amount, family: parse::family(text) })
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.amount.compare(&other.amount).is_eq()
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.amount.compare(&other.amount)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.amount.decimal().stripped();
        match self.family {
            _ if number.is_zero() => f.write_str("0"),
            Family::Binary => match binary(&number) {
                Some((value, suffix)) => write!(f, "{value}{suffix}"),
                None => decimal(&number, f),
            },
            Family::Decimal => decimal(&number, f),
            Family::Exponent => {
                let exponent = number.exponent.div_euclid(3) * 3;
                write!(f, "{}", number.unscaled_at(exponent))?;
                if exponent == 0 { Ok(()) } else { write!(f, "e{exponent}") }
            }
        }
    }
}

/// A number that is at least 1024 without a fraction, with the largest binary suffix.
fn binary(number: &Decimal) -> Option<(i128, &'static str)> {
    let exponent = u32::try_from(number.exponent).ok()?;
    let mut value: i128 = number.unscaled().parse().ok()?;
    value = value.checked_mul(10_i128.checked_pow(exponent)?)?;
    if value.abs() < 1024 {
        return None;
    }
    let mut suffixes = BINARY_SUFFIXES.into_iter();
    let mut suffix = suffixes.next()?;
    while value % 1024 == 0
        && let Some(next) = suffixes.next()
    {
        (value, suffix) = (value / 1024, next);
    }
    Some((value, suffix))
}

fn decimal(number: &Decimal, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let fits = |(exponent, _): &&(i64, &str)| *exponent <= number.exponent;
    let (exponent, suffix) = SUFFIXES.iter().find(fits).unwrap_or(&(-9, "n"));
    write!(f, "{}{suffix}", number.unscaled_at(*exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_print_as_they_are() {
        for suffix in ["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "T", "n", "e3", "x"] {
            for number in (1..1200).step_by(7).chain([0, 10, 100, 999, 1000, 1024]) {
                let text = format!("{number}{suffix}");
                if Quantity::is_short_form(&text) {
                    let printed = text.parse::<Quantity>().map(|quantity| quantity.to_string());
                    assert_eq!(printed, Ok(text));
                }
            }
        }
        assert!(Quantity::is_short_form("100m") && Quantity::is_short_form("128Mi"));
        assert!(!Quantity::is_short_form("01") && !Quantity::is_short_form("-1"));
    }
}
