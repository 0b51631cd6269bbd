//! Equality and order of values. Numbers compare by value across types; lists of objects by their
//! list type (CE-04).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use billhook_apimachinery::value::{deep_eq, grow};
use serde_json::{Map as JsonMap, Value as Json};

use super::identity::same_elements;
use super::{ANY, EvaluationError, List, Map, Outcome, Value};
use crate::language::schema::{ListType, SchemaKind, SchemaType};

/// Whether two values are equal. Null only equals null.
pub(crate) fn equal(left: &Value<'_>, right: &Value<'_>) -> Result<bool, EvaluationError> {
    Ok(match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => left.as_str() == right.as_str(),
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Timestamp(left), Value::Timestamp(right)) => left == right,
        (Value::Type(left), Value::Type(right)) => left == right,
        (Value::Opaque(left), Value::Opaque(right)) => left.equals(&**right),
        (Value::List(left), Value::List(right)) => return grow(|| lists(left, right)),
        (Value::Map(left), Value::Map(right)) => return grow(|| maps(left, right)),
        (Value::Optional(left), Value::Optional(right)) => match (left, right) {
            (Some(left), Some(right)) => return grow(|| equal(left, right)),
            (left, right) => left.is_none() && right.is_none(),
        },
        // A part of an object is only compared with its like.
        (Value::List(List::Json(..) | List::Merged(..)) | Value::Map(Map::Json(..)), _)
            if !is_untyped(left) =>
        {
            return Err(EvaluationError::NoSuchOverload);
        }
        _ => numbers(left, right) == Some(Ordering::Equal),
    })
}

/// Whether a part of an object has no schema.
fn is_untyped(value: &Value<'_>) -> bool {
    match value {
        Value::List(List::Json(_, schema)) | Value::Map(Map::Json(_, schema)) => {
            matches!(schema.kind, SchemaKind::Any)
        }
        _ => false,
    }
}

/// Which of two numbers is greater: none if one is not a number.
pub(crate) fn numbers(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Uint(left), Value::Uint(right)) => Some(left.cmp(right)),
        (Value::Double(left), Value::Double(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Uint(right)) => {
            Some(u64::try_from(*left).map_or(Ordering::Less, |left| left.cmp(right)))
        }
        (Value::Double(left), Value::Int(right)) => left.partial_cmp(&(*right as f64)),
        (Value::Double(left), Value::Uint(right)) => left.partial_cmp(&(*right as f64)),
        (Value::Uint(_), Value::Int(_)) | (Value::Int(_) | Value::Uint(_), Value::Double(_)) => {
            numbers(right, left).map(Ordering::reverse)
        }
        _ => None,
    }
}

/// Which of two values is greater.
pub(crate) fn compare(left: &Value<'_>, right: &Value<'_>) -> Result<Ordering, EvaluationError> {
    Ok(match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.as_str().cmp(right.as_str()),
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (Value::Duration(left), Value::Duration(right)) => left.cmp(right),
        (Value::Timestamp(left), Value::Timestamp(right)) => left.cmp(right),
        (
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
        ) => {
            let nan = || EvaluationError::new("NaN values cannot be ordered");
            return numbers(left, right).ok_or_else(nan);
        }
        _ => return Err(EvaluationError::NoSuchOverload),
    })
}

