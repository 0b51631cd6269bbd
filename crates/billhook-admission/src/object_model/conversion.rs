//! The check of a conversion webhook's answer (RP-81): it must be the same object,
//! of whose metadata only labels and annotations count.

use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq, go_type, sorted};
use billhook_apimachinery::{Wording, aggregate};

use serde_json::{Map, Value};

use super::metadata::metadata_text;
use super::model::Converter;
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::metadata::field_errors;

/// The parts of metadata that a conversion may change.
const CONVERTED: [&str; 2] = ["labels", "annotations"];

/// Has an object converted, unless there is nothing to convert.
pub(crate) fn convert(
    converter: &dyn Converter,
    object: &Value,
    to: &GroupVersionKind,
    wording: &Wording,
) -> Result<DeepValue, String> {
    let expected = to.api_version();
    let api_version = text(object, "apiVersion");
    let mut copy = DeepValue::from(deep_clone(object));
    if api_version == expected {
        return Ok(copy);
    }
    let has_more = object.as_object().is_some_and(|members| {
        members.keys().any(|name| !matches!(name.as_str(), "apiVersion" | "kind"))
    });
    if !has_more {
        if let Value::Object(members) = &mut *copy {
            members.insert("apiVersion".to_owned(), expected.into());
        }
        return Ok(copy);
    }
    let subject = format!("conversion webhook for {api_version}, Kind={}", text(object, "kind"));
    let converted = converter
        .convert(object, &expected)
        .map_err(|error| format!("{subject} failed: {error}"))?;
    let mut converted = DeepValue::from(converted);
    check(object, &converted, &expected)
        .and_then(|()| restore_metadata(object, &mut converted, wording))
        .map_err(|error| format!("{subject} returned invalid object: {error}"))?;
    Ok(converted)
}

/// Whether it is the same object in the version that was asked for.
fn check(original: &Value, converted: &Value, expected: &str) -> Result<(), String> {
    let found = text(converted, "apiVersion");
    if found != expected {
        return Err(format!("invalid groupVersion (expected {expected}, received {found})"));
    }
    let (before, after) = (text(original, "kind"), text(converted, "kind"));
    if before != after {
        return Err(format!("invalid kind (expected {before}, received {after})"));
    }
    if converted.get("metadata").is_none_or(Value::is_null) {
        return Err("missing metadata in converted object".to_owned());
    }
    for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (before, after) = (metadata_text(original, field), metadata_text(converted, field));
        if before != after {
            return Err(format!("must have the same {name}: {before} != {after}"));
        }
    }
    Ok(())
}

/// Restores the metadata of the original object in the converted one, except labels and
/// annotations.
fn restore_metadata(
    original: &Value,
    converted: &mut Value,
    wording: &Wording,
) -> Result<(), String> {
    let Value::Object(found) = converted.get("metadata").unwrap_or(&Value::Null) else {
        return Err("invalid metadata in converted object: expected an object".to_owned());
    };
    let original = original.get("metadata").and_then(Value::as_object);
    let mut metadata = original.map_or_else(Map::new, |original| {
        let kept = original.iter().filter(|(name, _)| !CONVERTED.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), deep_clone(value))).collect()
    });
    for name in CONVERTED {
        let Some(value) = found.get(name).filter(|value| !value.is_null()) else { continue };
        let Value::Object(texts) = value else {
            return Err(format!(
                "metadata.{name} must be an object, but is {} in converted object",
                go_type(value)
            ));
        };
        for (key, text) in sorted(texts) {
            if !text.is_string() {
                return Err(format!(
                    "metadata.{name}[{key}] must be a string, but is {} in converted object",
                    go_type(text)
                ));
            }
        }
        let before = original.and_then(|original| original.get(name));
        if before.is_none_or(|before| !deep_eq(before, value)) {
            match field_errors(name, value, wording).as_slice() {
                [] => {}
                errors => return Err(aggregate(errors)),
            }
        }
        metadata.insert(name.to_owned(), deep_clone(value));
    }
    if let Some(place) = converted.get_mut("metadata") {
        drop(DeepValue::from(std::mem::replace(place, Value::Object(metadata))));
    }
    Ok(())
}

fn text<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}
