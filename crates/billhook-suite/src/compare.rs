//! How objects are compared with what is expected of them.

use billhook::DeepValue;
use billhook_apimachinery::value::{deep_clone, deep_eq, grow};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The metadata that is not compared: names, and what a server sets.
const NOT_COMPARED: [&str; 8] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "generation",
    "creationTimestamp",
    "resourceVersion",
    "managedFields",
];

/// Compares whole objects.
pub(crate) fn whole(expected: &Value, actual: &Value) -> Result<(), Failure> {
    difference(compared(expected), compared(actual))
}

/// Compares an object with a part of one.
pub(crate) fn part(expected: &Value, actual: &Value) -> Result<(), Failure> {
    difference(DeepValue::from(deep_clone(expected)), part_of(expected, actual))
}

fn difference(expected: DeepValue, actual: DeepValue) -> Result<(), Failure> {
    match deep_eq(&expected, &actual) {
        true => Ok(()),
        false => Err(Failure::Object { expected, actual }),
    }
}

/// Returns an object without what is not compared.
pub(crate) fn compared(object: &Value) -> DeepValue {
    let mut object = DeepValue::from(deep_clone(object));
    let Some(members) = object.as_object_mut() else { return object };
    if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
        metadata.retain(|name, _| !NOT_COMPARED.contains(&name.as_str()));
        if metadata.is_empty() {
            members.remove("metadata");
        }
    }
    object
}

/// Returns an object without the members that a part of one does not have.
pub(crate) fn part_of(part: &Value, object: &Value) -> DeepValue {
    DeepValue::from(grow(|| match (part, object) {
        (Value::Object(part), Value::Object(members)) => {
            let mut kept = Map::new();
            for (name, value) in part {
                if let Some(member) = members.get(name) {
                    kept.insert(name.clone(), part_of(value, member).take());
                }
            }
            Value::Object(kept)
        }
        (Value::Array(part), Value::Array(items)) => {
            let mut parts = part.iter();
            let kept = items.iter().map(|item| match parts.next() {
                Some(part) => part_of(part, item).take(),
                None => deep_clone(item),
            });
            Value::Array(kept.collect())
        }
        (_, other) => deep_clone(other),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts() {
        let object = json!({"a": 1, "b": {"c": 2, "d": 3}, "l": [{"x": 1, "y": 2}, {"x": 3}]});
        for fits in [json!({}), json!({"a": 1, "b": {"d": 3}}), json!({"l": [{"x": 1}, {}]})] {
            assert_eq!(part(&fits, &object), Ok(()), "{fits}");
        }
        for (other, shown) in [
            (json!({"a": 2}), json!({"a": 1})),
            (json!({"b": {"e": 1}}), json!({"b": {}})),
            (json!({"l": [{"x": 1}]}), json!({"l": [{"x": 1}, {"x": 3}]})),
            (json!({"b": []}), json!({"b": {"c": 2, "d": 3}})),
        ] {
            let expected = DeepValue::from(other.clone());
            let failure = Failure::Object { expected, actual: shown.into() };
            assert_eq!(part(&other, &object), Err(failure), "{other}");
        }
    }
}
