//! Schemas as OpenAPI 2 has them (DT-51).

use std::collections::BTreeSet;

use billhook::DeepValue;
use billhook_apimachinery::value::grow;
use serde_json::{Map, Value};

/// Removes what OpenAPI 2 does not have, or what its clients cannot stand.
pub(super) fn weaken(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    refer(members);
    for name in ["default", "allOf", "anyOf", "oneOf", "not"] {
        remove(members, name);
    }
    if is_true(members, "nullable") {
        ["nullable", "type", "items", "properties"].iter().for_each(|name| remove(members, name));
    }
    let is_nullable = |schema: &Value| schema.get("nullable") == Some(&Value::Bool(true));
    let nullable: BTreeSet<String> = match members.get("properties") {
        Some(Value::Object(properties)) if members.contains_key("required") => {
            let nullable = properties.iter().filter(|(_, schema)| is_nullable(schema));
            nullable.map(|(name, _)| name.clone()).collect()
        }
        _ => BTreeSet::new(),
    };
    if let Some(Value::Array(required)) = members.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(|name| nullable.contains(name)));
    }
    if members.get("additionalProperties").is_some_and(is_nullable)
        || members.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty)
    {
        remove(members, "required");
    }
    let is_open = is_true(members, "x-kubernetes-preserve-unknown-fields");
    if is_open {
        ["items", "properties"].iter().for_each(|name| remove(members, name));
    }
    match members.get("type").and_then(Value::as_str) {
        Some("array") if !members.contains_key("items") => remove(members, "type"),
        Some("object") if is_open => remove(members, "type"),
        _ => {}
    }
    grow(|| {
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            properties.values_mut().for_each(weaken);
        }
        for name in ["items", "additionalProperties"] {
            if let Some(part) = members.get_mut(name) {
                weaken(part);
            }
        }
    });
}

/// References are to definitions here, and may have a description beside them.
fn refer(schema: &mut Map<String, Value>) {
    let inside = schema.get("allOf").and_then(|all_of| all_of.pointer("/0/$ref"));
    let name = inside.or_else(|| schema.get("$ref")).and_then(Value::as_str);
    if let Some(name) = name.and_then(|name| name.rsplit('/').next()) {
        let reference = format!("#/definitions/{name}");
        schema.insert("$ref".to_owned(), reference.into());
    }
}

fn remove(members: &mut Map<String, Value>, name: &str) {
    members.remove(name).map(DeepValue::from);
}

fn is_true(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// DT-51.
    #[test]
    fn schemas_are_weakened() {
        for (schema, expected) in [
            (json!({"type": "string", "default": "a", "anyOf": [{}]}), json!({"type": "string"})),
            (json!({"type": "string", "nullable": true, "maxLength": 1}), json!({"maxLength": 1})),
            (json!({"type": "array"}), json!({})),
            (
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {"a": {"type": "string"}}}),
                json!({"x-kubernetes-preserve-unknown-fields": true}),
            ),
            (
                json!({"required": ["a", "b"], "properties": {
                    "a": {"type": "string", "nullable": true}, "b": {"type": "string"}}}),
                json!({"required": ["b"], "properties": {"a": {}, "b": {"type": "string"}}}),
            ),
            (
                json!({"required": ["a"],
                    "additionalProperties": {"type": "string", "nullable": true}}),
                json!({"additionalProperties": {}}),
            ),
            (
                json!({"description": "d", "allOf": [{"$ref": "#/components/schemas/x.Y"}]}),
                json!({"description": "d", "$ref": "#/definitions/x.Y"}),
            ),
        ] {
            let mut weakened = schema.clone();
            weaken(&mut weakened);
            assert_eq!(weakened, expected, "{schema}");
        }
    }
}
