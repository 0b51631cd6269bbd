//! The identity of the elements of list sets and list maps (CE-04). A server looks them up as keys of
//! a map in Go: elements of the list itself as they are written, those of another list as the values
//! that CEL has for them. So a number that is written as an integer is another one than the double
//! that CEL reads, and so are the text of a date and its time.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::Num;
use serde_json::Value as Json;

use super::{EvaluationError, List, Map, Outcome, Text, Value};
use crate::language::schema::{ListType, SchemaType};

/// The most keys of a list map that are compared one by one; more are compared as text.
const MAX_KEYS: usize = 3;

/// The identity by which an element is looked up; `None` if it is never found.
type Key<'a> = Option<Identity<'a>>;

/// An identity, or why there is none: lists and maps cannot be keys.
type Found<'a> = Result<Key<'a>, EvaluationError>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Identity<'a> {
    /// Null as it is written; also a key that is missing.
    #[default]
    Null,
    /// Null as CEL sees it.
    NullValue,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// The bits of a double that is a number; there is one zero.
    Double(u64),
    Text(Words<'a>),
    Duration(i64),
    Time(i64, u32),
    /// The values of the keys of a list map.
    Keys(Vec<Identity<'a>>),
}

#[derive(Clone, Debug)]
struct Words<'a>(Text<'a>);

impl PartialEq for Words<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Words<'_> {}

impl Hash for Words<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.as_str().hash(hasher);
    }
}

fn unhashable<'a>(go_type: &str) -> Found<'a> {
    let text = format!("internal error: runtime error: hash of unhashable type {go_type}");
    Err(EvaluationError::Internal(text.into()))
}

fn double<'a>(float: f64) -> Identity<'a> {
    // Two zeros are equal.
    Identity::Double((float + 0.0).to_bits())
}

/// The identity of an element as it is written.
fn written(json: &Json) -> Found<'_> {
    Ok(Some(match json {
        Json::Null => Identity::Null,
        Json::Bool(value) => Identity::Bool(*value),
        Json::Number(number) => match Num::of(number) {
            Num::Int(int) => Identity::Int(int),
            Num::Float(float) => double(float),
        },
        Json::String(text) => Identity::Text(Words(Text::Borrowed(text))),
        Json::Array(_) => return unhashable("[]interface {}"),
        Json::Object(_) => return unhashable("map[string]interface {}"),
    }))
}

/// The identity of a value of CEL.
fn evaluated<'a>(value: &Value<'a>) -> Found<'a> {
    Ok(Some(match value {
        Value::Null => Identity::NullValue,
        Value::Bool(value) => Identity::Bool(*value),
        Value::Int(int) => Identity::Int(*int),
        Value::Uint(uint) => Identity::Uint(*uint),
        Value::Double(float) if float.is_nan() => return Ok(None),
        Value::Double(float) => double(*float),
        Value::String(text) => Identity::Text(Words(text.clone())),
        Value::Duration(duration) => Identity::Duration(*duration),
        Value::Timestamp(time) => Identity::Time(time.seconds, time.nanos),
        Value::Bytes(_) => return unhashable("[]uint8"),
        Value::List(List::Values(_)) => return unhashable("[]ref.Val"),
        Value::List(_) => return unhashable("[]interface {}"),
        Value::Map(Map::Json(..)) => return unhashable("map[string]interface {}"),
        Value::Map(Map::Values(_)) => return unhashable("map[ref.Val]ref.Val"),
        Value::Optional(_) | Value::Type(_) | Value::Opaque(_) => return Ok(None),
    }))
}

