//! Other libraries, made ready to do the same.

use serde_json::Value;

/// A validator in the dialect that comes nearest to that of Kubernetes.
pub fn jsonschema(schema: &Value) -> jsonschema::Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft4)
        .should_validate_formats(true)
        .build(&with_null_types(schema))
        .unwrap()
}

/// A schema with `nullable` as other dialects write it: a list of types.
fn with_null_types(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members: serde_json::Map<String, Value> = members
                .iter()
                .map(|(key, member)| (key.clone(), with_null_types(member)))
                .collect();
            if members.get("nullable") == Some(&Value::Bool(true))
                && let Some(Value::String(type_)) = members.get("type").cloned()
            {
                members.insert("type".to_owned(), Value::from(vec![type_, "null".to_owned()]));
            }
            Value::Object(members)
        }
        Value::Array(items) => items.iter().map(with_null_types).collect(),
        scalar => scalar.clone(),
    }
}
