//! The merge types of schemas, seen by what fits them and who owns what (SA-01 to SA-09).

use billhook_apply::{Duplicates, MergeSchema};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps};
use serde_json::{Value, json};

use crate::support::merge_schema;

/// The set of an object, or the error.
fn outcome(schema: &MergeSchema, object: &Value) -> Result<Value, String> {
    match schema.check(object, Duplicates::Refused) {
        Ok(typed) => Ok(typed.field_set().to_fields_v1().into_inner()),
        Err(errors) => Err(errors.to_string()),
    }
}

fn check(schema: &MergeSchema, object: &Value, expected: Result<Value, &str>) {
    assert_eq!(outcome(schema, object), expected.map_err(str::to_owned), "{object}");
}

/// Checks a value of `spec.x`, and what is owned of it.
fn check_field(field: &Value, value: &Value, expected: Result<Value, &str>) {
    let schema = merge_schema(&json!({"type": "object", "properties": {"x": field}}));
    let expected = expected.map(|set| json!({"f:spec": {"f:x": set}}));
    check(&schema, &json!({"spec": {"x": value}}), expected);
}

const WHOLE: fn() -> Value = || json!({});

/// SA-01, SA-02: a value picks the alternative of its own shape, null none; without a pick it is the
/// first in the order map, scalar, list.
#[test]
fn alternatives_of_nodes() {
    let any = json!({"x-kubernetes-preserve-unknown-fields": true});
    let port = json!({"x-kubernetes-int-or-string": true});
    for (field, value, expected) in [
        (json!({"type": "integer"}), json!(1.5), Ok(WHOLE())),
        (json!({"type": "number"}), json!(1), Ok(WHOLE())),
        (
            json!({"type": "integer"}),
            json!("1"),
            Err(".spec.x: expected numeric (int or float), got string"),
        ),
        (json!({"type": "boolean"}), json!("t"), Err(".spec.x: expected boolean, got &{t}")),
        (
            json!({"type": "string"}),
            json!(true),
            Err(".spec.x: expected string, got &value.valueUnstructured{Value:true}"),
        ),
        (
            json!({"type": "string", "format": "byte"}),
            json!(1),
            Err(".spec.x: expected string, got &value.valueUnstructured{Value:1}"),
        ),
        (json!({"type": "string", "format": "date-time"}), json!(1), Ok(WHOLE())),
        (
            json!({"type": "string", "format": "date-time"}),
            json!({"a": 1}),
            Err(".spec.x: expected any scalar, got &{map[a:1]}"),
        ),
        (json!({"type": "object"}), json!([]), Err(".spec.x: expected map, got &{[]}")),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!("x"),
            Err(".spec.x: expected list, got &{x}"),
        ),
        (port.clone(), json!("http"), Ok(WHOLE())),
        (port.clone(), json!([{"a": 1}]), Ok(WHOLE())),
        (port, json!({"a": 1}), Ok(json!({"f:a": {}}))),
        (any, json!({"a": [1]}), Ok(json!({"f:a": {}}))),
        (json!({"type": "object"}), Value::Null, Ok(WHOLE())),
        (json!({"type": "integer"}), Value::Null, Ok(WHOLE())),
    ] {
        check_field(&field, &value, expected);
    }
}

/// SA-03: the type of keys that are not listed, and maps that are owned as a whole.
#[test]
fn maps() {
    let listed = json!({"a": {"type": "string"}});
    let unknown = ".spec.x.b: field not declared in schema";
    let b = || Ok(json!({"f:b": {}}));
    for (field, expected) in [
        (json!({"type": "object"}), b()),
        (json!({"type": "object", "properties": {}}), b()),
        (json!({"type": "object", "properties": listed}), Err(unknown)),
        (
            json!({"type": "object", "properties": listed,
                "x-kubernetes-preserve-unknown-fields": true}),
            b(),
        ),
        (json!({"type": "object", "additionalProperties": true}), b()),
        (json!({"type": "object", "additionalProperties": {"type": "integer"}}), b()),
        (
            json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
            Err(".spec.x.b: expected boolean, got &{1}"),
        ),
        (json!({"type": "object", "x-kubernetes-map-type": "atomic"}), Ok(WHOLE())),
        (json!({"type": "object", "x-kubernetes-map-type": "granular"}), b()),
    ] {
        check_field(&field, &json!({"b": 1}), expected);
    }
}

