//! Generators and helpers that the tests of several crates share. Helpers of tests may panic.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

pub mod definitions;
pub mod etcd;
pub mod fixtures;
pub mod kep;
pub mod keywords;

use billhook_apimachinery::value::{DeepValue, deep_clone};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Few names, so that objects and schemas meet.
const NAMES: [&str; 9] = ["a", "b", "c", "spec", "*", "", "metadata", "kind", "apiVersion"];
/// How many of the names are not those of resource fields.
const PLAIN_NAMES: usize = 6;

/// Returns a definition of `foos.example.com` with the version `v1` and a schema.
pub fn definition_with(schema: &Value, preserve_unknown_fields: bool) -> DeepValue {
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "preserveUnknownFields": preserve_unknown_fields,
        },
    });
    let mut version = json!({"name": "v1", "served": true, "storage": true});
    let schema = ("openAPIV3Schema".to_owned(), deep_clone(schema));
    version["schema"] = Value::Object(Map::from_iter([schema]));
    definition["spec"]["versions"] = Value::Array(vec![version]);
    DeepValue::from(definition)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-3i64..100).prop_map(Value::from),
        // Negative zero prints as `-0` and is read back as the integer 0.
        prop_oneof![Just(1.5), Just(1e300), Just(2.0)].prop_map(Value::from),
        "[a-z0-9é]{0,3}".prop_map(Value::from),
        Just(json!("2020-01-01T02:00:00+02:00")),
    ]
}

fn name(count: usize) -> impl Strategy<Value = String> {
    proptest::sample::select(&NAMES[..count]).prop_map(str::to_owned)
}

fn members(names: usize, value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    vec((name(names), value), 0..5).prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Metadata with fields right, wrong and unknown.
fn metadata() -> impl Strategy<Value = Value> {
    let field = prop_oneof![
        Just(("name", json!("x"))),
        Just(("labels", json!({"a": "b", "c": null}))),
        Just(("labels", json!({}))),
        Just(("creationTimestamp", json!(null))),
        Just(("creationTimestamp", json!("2020-01-01T02:00:00.5+02:00"))),
        Just(("generation", json!(2.0))),
        Just(("ownerReferences", json!([{"kind": "K", "z": 1}, null]))),
        Just(("managedFields", json!([{"fieldsV1": {"f:a": {}}, "time": null, "q": 1}]))),
        Just(("garbage", json!([1]))),
    ];
    vec(field, 0..5).prop_map(|fields| {
        Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

/// Any value.
pub fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![4 => scalar(), 1 => Just(Value::Null)];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            4 => members(NAMES.len(), inner.clone()),
            1 => vec(inner.clone(), 0..4).prop_map(Value::Array),
            1 => (members(NAMES.len(), inner), metadata()).prop_map(|(mut object, metadata)| {
                object["metadata"] = metadata;
                object["kind"] = json!("K");
                object["apiVersion"] = json!("v1");
                object
            }),
        ]
    })
}

/// A default that a server would accept in most places: without nulls and resource fields.
fn default() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            3 => members(PLAIN_NAMES, inner.clone()),
            1 => vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

/// A resource of the definition that [`definition_with`] makes.
pub fn resource() -> impl Strategy<Value = Value> {
    (members(NAMES.len(), value()), metadata()).prop_map(|(mut object, metadata)| {
        object["apiVersion"] = json!("example.com/v1");
        object["kind"] = json!("Foo");
        object["metadata"] = metadata;
        object
    })
}

/// A schema node that can be converted, though not always structural; its defaults hold no nulls.
pub fn schema() -> impl Strategy<Value = Value> {
    const TYPES: [&str; 4] = ["object", "array", "string", "integer"];
    let leaf = proptest::sample::select(&TYPES[..]).prop_map(|name| json!({"type": name}));
    leaf.prop_recursive(5, 50, 5, move |inner| {
        let properties = vec((name(NAMES.len()), inner.clone()), 0..5)
            .prop_map(|list| Value::Object(list.into_iter().collect()));
        let additional = prop_oneof![
            4 => Just(Value::Null),
            1 => any::<bool>().prop_map(Value::from),
            2 => inner.clone(),
        ];
        let items = proptest::option::weighted(0.4, inner);
        let default = proptest::option::weighted(0.35, default());
        let flag = |weight| proptest::bool::weighted(weight);
        let node = (properties, additional, items, default, flag(0.25), flag(0.2), flag(0.25));
        node.prop_map(|(properties, additional, items, default, preserve, embedded, nullable)| {
            let mut node = json!({"type": "object", "properties": properties});
            if !additional.is_null() {
                node["additionalProperties"] = additional;
            }
            for (keyword, value) in [("items", items), ("default", default)] {
                if let Some(value) = value {
                    node[keyword] = value;
                }
            }
            for (keyword, on) in [
                ("x-kubernetes-preserve-unknown-fields", preserve),
                ("x-kubernetes-embedded-resource", embedded),
                ("nullable", nullable),
            ] {
                if on {
                    node[keyword] = json!(true);
                }
            }
            node
        })
    })
}

/// A structural schema for a whole resource, without defaults where a definition may have none
/// (CV-48).
pub fn root_schema() -> impl Strategy<Value = Value> {
    schema().prop_map(|mut root| {
        let members = root.as_object_mut().unwrap();
        members.insert("type".to_owned(), json!("object"));
        members.remove("default");
        members.remove("additionalProperties");
        make_structural(&mut root);
        if let Some(Value::Object(properties)) = root.get_mut("properties") {
            for (name, type_) in
                [("metadata", "object"), ("kind", "string"), ("apiVersion", "string")]
            {
                if let Some(property) = properties.get_mut(name) {
                    *property = json!({"type": type_});
                }
            }
        }
        root
    })
}

/// Brings a generated node in line with SS-42, SS-46, SS-48, SS-49, SS-60 and SS-61.
fn make_structural(node: &mut Value) {
    let is_true = |node: &Value, keyword: &str| node.get(keyword) == Some(&json!(true));
    if node["type"] == "array" && node.get("items").is_none() {
        node["items"] = json!({"type": "string"});
    }
    if is_true(node, "x-kubernetes-embedded-resource") {
        node["type"] = json!("object");
        let members = node.as_object_mut().unwrap();
        members.remove("additionalProperties");
        let lists = members.get("properties").and_then(Value::as_object);
        if lists.is_none_or(Map::is_empty) {
            members.insert("x-kubernetes-preserve-unknown-fields".to_owned(), json!(true));
        }
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            for name in ["kind", "apiVersion"] {
                if let Some(property) = properties.get_mut(name) {
                    *property = json!({"type": "string"});
                }
            }
            if let Some(metadata) = properties.get_mut("metadata") {
                metadata["type"] = json!("object");
                metadata.as_object_mut().unwrap().remove("default");
            }
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(below) = node.get_mut(keyword).filter(|below| below.is_object()) {
            make_structural(below);
        }
    }
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        properties.values_mut().for_each(make_structural);
    }
}

/// Runs a test body on a stack of 2 MiB.
pub fn on_small_stack(body: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(body).unwrap();
    thread.join().unwrap();
}

/// Values of a few parts, without floats, and with keys that pointers must escape.
pub fn small_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        "[a-c]?".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let members = proptest::collection::btree_map("[a-c~/.]", inner.clone(), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
