//! Equality of documents of a fixed type, as the server sees it when it compares versions (CV-05).

use crate::value::{Num, deep_eq, grow};
use serde_json::{Map, Value};

use super::{Record, Type};

/// Whether two documents of a type are equal: empty lists, maps and texts equal missing ones.
pub fn same(left: Option<&Value>, right: Option<&Value>, type_: Type) -> bool {
    let (left, right) = (left.filter(|v| !v.is_null()), right.filter(|v| !v.is_null()));
    match type_ {
        Type::Named(_, type_) => same(left, right, *type_),
        Type::Text => {
            left.and_then(Value::as_str).unwrap_or_default()
                == right.and_then(Value::as_str).unwrap_or_default()
        }
        Type::Flag => {
            left.and_then(Value::as_bool).unwrap_or_default()
                == right.and_then(Value::as_bool).unwrap_or_default()
        }
        Type::Int32 | Type::Int64 => {
            let integer = |value: &Value| number(value).to_i64().unwrap_or_default();
            left.map_or(0, integer) == right.map_or(0, integer)
        }
        Type::Float => {
            let float = |value: &Value| number(value).as_f64();
            left.map_or(0.0, float) == right.map_or(0.0, float)
        }
        Type::Record(table) => same_record(left, right, table()),
        Type::List(item) => {
            let (left, right) = (items(left), items(right));
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(Some(left), Some(right), *item))
        }
        Type::Map(member) => same_map(left, right, *member),
        _ => match (left, right) {
            (None, None) => true,
            (Some(left), Some(right)) => same_present(left, right, type_),
            _ => false,
        },
    }
}

fn same_present(left: &Value, right: &Value, type_: Type) -> bool {
    let (some_left, some_right) = (Some(left), Some(right));
    match (type_, left, right) {
        (Type::Optional(type_), ..) => same(some_left, some_right, *type_),
        (
            Type::RecordOrList(table) | Type::RecordOrFlag(table) | Type::RecordOrTexts(table),
            Value::Object(_),
            Value::Object(_),
        ) => same_record(some_left, some_right, table()),
        (Type::RecordOrList(table), Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same_record(Some(left), Some(right), table()))
        }
        _ => deep_eq(left, right),
    }
}

fn number(value: &Value) -> Num {
    match value {
        Value::Number(number) => Num::of(number),
        _ => Num::Int(0),
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn same_record(left: Option<&Value>, right: Option<&Value>, record: &'static Record) -> bool {
    grow(|| {
        record.fields.iter().all(|field| {
            same(
                left.and_then(|v| v.get(field.name)),
                right.and_then(|v| v.get(field.name)),
                field.type_,
            )
        })
    })
}

fn same_map(left: Option<&Value>, right: Option<&Value>, member: Type) -> bool {
    let empty = Map::new();
    let left = left.and_then(Value::as_object).unwrap_or(&empty);
    let right = right.and_then(Value::as_object).unwrap_or(&empty);
    left.len() == right.len()
        && left.iter().all(|(name, left)| {
            right.get(name).is_some_and(|right| same(Some(left), Some(right), member))
        })
}
