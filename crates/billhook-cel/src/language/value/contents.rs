//! The contents of lists and maps, whatever their source. Parts of objects are converted according
//! to their schema when they are read (CE-04, CE-06).

use std::sync::Arc;

use billhook_apimachinery::base64;
use billhook_apimachinery::value::{Num, go_type};
use serde_json::Value as Json;

use super::{ANY, EvaluationError, List, Map, Outcome, Text, Value, time};
use crate::language::schema::{Field, ListType, SchemaKind, SchemaType, names};

impl<'a> Value<'a> {
    /// Returns a part of an object as CEL sees it.
    ///
    /// # Errors
    ///
    /// If the value does not have the type in its schema (CE-06).
    pub fn of(json: &'a Json, schema: &'a SchemaType) -> Result<Self, EvaluationError> {
        Ok(match (&schema.kind, json) {
            (_, Json::Null) => Value::Null,
            (SchemaKind::Any, _) => any(json),
            (SchemaKind::Object { .. } | SchemaKind::Map(_), Json::Object(members)) => {
                Value::Map(Map::Json(members, schema))
            }
            (SchemaKind::List(_), Json::Array(items)) => Value::List(List::Json(items, schema)),
            (SchemaKind::String | SchemaKind::IntOrString, Json::String(text)) => {
                Value::String(Text::Borrowed(text))
            }
            (SchemaKind::Bool, Json::Bool(value)) => Value::Bool(*value),
            (SchemaKind::Int, Json::Number(number)) => match Num::of(number) {
                Num::Int(int) => Value::Int(int),
                Num::Float(_) => return Err(mismatch(json, schema)),
            },
            (SchemaKind::IntOrString, Json::Number(number)) if number.is_i64() => {
                Value::Int(number.as_i64().unwrap_or_default())
            }
            (SchemaKind::Double, Json::Number(number)) => Value::Double(Num::of(number).as_f64()),
            (SchemaKind::Bytes, Json::String(text)) => match base64::decode(text) {
                Ok(bytes) => Value::Bytes(bytes.into()),
                Err(_) => return invalid("byte", text),
            },
            (SchemaKind::Date, Json::String(text)) => match time::date(text) {
                Some(time) => Value::Timestamp(time),
                None => return invalid("date", text),
            },
            (SchemaKind::DateTime, Json::String(text)) => match time::date_time(text) {
                Some(time) => Value::Timestamp(time),
                None => return invalid("date-time", text),
            },
            (SchemaKind::Duration, Json::String(text)) => {
                match billhook_validation::parse_duration(text) {
                    Some(duration) => Value::Duration(duration),
                    None => return invalid("duration", text),
                }
            }
            _ => return Err(mismatch(json, schema)),
        })
    }

    /// JSON as CEL sees it without a schema: integers that fit are int, other numbers double.
    pub fn any(json: &'a Json) -> Self {
        any(json)
    }

    /// Returns the value; its text is borrowed, not shared.
    pub(crate) fn lend(&'a self) -> Value<'a> {
        match self {
            Value::String(text) => Value::String(Text::Borrowed(text.as_str())),
            value => value.clone(),
        }
    }

    /// Returns a value read from one that may be missing: a part of an object is then JSON without
    /// a schema.
    pub(crate) fn without_schema(self) -> Self {
        match self {
            Value::List(List::Json(items, _)) => Value::List(List::Json(items, &ANY)),
            Value::List(List::Merged(values, _)) => Value::List(List::Values(values)),
            Value::Map(Map::Json(members, _)) => Value::Map(Map::Json(members, &ANY)),
            value => value,
        }
    }

    /// Text that an expression makes.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Value::String(text.into().into())
    }

    /// A list that an expression makes.
    pub(crate) fn list(values: Vec<Value<'a>>) -> Self {
        Value::List(List::Values(Arc::new(values)))
    }

    /// Returns the number of elements, entries, characters or bytes of a value that has a length.
    pub(crate) fn size(&self) -> Option<usize> {
        match self {
            Value::String(text) => Some(text.as_str().chars().count()),
            Value::Bytes(bytes) => Some(bytes.len()),
            Value::List(list) => Some(list.len()),
            Value::Map(map) => Some(map.len()),
            _ => None,
        }
    }

    /// The name of the type at run time.
    pub(crate) fn type_name(&self) -> Arc<str> {
        let name = match self {
            Value::Map(Map::Values(entries)) => entries.type_name(),
            _ => None,
        };
        name.unwrap_or(self.type_names().0).into()
    }

    /// The name that errors of the server have for the type.
    pub(crate) fn go_type(&self) -> &'static str {
        self.type_names().1
    }

    fn type_names(&self) -> (&'static str, &'static str) {
        match self {
            Value::Null => ("null_type", "types.Null"),
            Value::Bool(_) => ("bool", "types.Bool"),
            Value::Int(_) => ("int", "types.Int"),
            Value::Uint(_) => ("uint", "types.Uint"),
            Value::Double(_) => ("double", "types.Double"),
            Value::String(_) => ("string", "types.String"),
            Value::Bytes(_) => ("bytes", "types.Bytes"),
            Value::Duration(_) => ("google.protobuf.Duration", "types.Duration"),
            Value::Timestamp(_) => ("google.protobuf.Timestamp", "types.Timestamp"),
            Value::List(_) => ("list", "traits.Lister"),
            Value::Map(_) => ("map", "traits.Mapper"),
            Value::Optional(_) => ("optional_type", "*types.Optional"),
            Value::Type(_) => ("type", "*types.Type"),
            Value::Opaque(value) => (value.type_name(), value.type_name()),
        }
    }
}

