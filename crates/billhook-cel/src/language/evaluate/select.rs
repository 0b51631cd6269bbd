//! Selection of fields, entries and elements.

use billhook_apimachinery::print::json_float;
use billhook_apimachinery::value::Num;

use crate::language::schema::SchemaKind;
use crate::language::value::{EvaluationError, Map, Outcome, Value};

/// Returns the part of a value for a key; `None` if it is missing and that is not an error.
#[inline]
pub(super) fn find<'a>(
    value: &Value<'a>,
    key: &Value<'_>,
    may_be_missing: bool,
) -> Result<Option<Value<'a>>, EvaluationError> {
    match value {
        Value::Map(map) => {
            let found = match (map, key) {
                (_, Value::String(name)) => map.field(name.as_str()),
                (Map::Json(_, schema), _) if !matches!(schema.kind, SchemaKind::Any) => {
                    return Err(EvaluationError::NoSuchOverload);
                }
                _ => map.get(key),
            };
            or_missing(found, may_be_missing, || no_such_key(key))
        }
        Value::List(list) => {
            let index = usize::try_from(index(key)?).ok();
            let found = index.and_then(|index| list.get(index));
            or_missing(found, may_be_missing, || {
                EvaluationError::new(format!("index out of bounds: {}", key_text(key)))
            })
        }
        _ => or_missing(None, may_be_missing, || no_such_key(key)),
    }
}

#[inline]
fn or_missing<'a>(
    found: Option<Outcome<'a>>,
    may_be_missing: bool,
    error: impl FnOnce() -> EvaluationError,
) -> Result<Option<Value<'a>>, EvaluationError> {
    match found {
        Some(found) => found.map(Some),
        None if may_be_missing => Ok(None),
        None => Err(error()),
    }
}

#[cold]
fn no_such_key(key: &Value<'_>) -> EvaluationError {
    EvaluationError::new(format!("no such key: {}", key_text(key)))
}

/// A number without a fraction as an index.
fn index(key: &Value<'_>) -> Result<i64, EvaluationError> {
    let unsupported =
        || EvaluationError::new(format!("unsupported index value {} in list", key_text(key)));
    match key {
        Value::Int(int) => Ok(*int),
        Value::Uint(uint) => i64::try_from(*uint).map_err(|_| unsupported()),
        Value::Double(double) => Num::Float(*double).to_i64().ok_or_else(unsupported),
        _ => {
            let found = key.type_name();
            Err(EvaluationError::new(format!("unsupported index type '{found}' in list")))
        }
    }
}

fn key_text(key: &Value<'_>) -> String {
    match key {
        Value::String(text) => text.as_str().to_owned(),
        Value::Int(int) => int.to_string(),
        Value::Uint(uint) => uint.to_string(),
        Value::Double(double) => json_float(*double),
        Value::Bool(value) => value.to_string(),
        other => other.type_name().to_string(),
    }
}
