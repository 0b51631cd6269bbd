//! Values of the wrong type in a strategic merge patch: a server converts the patched object to its type
//! field by field, with texts of its own (BK-27).

use billhook_apimachinery::record::{Record, Type};
use billhook_apimachinery::value::grow;
use serde_json::Value;

/// Returns the server's text about the first value that its field cannot hold, in the order of the
/// fields; none if all values fit.
pub(super) fn mismatch(object: &Value, record: &'static Record) -> Option<String> {
    let Value::Object(members) = object else {
        return Some(format!("cannot restore struct from: {}", go_kind(object)));
    };
    record.fields.iter().find_map(|field| {
        let value = members.get(field.name).filter(|value| !value.is_null())?;
        grow(|| of_type(value, field.type_, None))
    })
}

/// The text about a value; `name` is that of its type, if it has one.
fn of_type(value: &Value, type_: Type, name: Option<&str>) -> Option<String> {
    match type_ {
        Type::Named(name, type_) => of_type(value, *type_, Some(name)),
        Type::Optional(type_) => of_type(value, *type_, name),
        Type::Record(table) => mismatch(value, table()),
        Type::Text | Type::Parsed(_) => match value {
            Value::String(_) => None,
            Value::Number(number) if !number.is_f64() => {
                Some(format!("cannot convert int64 to {}", name.unwrap_or("string")))
            }
            _ => Some("unrecognized type: string".to_owned()),
        },
        Type::Flag => match value {
            Value::Bool(_) => None,
            _ => Some("unrecognized type: bool".to_owned()),
        },
        Type::Int32 => integer(value, "int32"),
        Type::Int64 => integer(value, "int64"),
        Type::Float => match value {
            Value::Number(_) => None,
            _ => Some("unrecognized type: float64".to_owned()),
        },
        Type::List(item) => match value {
            Value::Array(items) => items
                .iter()
                .filter(|item| !item.is_null())
                .find_map(|value| grow(|| of_type(value, *item, None))),
            _ => Some(format!("cannot restore slice from {}", go_kind(value))),
        },
        Type::Bytes => match value {
            Value::String(_) => None,
            _ => Some(format!("cannot restore slice from {}", go_kind(value))),
        },
        Type::Map(item) => match value {
            Value::Object(members) => members
                .values()
                .filter(|value| !value.is_null())
                .find_map(|value| grow(|| of_type(value, *item, None))),
            _ => Some(format!("cannot restore map from {}", go_kind(value))),
        },
        // Types with a form of their own in JSON have the errors of decoding.
        _ => None,
    }
}

fn integer(value: &Value, type_: &str) -> Option<String> {
    match value {
        Value::Number(number) if !number.is_f64() => None,
        Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() == 0.0) => None,
        Value::Number(_) => Some(format!("cannot convert float64 to {type_}")),
        _ => Some(format!("unrecognized type: {type_}")),
    }
}

/// The kind of a value in the language of the server.
fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}
