//! The examples of the rules DF-10 to DF-28, and what holds for every value.

use billhook_apimachinery::Dialect;
use billhook_defaulting::{apply_defaults, remove_nulls};
use billhook_schema::CompiledSchema;
use billhook_testing::{kep, root_schema, value};
use proptest::prelude::*;
use serde_json::{Value, json};

fn compile(schema: &Value) -> CompiledSchema {
    kep::compile(schema, Dialect::Kubernetes)
}

/// Rule, properties of the root, object, the object without nulls, the object with defaults.
fn check(rule: &str, properties: &Value, object: &Value, removed: &Value, defaulted: &Value) {
    let schema = compile(&json!({"type": "object", "properties": properties}));
    let mut object = object.clone();
    remove_nulls(schema.root(), &mut object, &mut ());
    assert_eq!(object, *removed, "{rule}: removal of nulls");
    apply_defaults(schema.root(), &mut object, &mut ()).unwrap();
    assert_eq!(object, *defaulted, "{rule}: defaults");
}

/// The table of DF-11.
#[test]
fn a_null_field() {
    let null = json!({"foo": null});
    for (schema, removed, defaulted) in [
        (json!({"default": "d"}), &null, json!({"foo": "d"})),
        (json!({}), &json!({}), json!({})),
        (json!({"nullable": true, "default": "d"}), &null, null.clone()),
        (json!({"nullable": true}), &null, null.clone()),
    ] {
        let mut foo = schema;
        foo["type"] = "string".into();
        check("DF-11", &json!({"foo": foo}), &null, removed, &defaulted);
    }
    check("DF-11, unspecified", &json!({}), &null, &null, &null);
}

#[test]
fn nulls_in_maps_and_lists() {
    let text = json!({"type": "string"});
    let nulls = json!({"m": {"a": null, "b": "x"}});
    let map =
        |additional: &Value| json!({"m": {"type": "object", "additionalProperties": additional}});
    let left = json!({"m": {"b": "x"}});
    check("DF-12", &map(&text), &nulls, &left, &left);
    check("DF-12, true", &map(&json!(true)), &nulls, &nulls, &nulls);
    let untyped = json!({"j": {"x-kubernetes-preserve-unknown-fields": true}});
    check("DF-13", &untyped, &json!({"j": null}), &json!({}), &json!({}));
    let list = |items: &Value| json!({"l": {"type": "array", "items": items}});
    let object = json!({"l": ["a", null]});
    check("DF-14", &list(&text), &object, &object, &object);
    let items = json!({"type": "object", "properties": {"a": text}});
    let left = json!({"l": [{}]});
    check("DF-14, objects", &list(&items), &json!({"l": [{"a": null}]}), &left, &left);
    check(
        "DF-15",
        &json!({"metadata": {"type": "object"}, "kind": text}),
        &json!({"metadata": null, "kind": null}),
        &json!({}),
        &json!({}),
    );
}

#[test]
fn defaults() {
    let empty = json!({});
    let added = |rule: &str, properties: &Value, expected: &Value| {
        check(rule, properties, &json!({}), &json!({}), expected);
    };
    let replicas = json!({"replicas": {"type": "integer", "default": 1}});
    added("DF-20", &replicas, &json!({"replicas": 1}));
    let mut foo = json!({"foo": {
        "type": "object",
        "default": {"b": "def"},
        "properties": {"a": {"type": "string", "default": "abc"}, "b": {"type": "string"}},
    }});
    added("DF-21", &foo, &json!({"foo": {"a": "abc", "b": "def"}}));
    foo["foo"].as_object_mut().unwrap().remove("default");
    added("DF-21, without a default above", &foo, &empty);
    let zed = json!({"a": {
        "type": "object",
        "properties": {"z": {"type": "string", "default": "Z"}},
    }});
    for object in [json!({"a": "str"}), json!({"a": [{}]})] {
        check("DF-22", &zed, &object, &object, &object);
    }
    added(
        "DF-23",
        &json!({
            "b": {"type": "boolean", "default": false},
            "e": {"type": "object", "default": {}},
            "n": {"type": "integer", "default": 0},
            "s": {"type": "string", "default": ""},
            "l": {"type": "array", "items": {"type": "string"}, "default": []},
        }),
        &json!({"b": false, "e": {}, "n": 0, "s": "", "l": []}),
    );
    check(
        "DF-27",
        &json!({"j": {"x-kubernetes-int-or-string": true, "default": 5}}),
        &json!({"j": null}),
        &json!({"j": null}),
        &json!({"j": 5}),
    );
}

#[test]
fn defaults_of_items_and_members_replace_nulls() {
    let list = json!({"l": {"type": "array", "items": {"type": "string", "default": "q"}}});
    let object = json!({"l": ["a", null]});
    check("DF-25", &list, &object, &object, &json!({"l": ["a", "q"]}));
    let map = json!({"m": {
        "type": "object",
        "additionalProperties": {"type": "string", "default": "dd"},
    }});
    let object = json!({"m": {"a": null}});
    check("DF-25", &map, &object, &object, &json!({"m": {"a": "dd"}}));
}

#[test]
fn nulls_in_defaults() {
    let run = |default: Value| {
        let schema = compile(&json!({"type": "object", "properties": {"a": {
            "type": "object",
            "default": default,
            "properties": {
                "x": {"type": "string"},
                "z": {"type": "string", "default": "Z"},
            },
        }}}));
        let mut object = json!({});
        apply_defaults(schema.root(), &mut object, &mut ()).unwrap();
        object
    };
    assert_eq!(run(json!({"x": null})), json!({"a": {"x": null, "z": "Z"}}), "DF-26");
    assert_eq!(run(json!({"z": null})), json!({"a": {"z": "Z"}}), "DF-26");
}

/// DF-24.
#[test]
fn the_default_of_the_root() {
    let schema = compile(&json!({
        "type": "object",
        "default": {"x": 1},
        "properties": {"x": {"type": "integer"}},
    }));
    let mut object = json!({});
    apply_defaults(schema.root(), &mut object, &mut ()).unwrap();
    assert_eq!(object, json!({}));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn laws((schema, object) in (root_schema(), value())) {
        let schema = compile(&schema);
        let (mut silent, mut reporting) = (object.clone(), object.clone());
        remove_nulls(schema.root(), &mut silent, &mut ());
        let mut removed = Vec::new();
        remove_nulls(schema.root(), &mut reporting, &mut removed);
        prop_assert_eq!(&silent, &reporting);
        prop_assert_eq!(removed.is_empty(), silent == object, "every removal is reported");

        let before = silent.clone();
        apply_defaults(schema.root(), &mut silent, &mut ()).unwrap();
        let mut applied = Vec::new();
        apply_defaults(schema.root(), &mut reporting, &mut applied).unwrap();
        prop_assert_eq!(&silent, &reporting);
        prop_assert_eq!(applied.is_empty(), silent == before, "every default is reported");

        apply_defaults(schema.root(), &mut reporting, &mut ()).unwrap();
        prop_assert_eq!(silent, reporting, "a second time nothing is left to default");
    }
}
