//! `maximum`, `minimum`, `multipleOf` and the ranges of numeric types (VV-25 to VV-29).

use std::cmp::Ordering;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::print::plain_float;
use billhook_apimachinery::value::Num;
use serde_json::Value;

use crate::edition::EDITIONS;
use crate::types::{TypeList, is_whole};

/// A bound and whether it is itself excluded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    pub(crate) exclusive: bool,
}

/// The numeric keywords of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) context: Context,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    /// Integers in this range are valid, if there is one; others may be.
    pub(crate) ints: Option<(i64, i64)>,
}

/// The single numeric type of a node with its format, which restricts numbers to a range (VV-25).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Context {
    #[default]
    None,
    Integer,
    Int32,
    Int64,
    Number,
    Float,
    Double,
}

impl Context {
    /// None on servers that do not know the ranges of types (KV-60).
    pub(crate) fn new(types: &TypeList, format: &str, kubernetes: KubernetesVersion) -> Self {
        match (types.single(), format) {
            _ if !EDITIONS.of(kubernetes).has_ranges => Context::None,
            (Some("integer"), "int32") => Context::Int32,
            (Some("integer"), "int64") => Context::Int64,
            (Some("integer"), _) => Context::Integer,
            (Some("number"), "float") => Context::Float,
            (Some("number"), "double") => Context::Double,
            (Some("number"), _) => Context::Number,
            _ => Context::None,
        }
    }

    /// The format as errors name it. Defaults keep formats that say nothing about their type; here
    /// they don't count.
    pub(crate) fn format_text(self) -> &'static str {
        match self {
            Context::None | Context::Integer | Context::Number => "(default format)",
            Context::Int32 => "with format int32",
            Context::Int64 => "with format int64",
            Context::Float => "with format float",
            Context::Double => "with format double",
        }
    }

    /// Whether every number is in range.
    fn is_unbounded(self) -> bool {
        matches!(self, Context::None | Context::Number | Context::Double)
    }

    fn holds(self, number: Num) -> bool {
        match self {
            Context::None | Context::Number | Context::Double => true,
            Context::Int32 => number.to_i32().is_some(),
            // The digits of a double are the shortest ones, and so those of the least integer stand
            // for one below it.
            Context::Integer | Context::Int64 => match number {
                Num::Int(_) => true,
                Num::Float(float) => number.to_i64().is_some() && float > i64::MIN as f64,
            },
            Context::Float => (number.as_f64() as f32).is_finite(),
        }
    }
}

/// An error in a number, without its place.
#[derive(Debug, PartialEq)]
pub(crate) enum NumberError {
    /// The value or an operand is out of the type's range; names which one (VV-25).
    Range(&'static str),
    /// The factor of `multipleOf` is not positive (VV-28).
    Factor(Value),
    /// The value as it was compared, and the value that it should be.
    Should(Value, String),
}

/// The number that a keyword names, as a value is compared with it (VV-26, VV-27).
#[derive(Clone, Copy)]
enum Operand {
    /// An integer meets a bound cut to an integer.
    Ints(i64, i64),
    /// Everything else is compared as doubles.
    Floats(f64, f64),
}

impl Operand {
    /// The error that a value should be something else.
    fn should(self, relation: &str) -> NumberError {
        let value = match self {
            Operand::Ints(value, _) => Value::from(value),
            Operand::Floats(value, _) => Value::from(value),
        };
        NumberError::Should(value, format!("{relation} {}", self.text()))
    }

    fn text(self) -> String {
        match self {
            Operand::Ints(_, operand) => operand.to_string(),
            Operand::Floats(_, operand) => plain_float(operand),
        }
    }
}

impl Numbers {
    /// Whether a check can find anything.
    pub(crate) fn can_fail(&self) -> bool {
        !self.context.is_unbounded()
            || self.multiple_of.is_some()
            || self.minimum.is_some()
            || self.maximum.is_some()
    }

    /// Whether all integers that fit `i64` are valid.
    pub(crate) fn admits_all_ints(&self) -> bool {
        self.ints == Some((i64::MIN, i64::MAX))
    }

