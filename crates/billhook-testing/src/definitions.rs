//! Definitions: one that nothing is wrong with, and generated ones.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// The base of the specification's examples.
pub fn base() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}},
            }}],
        },
    })
}

/// The base with another schema.
pub fn with_schema(schema: Value) -> Value {
    let mut definition = base();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema;
    definition
}

/// Keywords with values that may or may not fit where they stand.
pub fn keyword() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        6 => select(vec!["object", "array", "string", "integer", "null", "x"])
            .prop_map(|name| ("type", json!(name))),
        1 => Just(("nullable", json!(true))),
        1 => Just(("format", json!("date"))),
        1 => Just(("format", json!("int32"))),
        1 => Just(("pattern", json!("a("))),
        1 => Just(("uniqueItems", json!(true))),
        1 => Just(("$ref", json!("#"))),
        1 => Just(("required", json!(["a"]))),
        1 => Just(("minimum", json!(1.5))),
        1 => Just(("maxLength", json!(1))),
        2 => Just(("default", json!({"a": [1, "x"]}))),
        1 => Just(("default", json!("ab"))),
        1 => Just(("x-kubernetes-preserve-unknown-fields", json!(true))),
        1 => Just(("x-kubernetes-preserve-unknown-fields", json!(false))),
        1 => Just(("x-kubernetes-embedded-resource", json!(true))),
        1 => Just(("x-kubernetes-int-or-string", json!(true))),
        1 => select(vec!["set", "map", "atomic", "y"])
            .prop_map(|name| ("x-kubernetes-list-type", json!(name))),
        1 => Just(("x-kubernetes-list-map-keys", json!(["a", "b", "a"]))),
        1 => Just(("x-kubernetes-map-type", json!("atomic"))),
        1 => Just(("x-kubernetes-validations", json!([{"rule": "true", "fieldPath": ".a"}]))),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = vec(keyword(), 0..3).prop_map(object);
    leaf.prop_recursive(4, 30, 4, |inner| {
        let properties = vec((select(vec!["a", "b", "metadata", "kind"]), inner.clone()), 0..4);
        let below = prop_oneof![
            4 => properties.prop_map(|list| ("properties", object(list))),
            2 => inner.clone().prop_map(|schema| ("items", schema)),
            1 => vec(inner.clone(), 0..2).prop_map(|list| ("items", Value::Array(list))),
            1 => inner.clone().prop_map(|schema| ("additionalProperties", schema)),
            1 => any::<bool>().prop_map(|allowed| ("additionalProperties", json!(allowed))),
            1 => vec(inner.clone(), 0..3).prop_map(|list| ("anyOf", Value::Array(list))),
            1 => inner.prop_map(|schema| ("not", schema)),
        ];
        (vec(keyword(), 0..4), vec(below, 0..3))
            .prop_map(|(keywords, below)| object(keywords.into_iter().chain(below).collect()))
    })
}

fn object(members: Vec<(&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Schemas of objects, so that many are accepted.
pub fn definition() -> impl Strategy<Value = Value> {
    (schema(), any::<bool>(), any::<bool>()).prop_map(|(mut schema, is_object, has_status)| {
        if is_object {
            schema["type"] = json!("object");
        }
        let mut definition = with_schema(schema);
        if has_status {
            definition["spec"]["versions"][0]["subresources"] = json!({"status": {}});
        }
        definition
    })
}
