//! The examples of the rules PR-01 to PR-33, and what holds for every value.

use billhook_apimachinery::Dialect;
use billhook_pruning::{prune, unknown_fields};
use billhook_schema::CompiledSchema;
use billhook_testing::{kep, root_schema, value};
use proptest::prelude::*;
use serde_json::{Value, json};

fn compile(schema: &Value) -> CompiledSchema {
    kep::compile(schema, Dialect::Kubernetes)
}

/// Rule, properties of the root, object, pruned object, reported paths.
fn check(rule: &str, properties: &Value, object: &Value, expected: &Value, unknown: &[&str]) {
    let schema = compile(&json!({"type": "object", "properties": properties}));
    let mut pruned = object.clone();
    let mut changes = Vec::new();
    prune(schema.root(), &mut pruned, &mut changes);
    assert_eq!(pruned, *expected, "{rule}");
    assert_eq!(unknown_fields(&changes), unknown, "{rule}");
}

#[test]
fn in_prune_mode() {
    let text = json!({"type": "string"});
    let one = json!({"type": "object", "properties": {"a": text}});
    check(
        "PR-12",
        &json!({"foo": {"type": "object", "properties": {"bar": {"type": "object"}}}}),
        &json!({"foo": {"bar": {"abc": 42}, "def": 43}}),
        &json!({"foo": {"bar": {}}}),
        &["foo.bar.abc", "foo.def"],
    );
    check(
        "PR-13",
        &json!({"arr": {"type": "array", "items": one}}),
        &json!({"arr": [{"a": "x", "b": 1}, {"c": {"d": 1}}, "str", null]}),
        &json!({"arr": [{"a": "x"}, {}, "str", null]}),
        &["arr[0].b", "arr[1].c"],
    );
    check("PR-14", &json!({"s": text}), &json!({"s": 5}), &json!({"s": 5}), &[]);
    check(
        "PR-15, an object for an array",
        &json!({"arr": {"type": "array", "items": one}}),
        &json!({"arr": {"a": 1, "b": 2}}),
        &json!({"arr": {}}),
        &["arr.a", "arr.b"],
    );
    check(
        "PR-15, an array for an object",
        &json!({"o": one}),
        &json!({"o": [{"a": 1}, 3, [{"x": 1}]]}),
        &json!({"o": [{}, 3, [{}]]}),
        &["o[0].a", "o[2][0].x"],
    );
    check(
        "PR-15, an object for a string",
        &json!({"s": text}),
        &json!({"s": {"a": 1}}),
        &json!({"s": {}}),
        &["s.a"],
    );
    for additional in [true, false] {
        check(
            "PR-11, PR-16",
            &json!({"foo": {"type": "object", "additionalProperties": additional}}),
            &json!({"foo": {"abc": {"x": 42}, "arr": [{"a": 1}, [{"z": 2}]]}}),
            &json!({"foo": {"abc": {}, "arr": [{}, [{}]]}}),
            &["foo.abc.x", "foo.arr[0].a", "foo.arr[1][0].z"],
        );
    }
    check(
        "PR-17",
        &json!({"m": {
            "type": "object",
            "additionalProperties": one,
            "properties": {"p": {"type": "object"}},
        }}),
        &json!({"m": {"p": {"a": "1"}, "q": {"a": "1", "b": "2"}}}),
        &json!({"m": {"p": {}, "q": {"a": "1"}}}),
        &["m.p.a", "m.q.b"],
    );
    check("PR-19", &json!({"foo": text}), &json!({"foo": null}), &json!({"foo": null}), &[]);
}

