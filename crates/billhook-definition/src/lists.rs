//! List types, map types and the keys of list maps (CV-60 to CV-66).

use std::collections::BTreeSet;

use billhook_apimachinery::value::deep_clone;
use billhook_apimachinery::{FieldError, FieldErrors, Location};
use serde_json::Value;

use crate::options::NodeOptions;
use crate::shown::{invalid, repeats};
use billhook_apimachinery::record::show;
use billhook_apimachinery::record::{FieldValue, flag, list, member, text, texts};
use billhook_schema::props::Items;

const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_MAP_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";

pub(crate) fn check(
    schema: &Value,
    at: &Location<'_>,
    options: NodeOptions,
    errors: &mut FieldErrors,
) {
    // CV-60.
    if let Some(map_type) = optional_text(schema, MAP_TYPE) {
        needs_type(schema, "object", MAP_TYPE, at, errors);
        if !["atomic", "granular"].contains(&map_type) {
            let path = at.name(MAP_TYPE).to_path();
            errors.push(FieldError::not_supported(path, map_type, ["atomic", "granular"]));
        }
    }
    let list_type = optional_text(schema, LIST_TYPE);
    if let Some(list_type) = list_type {
        // CV-61, CV-62.
        if needs_type(schema, "array", LIST_TYPE, at, errors) && options.atomic_sets {
            errors.extend(set_item(schema, at));
        }
        // CV-63.
        if !["atomic", "set", "map"].contains(&list_type) {
            let path = at.name(LIST_TYPE).to_path();
            errors.push(FieldError::not_supported(path, list_type, ["atomic", "set", "map"]));
        }
    }
    // CV-64.
    if !list(schema, LIST_MAP_KEYS).is_empty() && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        let path = at.name(LIST_TYPE).to_path();
        errors.push(match list_type {
            None => FieldError::required(path, detail),
            Some(list_type) => FieldError::invalid(path, list_type, detail),
        });
    }
    if list_type == Some("map") {
        list_map(schema, at, errors);
    }
    if options.map_keys {
        list_items(schema, at, errors);
    }
}

fn optional_text<'v>(schema: &'v Value, name: &str) -> Option<&'v str> {
    member(schema, name).and_then(Value::as_str)
}

/// Whether the node has the type that a keyword needs.
fn needs_type(
    schema: &Value,
    needed: &str,
    keyword: &str,
    at: &Location<'_>,
    errors: &mut FieldErrors,
) -> bool {
    let type_ = text(schema, "type");
    if type_ != needed {
        let path = at.name("type").to_path();
        let detail = format!("must be {needed} if {keyword} is specified");
        errors.push(match type_ {
            "" => FieldError::required(path, &detail),
            type_ => FieldError::invalid(path, type_, &detail),
        });
    }
    type_ == needed
}

fn items(schema: &Value) -> Option<&Value> {
    member(schema, "items").filter(|items| items.is_object())
}

/// Returns the error in the items of a set (CV-62).
pub(crate) fn set_item(schema: &Value, at: &Location<'_>) -> Option<FieldError> {
    let items = items(schema).filter(|_| optional_text(schema, LIST_TYPE) == Some("set"))?;
    let list_type = optional_text(items, LIST_TYPE);
    let keyword = match text(items, "type") {
        "array" if list_type.is_some_and(|list_type| list_type != "atomic") => LIST_TYPE,
        "object" if optional_text(items, MAP_TYPE) != Some("atomic") => MAP_TYPE,
        _ => return None,
    };
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    // The server shows the list type in both cases.
    let path = at.name("items").name(keyword).to_path();
    Some(FieldError::invalid(path, list_type.map_or(Value::Null, Value::from), detail))
}

/// CV-65.
fn list_map(schema: &Value, at: &Location<'_>, errors: &mut FieldErrors) {
    let keys = texts(schema, LIST_MAP_KEYS);
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(at.name(LIST_MAP_KEYS).to_path(), detail));
    }
    let items_at = at.name("items");
    let Some(written) = member(schema, "items") else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(FieldError::required(items_at.to_path(), detail));
        return;
    };
    let Some(items) = items(schema) else {
        let shown = show::show(Some(written), Items::TYPE);
        let detail = "must only have a single schema if x-kubernetes-list-type is map";
        errors.push(invalid(items_at.to_path(), shown, detail));
        return;
    };
    let type_ = text(items, "type");
    if type_ != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(items_at.name("type").to_path(), type_, detail));
        return;
    }
    let mut seen = BTreeSet::new();
    let mut left = repeats(keys.len());
    let properties = member(items, "properties");
    for key in keys {
        let property = properties.and_then(|properties| properties.get(key));
        if property.is_some_and(|property| matches!(text(property, "type"), "array" | "object")) {
            let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            let path = items_at.name("properties").key(key).name("type").to_path();
            errors.push(FieldError::invalid(path, type_, detail));
        }
        let unknown = property.is_none().then_some("entries must all be names of item properties");
        let repeated = (!seen.insert(key)).then_some("must not contain duplicate entries");
        for detail in unknown.into_iter().chain(repeated) {
            if left > 0 {
                left -= 1;
                let path = at.name(LIST_MAP_KEYS).to_path();
                let value = deep_clone(schema.get(LIST_MAP_KEYS).unwrap_or(&Value::Null));
                errors.push(FieldError::invalid(path, value, detail));
            }
        }
    }
}

/// CV-66.
pub(crate) fn list_items(schema: &Value, at: &Location<'_>, errors: &mut FieldErrors) {
    let (Some(items), Some(list_type @ ("set" | "map"))) =
        (items(schema), optional_text(schema, LIST_TYPE))
    else {
        return;
    };
    let at = at.name("items");
    if flag(items, "nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(at.name("nullable").to_path(), &detail));
    }
    if list_type != "map" {
        return;
    }
    let required: BTreeSet<&str> = texts(items, "required").into_iter().collect();
    let properties = member(items, "properties");
    for key in texts(schema, LIST_MAP_KEYS) {
        let Some(property) = properties.and_then(|properties| properties.get(key)) else {
            continue;
        };
        let at = at.name("properties");
        let at = at.key(key);
        if !required.contains(key) && member(property, "default").is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a \
                          default or be a required property";
            errors.push(FieldError::required(at.name("default").to_path(), detail));
        }
        if flag(property, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(at.name("nullable").to_path(), detail));
        }
    }
}
