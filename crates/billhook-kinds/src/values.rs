//! Reading and changing the JSON of objects.

use billhook_apimachinery::pem::PemBlocks;
pub(crate) use billhook_apimachinery::value::at as value_at;
use billhook_apimachinery::value::{at, at_mut};
use billhook_apimachinery::{FieldPath, base64};
use serde_json::{Map, Value};

/// The text at a place in an object; empty if absent.
pub(crate) fn text<'o>(object: &'o Value, place: &str) -> &'o str {
    at(object, place).and_then(Value::as_str).unwrap_or_default()
}

/// The items of a list at a place in an object.
pub(crate) fn items<'o>(object: &'o Value, place: &str) -> &'o [Value] {
    at(object, place).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The members of a map at a place in an object.
pub(crate) fn members<'o>(
    object: &'o Value,
    place: &str,
) -> impl Iterator<Item = (&'o str, &'o Value)> + Clone {
    let members = at(object, place).and_then(Value::as_object).into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

/// A member that is an object, made if it is missing.
pub(crate) fn section<'o>(object: &'o mut Value, name: &str) -> Option<&'o mut Map<String, Value>> {
    let Value::Object(members) = object else { return None };
    let section = members.entry(name).or_insert_with(|| Value::Object(Map::new()));
    if section.is_null() {
        *section = Value::Object(Map::new());
    }
    section.as_object_mut()
}

/// Sets a member that is missing.
pub(crate) fn set_missing(object: &mut Value, name: &str, default: impl Into<Value>) {
    if let Value::Object(members) = object
        && members.get(name).is_none_or(Value::is_null)
    {
        members.insert(name.to_owned(), default.into());
    }
}

/// The object at a place, if it is there.
pub(crate) fn object_mut<'o>(object: &'o mut Value, place: &str) -> Option<&'o mut Value> {
    at_mut(object, place).filter(|value| value.is_object())
}

/// The items of a list at a place in an object.
pub(crate) fn items_mut<'o>(object: &'o mut Value, place: &str) -> &'o mut [Value] {
    match at_mut(object, place) {
        Some(Value::Array(items)) => items,
        _ => &mut [],
    }
}

/// The number at a place in an object.
pub(crate) fn integer(object: &Value, place: &str) -> Option<i64> {
    at(object, place).and_then(Value::as_i64)
}

/// Whether the flag at a place in an object is set.
pub(crate) fn is_set(object: &Value, place: &str) -> bool {
    at(object, place) == Some(&Value::Bool(true))
}

/// The path of nested fields.
pub(crate) fn path(names: &[&str]) -> FieldPath {
    names.iter().fold(FieldPath::default(), |path, name| path.name(name))
}

/// The labels of the PEM blocks of a text that is encoded in Base64.
pub(crate) fn pem_labels(encoded: &str) -> Vec<String> {
    let text = base64::decode(encoded).unwrap_or_default();
    PemBlocks::new(&text).map(|block| String::from_utf8_lossy(block.label).into_owned()).collect()
}
