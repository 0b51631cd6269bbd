//! A schema as clients know it that were built for it: types, enums, and which fields there always
//! are (CC-23).

use billhook_apimachinery::value::{deep_clone, grow, sorted};
use serde_json::{Map, Value};

/// The keywords that clients know of.
const KEPT: [&str; 7] = [
    "type",
    "format",
    "enum",
    "nullable",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
];

/// Returns what clients know of a schema. A field with a default is always there.
pub(crate) fn types_only(schema: &Value) -> Value {
    grow(|| {
        let mut types = Map::new();
        for keyword in KEPT {
            if let Some(value) = schema.get(keyword) {
                types.insert(keyword.to_owned(), deep_clone(value));
            }
        }
        for keyword in ["items", "additionalProperties"] {
            match schema.get(keyword) {
                Some(part @ Value::Object(_)) => {
                    types.insert(keyword.to_owned(), types_only(part));
                }
                // What is below a boolean has no type.
                Some(Value::Bool(true)) => {
                    types.insert(keyword.to_owned(), true.into());
                }
                _ => {}
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut required: Vec<Value> = required.map(deep_clone).collect();
        if let Some(listed) = schema.get("properties").and_then(Value::as_object) {
            let mut properties = Map::new();
            for (name, part) in sorted(listed) {
                let has_default = part.get("default").is_some_and(|default| !default.is_null());
                if has_default && !required.contains(&name.as_str().into()) {
                    required.push(name.as_str().into());
                }
                properties.insert(name.clone(), types_only(part));
            }
            types.insert("properties".to_owned(), properties.into());
        }
        if !required.is_empty() {
            types.insert("required".to_owned(), required.into());
        }
        types.into()
    })
}

/// Returns what clients know of the schema of whole objects, whose metadata all clients know.
pub(crate) fn types_of_objects(schema: &Value) -> Value {
    const FIXED: [&str; 3] = ["apiVersion", "kind", "metadata"];
    let mut types = types_only(schema);
    if let Some(required) = types.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(|name| FIXED.contains(&name)));
    }
    if let Some(listed) = types.get_mut("properties").and_then(Value::as_object_mut) {
        for name in FIXED {
            listed.remove(name);
        }
    }
    types
}
