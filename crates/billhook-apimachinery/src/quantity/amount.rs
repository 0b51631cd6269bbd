//! The number that a quantity is. Which of two forms it has decides whether it counts as an
//! integer: `1000m` does not.

use std::cmp::Ordering;

use super::decimal::Decimal;

/// A number.
#[derive(Clone, Debug)]
pub(super) enum Amount {
    /// A short integer times a power of ten.
    Short { value: i64, exponent: i32 },
    /// Anything else.
    Long(Decimal),
}

impl From<i64> for Amount {
    fn from(value: i64) -> Self {
        Amount::Short { value, exponent: 0 }
    }
}

impl Amount {
    pub(super) fn decimal(&self) -> Decimal {
        match self {
            Amount::Short { value, exponent } => {
                let digits = value.unsigned_abs().to_string().into_bytes().into_iter();
                Decimal::new(*value < 0, digits, i64::from(*exponent))
            }
            Amount::Long(decimal) => decimal.clone(),
        }
    }

    pub(super) fn signum(&self) -> i64 {
        match self {
            Amount::Short { value, .. } => value.signum(),
            Amount::Long(decimal) => decimal.signum(),
        }
    }

    pub(super) fn compare(&self, other: &Amount) -> Ordering {
        self.decimal().compare(&other.decimal())
    }

    /// This as an integer, if it is a short one without a fraction.
    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Amount::Short { value, exponent } => raise(*value, (*exponent).try_into().ok()?),
            Amount::Long(_) => None,
        }
    }

    pub(super) fn as_float(&self) -> f64 {
        let (value, exponent) = match self {
            Amount::Short { value, exponent } => (*value as f64, i64::from(*exponent)),
            Amount::Long(decimal) => {
                (decimal.unscaled().parse().unwrap_or(f64::INFINITY), decimal.exponent)
            }
        };
        if exponent == 0 { value } else { value * power_of_ten(exponent) }
    }

    pub(super) fn negated(&self) -> Amount {
        match self {
            Amount::Short { value, exponent } => {
                Amount::Short { value: value.wrapping_neg(), exponent: *exponent }
            }
            Amount::Long(decimal) => Amount::Long(decimal.negated()),
        }
    }

    /// The sum; none if it had too many digits.
    pub(super) fn plus(&self, other: &Amount) -> Option<Amount> {
        if let (Amount::Short { .. }, Amount::Short { .. }) = (self, other)
            && let Some(sum) = self.short_sum(other)
        {
            return Some(sum);
        }
        self.decimal().plus(&other.decimal()).map(Amount::Long)
    }

    fn short_sum(&self, other: &Amount) -> Option<Amount> {
        let (
            &Amount::Short { value: left, exponent: left_exponent },
            &Amount::Short { value: right, exponent: right_exponent },
        ) = (self, other)
        else {
            return None;
        };
        if right == 0 {
            return Some(self.clone());
        }
        if left == 0 {
            return Some(other.clone());
        }
        let exponent = left_exponent.min(right_exponent);
        let raised = |value, from: i32| raise(value, from.checked_sub(exponent)?.try_into().ok()?);
        let value = raised(left, left_exponent)?.checked_add(raised(right, right_exponent)?)?;
        Some(Amount::Short { value, exponent })
    }
}

/// Times a power of ten, if it fits.
fn raise(value: i64, exponent: u32) -> Option<i64> {
    if value == 0 {
        return Some(0);
    }
    value.checked_mul(10_i64.checked_pow(exponent)?)
}

/// A power of ten, as the product or quotient of a multiple of 10³² and a smaller power.
fn power_of_ten(exponent: i64) -> f64 {
    let power = |exponent: i64| format!("1e{exponent}").parse().unwrap_or(f64::INFINITY);
    match exponent {
        0..=308 => power(exponent / 32 * 32) * power(exponent % 32),
        -323..0 => power(exponent / 32 * 32) / power(-exponent % 32),
        309.. => f64::INFINITY,
        _ => 0.0,
    }
}