/// The identity of an object as an element of a list map; what is not an object has none.
fn keyed<'a>(members: Option<&'a serde_json::Map<String, Json>>, keys: &[Arc<str>]) -> Found<'a> {
    let Some(members) = members else { return Ok(None) };
    let mut values = keys.iter().map(|key| members.get(&**key).unwrap_or(&Json::Null));
    if keys.len() <= MAX_KEYS {
        let values = values.map(|value| written(value).map(Option::unwrap_or_default));
        return Ok(Some(Identity::Keys(values.collect::<Result<_, _>>()?)));
    }
    let text = |value: &Json| match value {
        Json::String(text) => text.clone(),
        other => plain_json(other),
    };
    let mut joined = values.next().map(text).unwrap_or_default();
    values.for_each(|value| joined = format!("{joined} {}", text(value)));
    Ok(Some(Identity::Text(Words(joined.into()))))
}

/// A list set or a list map, in which elements are found by their identity.
struct Elements<'a> {
    /// None for a set.
    keys: Option<&'a [Arc<str>]>,
    places: HashMap<Identity<'a>, usize>,
}

impl<'a> Elements<'a> {
    fn new(list: &List<'a>) -> Result<Self, EvaluationError> {
        let keys = match list.list_type() {
            ListType::Map(keys) => Some(keys.as_slice()),
            ListType::Atomic | ListType::Set => None,
        };
        let mut elements = Elements { keys, places: HashMap::new() };
        match list {
            List::Json(items, _) => {
                for (place, item) in items.iter().enumerate() {
                    let identity = match keys {
                        None => written(item)?,
                        Some(keys) => keyed(item.as_object(), keys)?,
                    };
                    elements.places.extend(identity.map(|identity| (identity, place)));
                }
            }
            list => {
                for (place, value) in list.iter().enumerate() {
                    let identity = elements.identity(value.as_ref().ok())?;
                    elements.places.extend(identity.map(|identity| (identity, place)));
                }
            }
        }
        Ok(elements)
    }

    /// The identity of an element of another list; one that does not fit its schema has none.
    fn identity(&self, value: Option<&Value<'a>>) -> Found<'a> {
        match (self.keys, value) {
            (_, None) => Ok(None),
            (None, Some(value)) => evaluated(value),
            (Some(keys), Some(Value::Map(Map::Json(members, _)))) => keyed(Some(members), keys),
            (Some(_), Some(_)) => Ok(None),
        }
    }

    fn find(&self, value: Option<&Value<'a>>) -> Result<Option<usize>, EvaluationError> {
        let identity = self.identity(value)?;
        Ok(identity.and_then(|identity| self.places.get(&identity).copied()))
    }
}

/// Whether a list set or a list map equals a list of the same length: whether each element of that
/// is found, and in a list map is `equal`.
pub(super) fn same_elements<'a>(
    left: &List<'a>,
    right: &List<'a>,
    equal: impl Fn(&Value<'a>, &Value<'a>) -> Result<bool, EvaluationError>,
) -> Result<bool, EvaluationError> {
    let elements = Elements::new(left)?;
    for value in right.iter() {
        let Some(place) = elements.find(value.as_ref().ok())? else { return Ok(false) };
        if elements.keys.is_some()
            && let Some(own) = left.get(place)
            && !equal(&own?, &value?)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Adds a list to a list set or a list map: what is in the set already is left out, and what has the
/// keys of an element of the map takes its place.
pub(crate) fn unite<'a>(left: &List<'a>, right: &List<'a>, schema: &'a SchemaType) -> Outcome<'a> {
    let mut elements = Elements::new(left)?;
    let lazily = |value: Outcome<'a>| value.unwrap_or_else(Value::unfit);
    let mut values: Vec<Value<'a>> = left.iter().map(lazily).collect();
    for value in right.iter() {
        let identity = elements.identity(value.as_ref().ok())?;
        let known = identity.as_ref().and_then(|identity| elements.places.get(identity));
        match (known, elements.keys) {
            (Some(_), None) => {}
            (Some(place), Some(_)) => {
                if let Some(place) = values.get_mut(*place) {
                    *place = lazily(value);
                }
            }
            (None, keys) => {
                if keys.is_none() {
                    elements.places.extend(identity.map(|identity| (identity, values.len())));
                }
                values.push(lazily(value));
            }
        }
    }
    Ok(Value::List(List::Merged(Arc::new(values), schema)))
}
