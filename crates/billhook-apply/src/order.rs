//! The order of values, and when two are equal (SA-12).

use std::cmp::Ordering;

use billhook_apimachinery::value::{Num, grow, have_equal_parts, sorted};
use serde_json::Value;

/// Compares two values: numbers before strings, booleans, arrays, objects and null (SA-12).
pub(crate) fn compare_values(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => grow(|| {
            let mut orders =
                left.iter().zip(right).map(|(left, right)| compare_values(left, right));
            let first = orders.find(|order| order.is_ne());
            first.unwrap_or_else(|| left.len().cmp(&right.len()))
        }),
        (Value::Object(left), Value::Object(right)) => grow(|| {
            let (left, right) = (sorted(left), sorted(right));
            let pairs = left.iter().zip(&right);
            let mut orders = pairs.map(|(left, right)| {
                left.0.cmp(right.0).then_with(|| compare_values(left.1, right.1))
            });
            let first = orders.find(|order| order.is_ne());
            first.unwrap_or_else(|| left.len().cmp(&right.len()))
        }),
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Whether two values are equal; integers and floats are compared as numbers.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match left {
        Value::Array(_) | Value::Object(_) => have_equal_parts(left, right, equal),
        _ => compare_values(left, right).is_eq(),
    }
}

fn compare_numbers(left: &serde_json::Number, right: &serde_json::Number) -> Ordering {
    match (Num::of(left), Num::of(right)) {
        (Num::Int(left), Num::Int(right)) => left.cmp(&right),
        // No number in JSON is without an order.
        (left, right) => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}
