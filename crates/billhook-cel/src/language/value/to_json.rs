//! Values as JSON, as a server writes those of JSON patches (PO-75).

use billhook_apimachinery::base64;
use billhook_apimachinery::value::{Num, deep_clone, grow};
use serde_json::{Map as JsonMap, Number, Value as Json};

use super::time::{duration_text, timestamp_text};
use super::{EvaluationError, List, Map, Value};

/// The largest integer that is a number in JSON; others are text.
const LARGEST: u64 = (1 << 53) - 1;

impl Value<'_> {
    /// Returns the value as JSON: integers that a float does not hold exactly are text, floats
    /// without a fraction integers; bytes, times and lengths of time are text. In objects that the
    /// expression made, integers become floats before (PO-75).
    ///
    /// # Errors
    ///
    /// If the value or a part of it has no form in JSON.
    pub fn to_json(&self) -> Result<Json, EvaluationError> {
        to_json(self, false)
    }
}

fn to_json(value: &Value<'_>, in_object: bool) -> Result<Json, EvaluationError> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(int) if in_object => float(*int as f64),
        Value::Uint(uint) if in_object => float(*uint as f64),
        Value::Int(int) if int.unsigned_abs() > LARGEST => Json::String(int.to_string()),
        Value::Uint(uint) if *uint > LARGEST => Json::String(uint.to_string()),
        Value::Int(int) => Json::from(*int),
        Value::Uint(uint) => Json::from(*uint),
        Value::Double(double) => float(*double),
        Value::String(text) => Json::String(text.as_str().to_owned()),
        Value::Bytes(bytes) => Json::String(base64::encode(bytes)),
        Value::Duration(duration) => Json::String(duration_text(*duration)),
        Value::Timestamp(time) => Json::String(timestamp_text(*time)),
        Value::List(List::Json(items, _)) => Json::Array(items.iter().map(deep_clone).collect()),
        Value::List(list) => {
            let items = list.iter().map(|item| to_json(&item?, in_object));
            Json::Array(grow(|| items.collect::<Result<_, _>>())?)
        }
        Value::Map(Map::Json(members, _)) => {
            let members = members.iter().map(|(name, value)| (name.clone(), deep_clone(value)));
            Json::Object(members.collect())
        }
        Value::Map(map) => {
            let in_object = in_object || map.type_name().is_some();
            let entry = |(key, value): (Value<'_>, Result<Value<'_>, EvaluationError>)| match key {
                Value::String(key) => Ok((key.as_str().to_owned(), to_json(&value?, in_object)?)),
                key => Err(unsupported(&key)),
            };
            let entries = map.entries().into_iter().map(entry);
            Json::Object(grow(|| entries.collect::<Result<JsonMap<_, _>, _>>())?)
        }
        Value::Optional(Some(value)) => return grow(|| to_json(value, in_object)),
        Value::Optional(None) | Value::Type(_) | Value::Opaque(_) => {
            return Err(unsupported(value));
        }
    })
}

fn unsupported(value: &Value<'_>) -> EvaluationError {
    EvaluationError::new(format!("type conversion not supported for '{}'", value.type_name()))
}

/// Writes a float; one without a fraction as an integer.
fn float(float: f64) -> Json {
    match Num::Float(float).to_i64() {
        Some(int) => Json::from(int),
        None => Number::from_f64(float).map_or(Json::Null, Json::Number),
    }
}
