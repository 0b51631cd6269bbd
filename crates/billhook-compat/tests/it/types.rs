//! Proofs about readers are attacked: what is written from now on has the types that clients know.

use billhook::{CrdVersion, FieldValidation};
use billhook_generation::Oracle;
use serde_json::{Map, Value};

use crate::checks::walk;
use crate::requests::written;

/// Looks for an object that the new definition accepts and that does not fit the old types. Returns
/// how many objects the new definition has accepted.
pub(crate) fn attack_types(
    before: &CrdVersion,
    after: &CrdVersion,
    objects: usize,
    label: &str,
) -> usize {
    let (types, schema) =
        (before.open_api_v3_schema().unwrap(), after.open_api_v3_schema().unwrap());
    let oracle = Oracle::new(after.clone(), &schema);
    walk(&oracle, (after, &schema), objects, &mut |changed| {
        let Some(stored) = written(after, changed, FieldValidation::Strict) else { return false };
        for part in ["spec", "status"] {
            let known = types.pointer(&format!("/properties/{part}"));
            if let (Some(value), Some(known)) = (stored.get(part), known) {
                assert!(fits(value, known), "{label}: does not fit: {stored:?}");
            }
        }
        true
    })
}

/// Whether a value has the types of a schema.
fn fits(value: &Value, schema: &Value) -> bool {
    let is_set = |keyword: &str| schema[keyword] == true;
    let has_type = match (schema["type"].as_str().unwrap_or_default(), value) {
        _ if is_set("x-kubernetes-int-or-string") => value.is_string() || is_whole(value),
        (_, Value::Null) => is_set("nullable") || schema.get("type").is_none(),
        ("", _) => true,
        ("integer", value) => is_whole(value),
        ("number", value) => value.is_number(),
        ("boolean", value) => value.is_boolean(),
        // Beside a format, a list is admitted (VV-12).
        ("string", value) => {
            value.is_string() || (value.is_array() && schema.get("format").is_some())
        }
        ("array", value) => value.is_array(),
        ("object", value) => value.is_object(),
        _ => false,
    };
    let is_entry =
        schema["enum"].as_array().is_none_or(|entries| entries.contains(value) || value.is_null());
    has_type
        && is_entry
        && match value {
            Value::Object(members) => have_types(members, schema),
            Value::Array(items) => {
                let known = schema.get("items").filter(|items| items.is_object());
                known.is_none_or(|known| items.iter().all(|item| fits(item, known)))
            }
            _ => true,
        }
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn have_types(members: &Map<String, Value>, schema: &Value) -> bool {
    let listed = schema["properties"].as_object();
    let known = |name: &str| {
        let listed = listed.and_then(|listed| listed.get(name));
        listed.or_else(|| schema.get("additionalProperties").filter(|part| part.is_object()))
    };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let defaulted = listed.into_iter().flatten();
    let defaulted = defaulted.filter(|(_, part)| part.get("default").is_some());
    let mut always = required.chain(defaulted.map(|(name, _)| name.as_str()));
    let has_identity = schema["x-kubernetes-embedded-resource"] == true;
    let is_fixed = |name: &str| has_identity && ["apiVersion", "kind", "metadata"].contains(&name);
    always.all(|name| members.contains_key(name))
        && members.iter().all(|(name, member)| {
            is_fixed(name) || known(name).is_none_or(|known| fits(member, known))
        })
}
