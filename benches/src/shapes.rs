//! Inputs of a given width, depth or number of keys, to see how cost grows.

use std::fmt::Write;

use billhook::to_json;
use serde_json::{Map, Value, json};

use crate::input::{Document, Input, Kind, Variant};

/// Objects of a schema with so many properties, of which the first are present. Names and values
/// have the same length everywhere.
pub fn wide(properties: usize, present: usize, objects: usize) -> Input {
    let schema: Map<String, Value> = (0..properties)
        .map(|index| {
            // Each tenth of those that are present has a default.
            let is_defaulted = index < present && index % 10 == 0;
            let schema = match is_defaulted {
                true => json!({"type": "string", "default": "default"}),
                false => json!({"type": "string"}),
            };
            (field(index), schema)
        })
        .collect();
    let mut body = String::new();
    for _ in 0..objects {
        body.push_str(if body.is_empty() { "[{" } else { ",{" });
        for index in 0..present {
            body.push_str(if index > 0 { "," } else { "" });
            write!(body, "\"{}\":\"value-{index:05}\"", field(index)).unwrap();
        }
        body.push('}');
    }
    body.push(']');
    let schema = json!({"type": "array", "items": {"type": "object", "properties": schema}});
    input(format!("{properties} properties, {present} present"), schema, &body)
}

/// Maps with so many keys each, about so many keys in all, whose values are strings.
pub fn maps(keys: usize, total: usize) -> Input {
    let members: Vec<String> =
        (0..keys).map(|index| format!("\"{}\":\"value-{index:05}\"", field(index))).collect();
    let map = format!("{{{}}}", members.join(","));
    let body = format!("[{}]", vec![map; total.div_ceil(keys)].join(","));
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    input(format!("{keys} keys"), json!({"type": "array", "items": map}), &body)
}

/// Chains of objects within objects, so many levels each, about so many levels in all, in a part
/// of which the schema knows nothing.
pub fn deep_free(depth: usize, total: usize) -> Input {
    let schema = json!({"x-kubernetes-preserve-unknown-fields": true});
    input(format!("{depth} levels, free"), schema, &chains(depth, total))
}

/// The same with a schema for each level.
pub fn deep_known(depth: usize, total: usize) -> Input {
    let mut schema = json!({"type": "integer", "default": 1});
    for _ in 0..depth {
        let mut properties = Map::new();
        properties.insert("level".to_owned(), schema);
        schema = json!({"type": "object"});
        schema["properties"] = Value::Object(properties);
    }
    let schema = json!({"type": "array", "items": schema});
    input(format!("{depth} levels, known"), schema, &chains(depth, total))
}

fn chains(depth: usize, total: usize) -> String {
    let chain = format!("{}1{}", "{\"level\":".repeat(depth), "}".repeat(depth));
    format!("[{}]", vec![chain; total.div_ceil(depth)].join(","))
}

fn field(index: usize) -> String {
    format!("someField{index:05}")
}

fn input(name: String, schema: Value, body: &str) -> Input {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "shapes.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "shapes", "kind": "Shape"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": schema}},
            }}],
        },
    });
    let kind = Kind::new(&to_json(&definition), "v1");
    let text = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Shape","metadata":{{"name":"shape"}},"spec":{body}}}"#
    );
    // serde_json cannot parse the deepest; the contestants that need a tree are not for them.
    let value = serde_json::from_str(&text).unwrap_or_default();
    let document = Document { kind, text: text.into_bytes(), value };
    Input { name, variant: Variant::Clean, documents: vec![document] }
}
