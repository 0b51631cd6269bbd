//! List types, map types and the keys of list maps (CV-60 to CV-66).

use std::collections::BTreeSet;

use billhook_apimachinery::record::show::show;
use billhook_apimachinery::record::{FieldValue, to_value};
use billhook_apimachinery::{FieldError, FieldErrors, Location};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::Items;
use serde_json::Value;

use crate::options::NodeOptions;
use crate::shown::{invalid, repeats};

const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_MAP_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";

pub(crate) fn check(
    schema: &JsonSchemaProps,
    at: &Location<'_>,
    options: NodeOptions,
    errors: &mut FieldErrors,
) {
    // CV-60.
    if let Some(map_type) = schema.map_type.as_deref() {
        needs_type(schema, "object", MAP_TYPE, at, errors);
        if !["atomic", "granular"].contains(&map_type) {
            let path = at.name(MAP_TYPE).to_path();
            errors.push(FieldError::not_supported(path, map_type, ["atomic", "granular"]));
        }
    }
    let list_type = schema.list_type.as_deref();
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
    if !map_keys(schema).is_empty() && list_type != Some("map") {
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

fn map_keys(schema: &JsonSchemaProps) -> &[String] {
    schema.list_map_keys.as_deref().unwrap_or_default()
}

/// Whether the node has the type that a keyword needs.
fn needs_type(
    schema: &JsonSchemaProps,
    needed: &str,
    keyword: &str,
    at: &Location<'_>,
    errors: &mut FieldErrors,
) -> bool {
    let type_ = schema.type_.as_str();
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

/// Returns the error in the items of a set (CV-62).
pub(crate) fn set_item(schema: &JsonSchemaProps, at: &Location<'_>) -> Option<FieldError> {
    let items = schema.items_schema().filter(|_| schema.list_type.as_deref() == Some("set"))?;
    let list_type = items.list_type.as_deref();
    let keyword = match items.type_.as_str() {
        "array" if list_type.is_some_and(|list_type| list_type != "atomic") => LIST_TYPE,
        "object" if items.map_type.as_deref() != Some("atomic") => MAP_TYPE,
        _ => return None,
    };
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    // The server shows the list type in both cases.
    let path = at.name("items").name(keyword).to_path();
    Some(FieldError::invalid(path, list_type.map_or(Value::Null, Value::from), detail))
}

/// CV-65.
fn list_map(schema: &JsonSchemaProps, at: &Location<'_>, errors: &mut FieldErrors) {
    let keys = map_keys(schema);
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(at.name(LIST_MAP_KEYS).to_path(), detail));
    }
    let items_at = at.name("items");
    let items = match &schema.items {
        Some(Items::Schema(items)) => items,
        None => {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            errors.push(FieldError::required(items_at.to_path(), detail));
            return;
        }
        Some(other) => {
            let shown = match other {
                Items::Empty => "{\"Schema\":null,\"JSONSchemas\":null}".to_owned(),
                _ => show(Some(&to_value(other)), Items::TYPE),
            };
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            errors.push(invalid(items_at.to_path(), shown, Items::TYPE, detail));
            return;
        }
    };
    let type_ = items.type_.as_str();
    if type_ != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(items_at.name("type").to_path(), type_, detail));
        return;
    }
    let mut seen = BTreeSet::new();
    let mut left = repeats(keys.len());
    for key in keys {
        let property = items.property(key);
        if property.is_some_and(|property| matches!(&*property.type_, "array" | "object")) {
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
                errors.push(FieldError::invalid(path, keys.to_vec(), detail).of_strings());
            }
        }
    }
}

/// CV-66.
pub(crate) fn list_items(schema: &JsonSchemaProps, at: &Location<'_>, errors: &mut FieldErrors) {
    let (Some(items), Some(list_type @ ("set" | "map"))) =
        (schema.items_schema(), schema.list_type.as_deref())
    else {
        return;
    };
    let at = at.name("items");
    if items.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(at.name("nullable").to_path(), &detail));
    }
    if list_type != "map" {
        return;
    }
    let required: BTreeSet<&String> = items.required.iter().flatten().collect();
    for key in map_keys(schema) {
        let Some(property) = items.property(key) else { continue };
        let at = at.name("properties");
        let at = at.key(key);
        if !required.contains(key) && property.default.is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a \
                          default or be a required property";
            errors.push(FieldError::required(at.name("default").to_path(), detail));
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(at.name("nullable").to_path(), detail));
        }
    }
}
