//! Bounds of numbers, `multipleOf` and the ranges of numeric types (VV-25 to VV-28).
//!
//! A server compares integers with bounds that are cut to integers, and everything else as doubles.
//! Whole numbers that doubles hold exactly mean the same in both ways; only between those is
//! anything concluded.

use billhook_schema::JsonSchemaProps;
use serde_json::Value;

use super::Kinds;
use super::attempt::Unmet;
use super::known::Known;

/// Up to here, doubles hold all whole numbers.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A bound of numbers on one side, as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    value: f64,
    exclusive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
}

impl Side {
    fn of(self, schema: &JsonSchemaProps) -> Option<Bound> {
        let (value, exclusive) = match self {
            Side::Lower => (schema.minimum, schema.exclusive_minimum),
            Side::Upper => (schema.maximum, schema.exclusive_maximum),
        };
        value.map(|value| Bound { value, exclusive })
    }

    /// Whether all numbers within one bound are within another one.
    fn implies(self, held: Bound, wanted: Bound) -> bool {
        if held == wanted {
            return true;
        }
        let is_exact = |bound: Bound| bound.value.fract() == 0.0 && bound.value.abs() < MAX_EXACT;
        let is_tighter = match self {
            Side::Lower => held.value > wanted.value,
            Side::Upper => held.value < wanted.value,
        };
        is_exact(held)
            && is_exact(wanted)
            && (is_tighter || (held.value == wanted.value && (held.exclusive || !wanted.exclusive)))
    }
}

/// The demands of a schema on numbers that do not follow from what is known.
pub(super) fn unmet(known: &Known<'_>, target: &JsonSchemaProps, found: &mut Vec<Unmet>) {
    if !known.kinds.include(Kinds::WHOLE.or(Kinds::FRACTION)) {
        return;
    }
    for (side, keyword) in [(Side::Lower, "minimum"), (Side::Upper, "maximum")] {
        let Some(wanted) = side.of(target) else { continue };
        let mut held = known.holds.iter().filter_map(|schema| side.of(schema));
        if !fits(wanted.value, target) || !held.any(|held| side.implies(held, wanted)) {
            found.push(Unmet::new(keyword, outside(wanted, side, known)));
        }
    }
    if let Some(wanted) = target.multiple_of {
        let mut held = known.holds.iter().filter_map(|schema| schema.multiple_of);
        if !fits(wanted, target) || !held.any(|held| held == wanted) {
            let values = [1, 2, 3, 5, 7].map(|step| (wanted as i64).saturating_add(step));
            let values = values.into_iter().chain([1]).map(Value::from).chain([0.5.into()]);
            found.push(Unmet::new("multipleOf", values.collect()));
        }
    }
    let Some(wanted) = range(target).filter(|range| *range != Range::ALL) else { return };
    // Whole numbers beyond these do not count as integers (VV-14).
    let whole = (!known.kinds.include(Kinds::FRACTION)).then_some(Range::INT64);
    let mut held = known.holds.iter().filter_map(|held| range(held)).chain(whole);
    let is_bounded =
        [(Side::Lower, i32::MIN), (Side::Upper, i32::MAX)].iter().all(|(side, end)| {
            let end = Bound { value: f64::from(*end), exclusive: false };
            known.holds.iter().filter_map(|held| side.of(held)).any(|held| side.implies(held, end))
        });
    let is_listed = known.enumeration().is_some_and(|mut entries| {
        entries.all(|entry| entry.as_i64().is_none_or(|entry| i32::try_from(entry).is_ok()))
    });
    if !is_bounded && !is_listed && !held.any(|held| held.0 <= wanted.0) {
        let wide = [2_147_483_648_i64, -2_147_483_649].map(Value::from).into_iter();
        let wide = wide.chain([1e300.into(), 1e20.into(), (-1e20).into()]);
        found.push(Unmet::new("format", wide.collect()));
    }
}

/// Numbers outside of a bound, the nearest first.
fn outside(wanted: Bound, side: Side, known: &Known<'_>) -> Vec<Value> {
    let step = if side == Side::Lower { -1.0 } else { 1.0 };
    let mut numbers = vec![wanted.value + step];
    if wanted.exclusive {
        numbers.insert(0, wanted.value);
    }
    if known.kinds.include(Kinds::FRACTION) {
        numbers.push(wanted.value + step / 2.0);
    }
    let held = known.holds.iter().filter_map(|schema| schema.multiple_of).find(|by| *by >= 1.0);
    if let Some(by) = held {
        let multiple = match side {
            Side::Lower => ((wanted.value - 1.0) / by).floor() * by,
            Side::Upper => ((wanted.value + 1.0) / by).ceil() * by,
        };
        numbers.push(multiple);
    }
    // Bounds that the value keeps.
    numbers.extend(known.holds.iter().filter_map(|schema| side.of(schema)).map(|own| own.value));
    numbers.into_iter().map(number).collect()
}

/// A number as JSON, without a fraction if it is whole.
pub(super) fn number(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < MAX_EXACT {
        true => Value::from(number as i64),
        false => Value::from(number),
    }
}

/// Whether an operand is in the range of its type: otherwise no number is valid (VV-25).
fn fits(operand: f64, schema: &JsonSchemaProps) -> bool {
    match (schema.type_.as_str(), schema.format.as_str()) {
        ("integer", "int32") => operand.abs() < 2_147_483_648.0 && operand.fract() == 0.0,
        ("integer", _) => operand.abs() < MAX_EXACT && operand.fract() == 0.0,
        ("number", "float") => (operand as f32).is_finite(),
        _ => true,
    }
}

/// The numbers that a type with its format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range(u8);

impl Range {
    const INT32: Range = Range(0);
    const INT64: Range = Range(1);
    const FLOAT: Range = Range(2);
    const ALL: Range = Range(3);
}

/// None for a type that holds no numbers.
fn range(schema: &JsonSchemaProps) -> Option<Range> {
    match (schema.type_.as_str(), schema.format.as_str()) {
        _ if schema.int_or_string => Some(Range::ALL),
        ("integer", "int32") => Some(Range::INT32),
        ("integer", _) => Some(Range::INT64),
        ("number", "float") => Some(Range::FLOAT),
        ("number" | "", _) => Some(Range::ALL),
        _ => None,
    }
}