#[test]
fn in_keep_mode() {
    let check_json = |rule: &str, more: Value, object: Value, expected: Value, unknown: &[&str]| {
        let mut json = json!({"x-kubernetes-preserve-unknown-fields": true});
        json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let properties = json!({"json": json});
        check(rule, &properties, &json!({"json": object}), &json!({"json": expected}), unknown);
    };
    check_json("PR-10", json!({}), json!([{"a": 1}]), json!([{"a": 1}]), &[]);
    check_json("PR-22", json!({}), json!(null), json!(null), &[]);
    check_json(
        "PR-20",
        json!({"type": "object", "properties": {"bar": {"type": "object", "properties": {
            "inner": {"type": "integer"},
        }}}}),
        json!({"bar": {"inner": 43, "abc": 44}, "def": 45}),
        json!({"bar": {"inner": 43}, "def": 45}),
        &["json.bar.abc"],
    );
    check_json(
        "PR-23, properties",
        json!({"type": "object", "properties": {"bar": {"type": "object"}}}),
        json!({"bar": {"abc": 43}, "def": 44}),
        json!({"bar": {}, "def": 44}),
        &["json.bar.abc"],
    );
    for additional in [json!(true), json!({"type": "object"})] {
        check_json(
            "PR-23, additionalProperties",
            json!({"type": "object", "additionalProperties": additional}),
            json!({"bar": {"inner": 43}, "def": 45}),
            json!({"bar": {}, "def": 45}),
            &["json.bar.inner"],
        );
    }
    check_json(
        "PR-21, PR-23, items",
        json!({"type": "array", "items": {"type": "object", "properties": {
            "a": {"type": "object"},
        }}}),
        json!([{"a": {"x": 1}, "b": 2}, [{"a": {"y": 1}}]]),
        json!([{"a": {}, "b": 2}, [{"a": {"y": 1}}]]),
        &["json[0].a.x"],
    );
}

#[test]
fn at_the_root() {
    let run = |schema: Value, mut object: Value| {
        let mut changes = Vec::new();
        prune(compile(&schema).root(), &mut object, &mut changes);
        (object, unknown_fields(&changes))
    };
    assert_eq!(
        run(
            json!({"type": "object"}),
            json!({
                "apiVersion": "a/v1",
                "kind": "K",
                "metadata": {"name": "x", "garbage": 1},
                "foo": 1,
            }),
        ),
        (
            json!({"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x", "garbage": 1}}),
            vec!["foo".to_owned()]
        ),
        "PR-02"
    );
    assert_eq!(
        run(json!({"type": "object", "anyOf": [{"properties": {"foo": {}}}]}), json!({"foo": 1}),)
            .0,
        json!({}),
        "PR-18"
    );
    assert_eq!(
        run(
            json!({
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"spec": {"type": "object"}},
            }),
            json!({"spec": {"x": 1}, "other": {"y": [1]}}),
        )
        .0,
        json!({"spec": {}, "other": {"y": [1]}}),
        "PR-24"
    );
}

#[test]
fn resource_fields() {
    check(
        "PR-25",
        &json!({"object": {
            "type": "object",
            "x-kubernetes-embedded-resource": true,
            "properties": {"spec": {"type": "object"}},
        }}),
        &json!({"object": {
            "bar": 43,
            "metadata": {"name": "e", "garbage": 45},
            "kind": 5,
            "spec": {"a": 1},
        }}),
        &json!({"object": {"kind": 5, "metadata": {"garbage": 45, "name": "e"}, "spec": {}}}),
        &["object.bar", "object.spec.a"],
    );
    check(
        "PR-26",
        &json!({"s": {"type": "object"}}),
        &json!({"s": {"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x"}}}),
        &json!({"s": {}}),
        &["s.apiVersion", "s.kind", "s.metadata"],
    );
}

#[test]
fn reported_paths() {
    check(
        "PR-30",
        &json!({"a.b": {"type": "object", "properties": {"c d": {"type": "object"}}}}),
        &json!({"a.b": {"c d": {"x": 1}, "": 2}}),
        &json!({"a.b": {"c d": {}}}),
        &["a.b.", "a.b.c d.x"],
    );
    let object = json!({"status": {"a": [{"b": 1}]}});
    check("PR-31", &json!({}), &object, &json!({}), &["status"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn laws((schema, object) in (root_schema(), value())) {
        let schema = compile(&schema);
        let (mut silent, mut reporting) = (object.clone(), object.clone());
        prune(schema.root(), &mut silent, &mut ());
        let mut changes = Vec::new();
    prune(schema.root(), &mut reporting, &mut changes);
        prop_assert_eq!(&silent, &reporting);
        prop_assert_eq!(changes.is_empty(), silent == object, "every change is reported");
        prune(schema.root(), &mut reporting, &mut ());
        prop_assert_eq!(silent, reporting, "a second time nothing is left to prune");
    }
}