    /// Whether a check finds nothing.
    pub(crate) fn admit(&self, number: Num) -> bool {
        if let (Some((least, greatest)), Num::Int(int)) = (self.ints, number)
            && (least..=greatest).contains(&int)
        {
            return true;
        }
        self.passes_check(number)
    }

    #[inline(never)]
    fn passes_check(&self, number: Num) -> bool {
        let mut is_valid = true;
        self.check(number, |_| is_valid = false);
        is_valid
    }

    /// The range of integers that are surely valid (VV-25 to VV-27).
    pub(crate) fn valid_ints(&self) -> Option<(i64, i64)> {
        let is_ranged = |bound: &Bound| self.context.holds(Num::Float(bound.value));
        let bounds = [self.minimum, self.maximum];
        if self.multiple_of.is_some() || !bounds.iter().flatten().all(is_ranged) {
            return None;
        }
        let (mut least, mut greatest) = match self.context {
            Context::Int32 => (i32::MIN.into(), i32::MAX.into()),
            _ => (i64::MIN, i64::MAX),
        };
        if let Some(bound) = self.minimum {
            let excluded = i64::from(bound.exclusive);
            least = least.max(truncate(bound.value).checked_add(excluded)?);
        }
        if let Some(bound) = self.maximum {
            let excluded = i64::from(bound.exclusive);
            greatest = greatest.min(truncate(bound.value).checked_sub(excluded)?);
        }
        Some((least, greatest))
    }

    /// Checks a number; errors are in the order of VV-29.
    pub(crate) fn check(&self, number: Num, mut report: impl FnMut(NumberError)) {
        if !self.context.holds(number) {
            report(NumberError::Range("Checked"));
        }
        if let Some(factor) = self.multiple_of {
            let operand = self.operand(number, factor, "MultipleOf", &mut report);
            if let Some(error) = check_multiple(operand) {
                report(error);
            }
        }
        for (bound, name, wrong, than) in [
            (self.minimum, "Minimum boundary", Ordering::Less, "greater than"),
            (self.maximum, "Maximum boundary", Ordering::Greater, "less than"),
        ] {
            let Some(bound) = bound else { continue };
            let operand = self.operand(number, bound.value, name, &mut report);
            let order = match operand {
                Operand::Ints(value, bound) => Some(value.cmp(&bound)),
                Operand::Floats(value, bound) => value.partial_cmp(&bound),
            };
            if order == Some(wrong) || bound.exclusive && order == Some(Ordering::Equal) {
                let or_equal = if bound.exclusive { "" } else { " or equal to" };
                report(operand.should(&format!("{than}{or_equal}")));
            }
        }
    }

    fn operand(
        &self,
        number: Num,
        operand: f64,
        name: &'static str,
        report: &mut impl FnMut(NumberError),
    ) -> Operand {
        if !self.context.holds(Num::Float(operand)) {
            report(NumberError::Range(name));
            return Operand::Floats(number.as_f64(), operand);
        }
        match number {
            Num::Int(value) => Operand::Ints(value, truncate(operand)),
            Num::Float(value) => Operand::Floats(value, operand),
        }
    }
}

/// A double cut to a 64-bit integer as the server's processors do it: values that do not fit become
/// the smallest one (VV-27).
pub(crate) fn truncate(float: f64) -> i64 {
    Num::Float(float.trunc()).to_i64().unwrap_or(i64::MIN)
}

fn check_multiple(operand: Operand) -> Option<NumberError> {
    let (is_positive, is_multiple) = match operand {
        Operand::Ints(value, factor) => (factor > 0, factor > 0 && value % factor == 0),
        Operand::Floats(value, factor) => {
            let quotient = if factor < 1.0 { 1.0 / factor * value } else { value / factor };
            (factor > 0.0, is_whole(quotient))
        }
    };
    match (is_positive, operand) {
        (false, Operand::Ints(_, factor)) => Some(NumberError::Factor(factor.into())),
        (false, Operand::Floats(_, factor)) => Some(NumberError::Factor(factor.into())),
        (true, _) if !is_multiple => Some(operand.should("a multiple of")),
        _ => None,
    }
}