/// SA-04, SA-11: sets, keyed lists, lists as a whole; absent keys with a default count.
#[test]
fn lists() {
    let keyed = json!({"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "name"], "items": {"type": "object", "properties": {
            "name": {"type": "string"}, "port": {"type": "integer", "default": 80}}}});
    let set = json!({"type": "array", "x-kubernetes-list-type": "set",
        "items": {"type": "integer"}});
    for (field, value, expected) in [
        (json!({"type": "array", "items": {"type": "integer"}}), json!([1, 1]), Ok(WHOLE())),
        (
            json!({"type": "array", "items": {"type": "integer"}}),
            json!(["a"]),
            Err(".spec.x[0]: expected numeric (int or float), got string"),
        ),
        (set.clone(), json!([2, 1]), Ok(json!({"v:1": {}, "v:2": {}}))),
        (set, json!([2, 2.0]), Err(".spec.x: duplicate entries for key [=2]")),
        (
            keyed.clone(),
            json!([{"name": "a"}]),
            Ok(json!({r#"k:{"name":"a","port":80}"#: {".": {}, "f:name": {}}})),
        ),
        (keyed, json!([{}]), Ok(json!({r#"k:{"port":80}"#: {}}))),
    ] {
        check_field(&field, &value, expected);
    }
}

/// SA-05: unknown fields are preserved all the way down, but not in metadata; with the setting of
/// the definition there as well.
#[test]
fn preserved_fields() {
    let written = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"spec": {"type": "object", "properties": {
            "a": {"type": "string"},
            "list": {"type": "array", "items": {"type": "object", "properties": {
                "a": {"type": "string"}}}}}}}});
    let deep = json!({"spec": {"b": 1, "list": [{"b": 1}]}});
    let in_metadata = json!({"metadata": {"b": 1}});
    for preserves in [false, true] {
        let schema = root(&written, preserves);
        check(&schema, &deep, Ok(json!({"f:spec": {"f:b": {}, "f:list": {}}})));
        let expected = match preserves {
            true => Ok(json!({"f:metadata": {"f:b": {}}})),
            false => Err(".metadata.b: field not declared in schema"),
        };
        check(&schema, &in_metadata, expected);
    }
}

/// SA-06: resources at the root and inside have the standard metadata, whatever the schema says.
#[test]
fn resources() {
    let written = json!({"type": "object", "properties": {
        "metadata": {"type": "object", "properties": {"name": {"type": "integer"}}},
        "embedded": {"type": "object", "x-kubernetes-embedded-resource": true,
            "properties": {"a": {"type": "string"}}}}});
    let schema = root(&written, false);
    let metadata = json!({"name": "n", "labels": {"l": "x"}, "finalizers": ["f"],
        "deletionTimestamp": null, "generation": 1,
        "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "o", "uid": "u"}],
        "managedFields": [{"manager": "m"}]});
    let owned = json!({"f:name": {}, "f:labels": {"f:l": {}}, "f:finalizers": {"v:\"f\"": {}},
        "f:deletionTimestamp": {}, "f:generation": {},
        "f:ownerReferences": {r#"k:{"uid":"u"}"#: {}}, "f:managedFields": {}});
    check(&schema, &json!({"metadata": metadata}), Ok(json!({"f:metadata": owned})));
    let embedded = json!({"embedded": {"apiVersion": "v1", "metadata": metadata}});
    let owned = json!({"f:embedded": {"f:apiVersion": {}, "f:metadata": owned}});
    check(&schema, &embedded, Ok(owned));
    for (object, error) in [
        (
            json!({"metadata": {"clusterName": "c"}}),
            ".metadata.clusterName: field not declared in schema",
        ),
        (json!({"kind": 1}), ".kind: expected string, got &value.valueUnstructured{Value:1}"),
        (json!({"embedded": {"b": 1}}), ".embedded.b: field not declared in schema"),
        (
            json!({"metadata": {"labels": {"l": 1}}}),
            ".metadata.labels.l: expected string, got &value.valueUnstructured{Value:1}",
        ),
    ] {
        check(&schema, &object, Err(error));
    }
}

/// SA-07, SA-08: without a schema everything is deduced, metadata included.
#[test]
fn deduced_types() {
    let schema = MergeSchema::deduced();
    let object = json!({"metadata": {"name": 1, "finalizers": ["f"]}, "a": {"b": [{"c": 1}]}});
    let owned = json!({"f:metadata": {".": {}, "f:name": {}, "f:finalizers": {}},
        "f:a": {".": {}, "f:b": {}}});
    check(&schema, &object, Ok(owned));
}

fn root(written: &Value, preserves: bool) -> MergeSchema {
    let written = JsonSchemaProps::from_value(written).unwrap();
    let compiled = CompiledSchema::of_part(&written, CompileOptions::default());
    MergeSchema::new(&compiled, &written, preserves)
}
