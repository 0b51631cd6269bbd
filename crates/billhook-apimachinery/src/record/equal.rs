//! Equality of documents of a fixed type, as the server sees it when it compares versions (CV-05).

use crate::value::{deep_eq, grow};
use serde_json::{Map, Value};

use super::{Field, Record, Type};

/// Whether two documents of a type are equal: empty lists, maps and texts equal missing ones.
pub fn same(left: Option<&Value>, right: Option<&Value>, type_: Type) -> bool {
    let (left, right) = (left.filter(|v| !v.is_null()), right.filter(|v| !v.is_null()));
    match type_ {
        Type::Text(_) => {
            left.and_then(Value::as_str).unwrap_or_default()
                == right.and_then(Value::as_str).unwrap_or_default()
        }
        Type::Flag => {
            left.and_then(Value::as_bool).unwrap_or_default()
                == right.and_then(Value::as_bool).unwrap_or_default()
        }
        Type::Int(_) => left.map_or(0, integer) == right.map_or(0, integer),
        Type::OptionalInt(_) => left.map(integer) == right.map(integer),
        Type::OptionalFloat => left.and_then(Value::as_f64) == right.and_then(Value::as_f64),
        Type::Record(record) => same_record(left, right, record),
        Type::Records(record) => {
            let items =
                |value: Option<&'_ Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
            items(left) == items(right)
                && pairs(left, right)
                    .all(|(left, right)| same_record(Some(left), Some(right), record))
        }
        Type::RecordMap(record, _) => {
            same_map(left, right, |left, right| same_record(Some(left), Some(right), record))
        }
        Type::RecordsOrTexts(record, _) => same_map(left, right, |left, right| {
            same(Some(left), Some(right), Type::RecordOrList(record))
        }),
        Type::Texts(_) | Type::Anys | Type::TextMap => match (left, right) {
            (Some(left), Some(right)) => deep_eq(left, right),
            (one, other) => one.or(other).is_none_or(is_empty),
        },
        _ => match (left, right) {
            (None, None) => true,
            (Some(left @ Value::Object(_)), Some(right @ Value::Object(_))) => match type_ {
                Type::OptionalRecord(record)
                | Type::RecordOrList(record)
                | Type::RecordOrFlag(record) => same_record(Some(left), Some(right), record),
                _ => deep_eq(left, right),
            },
            (Some(left @ Value::Array(_)), Some(right @ Value::Array(_))) => match type_ {
                Type::RecordOrList(record) => same(Some(left), Some(right), Type::Records(record)),
                _ => deep_eq(left, right),
            },
            (Some(left), Some(right)) => deep_eq(left, right),
            _ => false,
        },
    }
}

/// Whole floats are integers too (OM-03).
fn integer(value: &Value) -> i64 {
    value.as_i64().or_else(|| Some(value.as_f64()? as i64)).unwrap_or_default()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn pairs<'v>(
    left: Option<&'v Value>,
    right: Option<&'v Value>,
) -> impl Iterator<Item = (&'v Value, &'v Value)> {
    let items = |value: Option<&'v Value>| value.and_then(Value::as_array).into_iter().flatten();
    items(left).zip(items(right))
}

fn same_record(left: Option<&Value>, right: Option<&Value>, record: &'static Record) -> bool {
    grow(|| {
        record.fields.iter().all(|Field(name, _, type_)| {
            same(left.and_then(|v| v.get(name)), right.and_then(|v| v.get(name)), *type_)
        })
    })
}

fn same_map(
    left: Option<&Value>,
    right: Option<&Value>,
    same: impl Fn(&Value, &Value) -> bool,
) -> bool {
    let empty = Map::new();
    let left = left.and_then(Value::as_object).unwrap_or(&empty);
    let right = right.and_then(Value::as_object).unwrap_or(&empty);
    left.len() == right.len()
        && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| same(left, right)))
}
