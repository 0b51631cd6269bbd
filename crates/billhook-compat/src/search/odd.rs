//! Parts of values that schemas admit without describing them.

use billhook::FieldPath;
use billhook_apimachinery::value::{grow, sorted};
use billhook_generation::replaced;
use serde_json::{Value, json};

use crate::limits::MAX_ODD;

/// An object with a part at or below a place that no schema describes: an unlisted member, which makes
/// objects differ from themselves (VV-85), or a list in place of a text with a format (VV-12), which
/// rules cannot read.
pub(crate) fn odd(
    object: &Value,
    schema: &Value,
    value: &Value,
    at: &FieldPath,
) -> impl Iterator<Item = Value> {
    let mut found = Vec::new();
    collect(schema, value, at, &mut found);
    found.into_iter().map(|(place, part)| replaced(object, &place, Some(part)))
}

fn collect(schema: &Value, value: &Value, at: &FieldPath, found: &mut Vec<(FieldPath, Value)>) {
    if found.len() >= MAX_ODD {
        return;
    }
    let is_text = schema.get("type").and_then(Value::as_str) == Some("string");
    if is_text && schema.get("format").is_some() {
        found.push((at.clone(), json!([])));
    }
    match value {
        Value::Object(members) => {
            if schema.get("x-kubernetes-preserve-unknown-fields").is_some() {
                found.push((at.clone().name("key0"), 1.into()));
            }
            let listed = schema.get("properties").and_then(Value::as_object);
            for (name, part) in listed.into_iter().flat_map(sorted) {
                let member = members.get(name).unwrap_or(&Value::Null);
                grow(|| collect(part, member, &at.clone().name(name.as_str()), found));
            }
            if let Some(part) = schema.get("additionalProperties") {
                for (name, member) in sorted(members) {
                    grow(|| collect(part, member, &at.clone().name(name.as_str()), found));
                }
            }
        }
        Value::Array(items) => {
            let Some(part) = schema.get("items") else { return };
            for (index, item) in items.iter().enumerate() {
                grow(|| collect(part, item, &FieldPath::index(at.clone(), index), found));
            }
        }
        _ => {}
    }
}
