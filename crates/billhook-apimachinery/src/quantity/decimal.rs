//! Decimal numbers of any size.

use std::cmp::Ordering;

/// More digits than any sum may have: exponents go to 2³¹.
const MAX_DIGITS: usize = 100_000;

/// An integer times a power of ten.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    pub(super) is_negative: bool,
    /// The digits, from the highest; no leading zeros, none for zero.
    digits: Vec<u8>,
    pub(super) exponent: i64,
}

impl Decimal {
    /// Creates a number from ASCII digits.
    pub(super) fn new(is_negative: bool, digits: impl Iterator<Item = u8>, exponent: i64) -> Self {
        let digits = digits.map(|digit| digit.wrapping_sub(b'0')).skip_while(|digit| *digit == 0);
        Decimal { is_negative, digits: digits.collect(), exponent }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn signum(&self) -> i64 {
        match (self.is_zero(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    pub(super) fn negated(&self) -> Decimal {
        Decimal { is_negative: !self.is_negative, ..self.clone() }
    }

    /// The integer without the power, as text.
    pub(super) fn unscaled(&self) -> String {
        if self.is_zero() {
            return "0".to_owned();
        }
        let sign = if self.is_negative { "-" } else { "" };
        sign.chars().chain(self.digits.iter().map(|digit| char::from(digit + b'0'))).collect()
    }

    /// The number without zeros at its end.
    pub(super) fn stripped(mut self) -> Decimal {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
        self
    }

    /// The integer in front of a power of ten that is not greater than that of the number.
    pub(super) fn unscaled_at(&self, exponent: i64) -> String {
        let zeros = usize::try_from(self.exponent.saturating_sub(exponent)).unwrap_or(0);
        self.unscaled() + &"0".repeat(zeros.min(MAX_DIGITS))
    }

    pub(super) fn multiply(&mut self, factor: u64) {
        let mut carry = 0_u128;
        for digit in self.digits.iter_mut().rev() {
            carry += u128::from(*digit) * u128::from(factor);
            *digit = (carry % 10) as u8;
            carry /= 10;
        }
        let mut front = Vec::new();
        while carry > 0 {
            front.push((carry % 10) as u8);
            carry /= 10;
        }
        front.reverse();
        front.append(&mut self.digits);
        self.digits = front;
    }

    /// Drops the digits below an exponent; rounds up, away from zero.
    pub(super) fn round_up(&mut self, exponent: i64) {
        let Ok(dropped) = usize::try_from(exponent.saturating_sub(self.exponent)) else { return };
        if dropped == 0 || self.is_zero() {
            return;
        }
        let kept = self.digits.len().saturating_sub(dropped);
        let lost = self.digits.split_off(kept);
        self.exponent = exponent;
        if lost.iter().any(|digit| *digit != 0) {
            self.increment();
        }
    }

    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
    }

    /// Appends zeros, so that the exponent is lower; does nothing if those were too many.
    pub(super) fn extend(&mut self, exponent: i64) {
        let zeros = usize::try_from(self.exponent.saturating_sub(exponent)).unwrap_or(0);
        if self.is_zero() || self.digits.len().saturating_add(zeros) > MAX_DIGITS {
            return;
        }
        self.digits.extend(std::iter::repeat_n(0, zeros));
        self.exponent -= zeros as i64;
    }

    pub(super) fn compare(&self, other: &Decimal) -> Ordering {
        let signs = self.signum().cmp(&other.signum());
        if signs != Ordering::Equal || self.is_zero() {
            return signs;
        }
        let sizes = self.compare_size(other);
        if self.is_negative { sizes.reverse() } else { sizes }
    }

    /// Compares numbers that are not zero without their signs.
    fn compare_size(&self, other: &Decimal) -> Ordering {
        let height = |number: &Decimal| number.exponent.saturating_add(number.digits.len() as i64);
        height(self).cmp(&height(other)).then_with(|| {
            let length = self.digits.len().max(other.digits.len());
            let padded = |number: &Decimal| {
                let digits = number.digits.clone().into_iter();
                digits.chain(std::iter::repeat(0)).take(length)
            };
            padded(self).cmp(padded(other))
        })
    }

    /// The sum; none if it had too many digits.
    pub(super) fn plus(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() || self.is_zero() {
            return Some(if self.is_zero() { other.clone() } else { self.clone() });
        }
        let exponent = self.exponent.min(other.exponent);
        let (mut left, mut right) = (self.clone(), other.clone());
        left.extend(exponent);
        right.extend(exponent);
        if left.exponent != right.exponent {
            return None;
        }
        if left.compare_size(&right) == Ordering::Less {
            std::mem::swap(&mut left, &mut right);
        }
        let direction = if left.is_negative == right.is_negative { 1 } else { -1 };
        let length = left.digits.len() + 1;
        let places = |number: &Decimal| {
            let digits = number.digits.clone().into_iter().rev();
            digits.map(i32::from).chain(std::iter::repeat(0)).take(length)
        };
        let mut carry = 0;
        let mut digits: Vec<u8> = Vec::with_capacity(length);
        for (a, b) in places(&left).zip(places(&right)) {
            let sum = a + direction * b + carry;
            carry = sum.div_euclid(10);
            digits.push(sum.rem_euclid(10) as u8);
        }
        let digits = digits.into_iter().rev().skip_while(|digit| *digit == 0).collect();
        Some(Decimal { digits, ..left })
    }
}
