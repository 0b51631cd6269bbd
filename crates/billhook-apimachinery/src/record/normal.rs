//! Whether a document is as its record writes it, so that it need not be read and written again.

use serde_json::{Map, Value};

use super::{Record, Type};
use crate::time::is_normal_time;
use crate::value::{Num, grow, has_floats};

/// Whether reading a record and writing it returns the same document. False may also mean that only
/// doing it could tell.
pub(crate) fn is_normal(members: &Map<String, Value>, record: &Record) -> bool {
    grow(|| {
        let mut required = record.fields.iter().filter(|field| field.is_required);
        required.all(|field| members.contains_key(field.name))
            && members.iter().all(|(name, value)| {
                record.field(name).is_some_and(|field| {
                    (field.is_required || !is_empty(value)) && is_written(value, field.type_)
                })
            })
    })
}

/// Whether a field with this value is left out; of an optional one that may be wrong.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => Num::of(number) == Num::Int(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Whether a value of a type is written as it is.
fn is_written(value: &Value, type_: Type) -> bool {
    match (type_, value) {
        (Type::Named(_, type_), _) => is_written(value, *type_),
        (Type::Optional(type_), _) => !value.is_null() && is_written(value, *type_),
        (Type::Text, Value::String(_)) | (Type::Flag, Value::Bool(_)) => true,
        (Type::Int64, Value::Number(number)) => matches!(Num::of(number), Num::Int(_)),
        (Type::Time, Value::String(text)) => is_normal_time(text.as_bytes()),
        (Type::Any, _) => !has_floats(value),
        (Type::Record(table), Value::Object(members)) => is_normal(members, table()),
        (Type::List(type_), Value::Array(items)) => {
            items.iter().all(|item| is_written(item, *type_))
        }
        (Type::Map(type_), Value::Object(members)) => {
            members.values().all(|member| is_written(member, *type_))
        }
        _ => false,
    }
}