fn lists(left: &List<'_>, right: &List<'_>) -> Result<bool, EvaluationError> {
    if left.len() != right.len() {
        return Ok(false);
    }
    if *left.list_type() == ListType::Atomic {
        for (left, right) in left.iter().zip(right.iter()) {
            if !equal(&left?, &right?)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    same_elements(left, right, equal)
}

fn maps(left: &Map<'_>, right: &Map<'_>) -> Result<bool, EvaluationError> {
    if left.len() != right.len() || left.type_name() != right.type_name() {
        return Ok(false);
    }
    if let Map::Json(members, schema) = left
        && let SchemaKind::Object { .. } = &schema.kind
    {
        return objects(members, schema, right);
    }
    for (key, value) in left.entries() {
        let other = match (right, &key) {
            (Map::Json(members, schema), Value::String(name)) => {
                member(members, schema, name.as_str())
            }
            _ => right.get(&key),
        };
        let Some(other) = other else { return Ok(false) };
        if !equal(&value?, &other?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A member of an object or map by its name in JSON.
fn member<'a>(
    members: &'a JsonMap<String, Json>,
    schema: &'a SchemaType,
    name: &str,
) -> Option<Outcome<'a>> {
    let value = members.get(name)?;
    match &schema.kind {
        SchemaKind::Object { .. } => {
            let schema = schema.property(name)?;
            (!value.is_null()).then(|| Value::of(value, schema))
        }
        _ => Some(Value::of(value, schema.elements().map_or(&ANY, |of| &**of))),
    }
}

/// Members that the schema knows are compared as values of their types, others as JSON.
fn objects(
    left: &JsonMap<String, Json>,
    schema: &SchemaType,
    right: &Map<'_>,
) -> Result<bool, EvaluationError> {
    for (name, value) in left {
        let same = match (schema.property(name), right) {
            (Some(known), right) if is_absent(value, known) => {
                schema.ignores_nulls && lacks(right, name)
            }
            (Some(known), Map::Json(right, other)) => {
                let Some(member) = right.get(name) else { return Ok(false) };
                let of = match &other.kind {
                    SchemaKind::Object { .. } => known,
                    _ => other.elements().map_or(&ANY, |of| &**of),
                };
                equal(&Value::of(value, known)?, &Value::of(member, of)?)?
            }
            (Some(known), right) => {
                let Some(member) = right.field(name) else { return Ok(false) };
                equal(&Value::of(value, known)?, &member?)?
            }
            (None, Map::Json(right, other)) if matches!(other.kind, SchemaKind::Object { .. }) => {
                right.get(name).is_some_and(|member| deep_eq(value, member))
            }
            (None, _) => return Err(EvaluationError::NoSuchOverload),
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a member counts as if it were not there (CE-04, KV-40).
fn is_absent(value: &Json, schema: &SchemaType) -> bool {
    value.is_null() && !matches!(schema.kind, SchemaKind::Any)
}

/// Whether a map has no member of a name, or an object an absent one.
fn lacks(map: &Map<'_>, name: &str) -> bool {
    match map {
        Map::Json(members, schema) => members
            .get(name)
            .is_none_or(|value| schema.property(name).is_some_and(|known| is_absent(value, known))),
        map => map.field(name).is_none(),
    }
}

/// So many values are compared one by one.
const FEW: usize = 8;

/// Scalars that equal values are found among.
#[derive(Debug, Default)]
pub(crate) struct Members<'a> {
    few: Vec<Value<'a>>,
    /// Those that are more than a few.
    by_hash: HashMap<u64, Vec<Value<'a>>>,
}

impl<'a> Members<'a> {
    pub(crate) fn add(&mut self, value: Value<'a>) {
        match self.few.len() < FEW {
            true => self.few.push(value),
            false => self.by_hash.entry(hash(&value)).or_default().push(value),
        }
    }

    /// Whether a value is equal to one of them.
    pub(crate) fn contain(&self, value: &Value<'_>) -> Result<bool, EvaluationError> {
        let alike = match self.by_hash.is_empty() {
            true => None,
            false => self.by_hash.get(&hash(value)),
        };
        for member in self.few.iter().chain(alike.into_iter().flatten()) {
            if equal(member, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The same for equal values: of lists and maps whatever the order.
pub(crate) fn hash(value: &Value<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        Value::Bool(value) => value.hash(&mut hasher),
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => {
            // Two zeros are equal.
            let number = as_double(value) + 0.0;
            number.to_bits().hash(&mut hasher);
        }
        Value::String(text) => text.as_str().hash(&mut hasher),
        Value::Bytes(bytes) => bytes.hash(&mut hasher),
        Value::Duration(duration) => duration.hash(&mut hasher),
        Value::Timestamp(time) => (time.seconds, time.nanos).hash(&mut hasher),
        Value::List(list) => return grow(|| sum(list.iter().map(|value| (0, value)))),
        Value::Map(map) => {
            return grow(|| sum(map.entries().into_iter().map(|(key, value)| (hash(&key), value))));
        }
        Value::Optional(Some(value)) => return grow(|| hash(value)),
        Value::Null | Value::Optional(None) | Value::Type(_) | Value::Opaque(_) => {}
    }
    hasher.finish()
}

fn sum<'a>(parts: impl Iterator<Item = (u64, Result<Value<'a>, EvaluationError>)>) -> u64 {
    parts.fold(1, |sum, (key, value)| {
        let part = value.map_or(0, |value| hash(&value));
        sum.wrapping_add(part.wrapping_mul(key | 1))
    })
}

fn as_double(value: &Value<'_>) -> f64 {
    match value {
        Value::Int(int) => *int as f64,
        Value::Uint(uint) => *uint as f64,
        Value::Double(double) => *double,
        _ => f64::NAN,
    }
}