fn invalid<'a>(format: &str, text: &str) -> Outcome<'a> {
    Err(EvaluationError::new(format!("Invalid {format} formatted string {text}")))
}

/// The error for a value that does not have the type in its schema.
fn mismatch(json: &Json, schema: &SchemaType) -> EvaluationError {
    let expected = match &schema.kind {
        SchemaKind::Object { .. } | SchemaKind::Map(_) => {
            let text = "invalid data, expected a map for the provided schema with type=object";
            return EvaluationError::new(text);
        }
        SchemaKind::List(_) => {
            let text = "invalid data, expected an array for the provided schema with type=array";
            return EvaluationError::new(text);
        }
        SchemaKind::IntOrString => {
            let text = "invalid data, expected XIntOrString value to be either a string or integer";
            return EvaluationError::new(text);
        }
        SchemaKind::Bool => "bool",
        SchemaKind::Int => "int",
        SchemaKind::Double => "float",
        _ => "string",
    };
    let found = go_type(json);
    EvaluationError::new(format!("invalid data, expected {expected}, got {found}"))
}

fn any(json: &Json) -> Value<'_> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match Num::of(number) {
            Num::Int(int) => Value::Int(int),
            Num::Float(float) => Value::Double(float),
        },
        Json::String(text) => Value::String(Text::Borrowed(text)),
        Json::Array(items) => Value::List(List::Json(items, &ANY)),
        Json::Object(members) => Value::Map(Map::Json(members, &ANY)),
    }
}

impl<'a> List<'a> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            List::Json(items, _) => items.len(),
            List::Values(values) | List::Merged(values, _) => values.len(),
            List::Joined(joined) => joined.len(),
        }
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an element, if there are so many, or why it does not fit its schema.
    pub fn get(&self, index: usize) -> Option<Result<Value<'a>, EvaluationError>> {
        match self {
            List::Json(items, schema) => {
                items.get(index).map(|item| Value::of(item, element(schema)))
            }
            List::Values(values) | List::Merged(values, _) => {
                values.get(index).cloned().map(Value::read)
            }
            List::Joined(_) => {
                let (part, index) = self.part(index);
                part.get(index)
            }
        }
    }

    /// Returns the elements.
    pub fn iter(&self) -> impl Iterator<Item = Result<Value<'a>, EvaluationError>> + '_ {
        self.parts().flat_map(|part| (0..part.len()).filter_map(|index| part.get(index)))
    }

    /// Returns the list type, which decides how it is compared and added.
    pub(crate) fn list_type(&self) -> &'a ListType {
        match self {
            List::Json(_, schema) | List::Merged(_, schema) => &schema.list_type,
            List::Values(_) | List::Joined(_) => &ListType::Atomic,
        }
    }
}

/// The type of the elements or values.
fn element(schema: &SchemaType) -> &SchemaType {
    match &schema.kind {
        SchemaKind::List(of) | SchemaKind::Map(of) => of,
        _ => &ANY,
    }
}

/// Returns whether a field exists for expressions: null counts as absent (CE-04), but without a
/// schema it is a value (WM-75).
fn is_there(value: &Json, field: &Field) -> bool {
    !value.is_null() || matches!(field.schema.kind, SchemaKind::Any)
}

impl<'a> Map<'a> {
    /// Returns the number of entries; of an object also those that its schema does not know.
    pub fn len(&self) -> usize {
        match self {
            Map::Json(members, _) => members.len(),
            Map::Values(entries) => entries.len(),
        }
    }

    /// Returns the name of the type of an object that an expression made (PO-70).
    pub fn type_name(&self) -> Option<&str> {
        match self {
            Map::Json(..) => None,
            Map::Values(entries) => entries.type_name(),
        }
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a key; fields of objects that are null are as if they were absent
    /// (CE-04).
    #[inline]
    pub fn get(&self, key: &Value<'_>) -> Option<Result<Value<'a>, EvaluationError>> {
        match self {
            Map::Json(..) => match key {
                Value::String(name) => self.field(name.as_str()),
                _ => None,
            },
            Map::Values(entries) => entries.find(key).cloned().map(Ok),
        }
    }

    /// Returns the value of a key that is text.
    #[inline]
    pub fn field(&self, name: &str) -> Option<Result<Value<'a>, EvaluationError>> {
        match self {
            Map::Json(members, schema) => match &schema.kind {
                SchemaKind::Object { fields, .. } => {
                    let field = names::find(fields, name)?;
                    let value = members.get(&*field.json_name)?;
                    is_there(value, field).then(|| Value::of(value, &field.schema))
                }
                _ => members.get(name).map(|value| Value::of(value, element(schema))),
            },
            Map::Values(entries) => {
                entries.find(&Value::String(Text::Borrowed(name))).cloned().map(Ok)
            }
        }
    }

    /// Returns the keys and values; of an object only the fields that are there.
    pub fn entries(&self) -> Vec<(Value<'a>, Result<Value<'a>, EvaluationError>)> {
        match self {
            Map::Json(members, schema) => match &schema.kind {
                SchemaKind::Object { fields, .. } => fields
                    .iter()
                    .filter_map(|(name, field)| {
                        let value = members.get(&*field.json_name)?;
                        let key = Value::String(Text::Borrowed(name));
                        is_there(value, field).then(|| (key, Value::of(value, &field.schema)))
                    })
                    .collect(),
                _ => members
                    .iter()
                    .map(|(key, value)| {
                        (Value::String(Text::Borrowed(key)), Value::of(value, element(schema)))
                    })
                    .collect(),
            },
            Map::Values(entries) => {
                entries.iter().map(|(key, value)| (key.clone(), Ok(value.clone()))).collect()
            }
        }
    }
}
