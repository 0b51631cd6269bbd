//! Typed values: errors, sets, comparison, merge and removal by example (SA-10 to SA-28, SA-70 to
//! SA-73).

use billhook_apply::Duplicates;
use serde_json::{Value, json};

use crate::support::{live, merge_schema, paths, schema, set};

/// SA-26, SA-27: what an apply owns, and what is owned by an update that creates the same.
#[test]
fn sets_of_values() {
    let schema = schema();
    for (spec, applied, created) in [
        (json!({"a": "x"}), json!({"f:a": {}}), json!({".": {}, "f:a": {}})),
        (
            json!({"m": {"k": "1"}}),
            json!({"f:m": {"f:k": {}}}),
            json!({".": {}, "f:m": {".": {}, "f:k": {}}}),
        ),
        (json!({"m": {}}), json!({"f:m": {}}), json!({".": {}, "f:m": {}})),
        (json!({"m": null}), json!({"f:m": {}}), json!({".": {}, "f:m": {}})),
        (
            json!({"l": [{"name": "n", "v": 1}]}),
            json!({"f:l": {"k:{\"name\":\"n\"}": {".": {}, "f:name": {}, "f:v": {}}}}),
            json!({".": {}, "f:l": {".": {},
                "k:{\"name\":\"n\"}": {".": {}, "f:name": {}, "f:v": {}}}}),
        ),
        (json!({"o": {"p": 1}}), json!({"f:o": {}}), json!({".": {}, "f:o": {}})),
        (
            json!({"u": {"p": {"q": 1}}}),
            json!({"f:u": {"f:p": {".": {}, "f:q": {}}}}),
            json!({".": {}, "f:u": {".": {}, "f:p": {".": {}, "f:q": {}}}}),
        ),
    ] {
        let (object, nothing) = (json!({"spec": spec}), json!({}));
        let value = live(&schema, &object);
        assert_eq!(*value.field_set().to_fields_v1(), json!({"f:spec": applied}));
        let added = live(&schema, &nothing).compare(value).added;
        assert_eq!(*added.to_fields_v1(), json!({"f:spec": created}));
    }
    let object = json!({"spec": {"l": []}});
    assert!(live(&schema, &object).field_set().is_empty());
}

/// SA-71: the table of the rule, one letter an element.
#[test]
fn order_of_merged_lists() {
    let schema = schema();
    let list = |letters: &str| {
        let items = letters.split(' ').map(|name| json!(name));
        json!({"spec": {"s": items.collect::<Vec<Value>>()}})
    };
    for (live_items, config, merged) in [
        ("a b c", "b x", "a b c x"),
        ("a b c", "x b", "a x b c"),
        ("a b c", "c b", "a c b"),
        ("a b c d", "d a x", "b c d a x"),
        ("a b c", "c x a", "b c x a"),
        ("a b c d e", "e c", "a b d e c"),
        ("a b c", "x c y a z", "b x c y a z"),
        ("a b c d", "c y b", "a c d y b"),
        ("a b c d e f", "f x d y b", "a c e f x d y b"),
        ("a a b", "b", "a a b"),
        ("a a b", "a b", "a b"),
        ("a a b", "c b", "a a c b"),
    ] {
        let (object, config) = (list(live_items), list(config));
        let config = schema.check(&config, Duplicates::Refused).unwrap();
        assert_eq!(*live(&schema, &object).merge(config), list(merged));
    }
}

/// SA-15.
#[test]
fn type_errors() {
    let schema = merge_schema(&json!({"type": "object", "properties": {
        "n": {"type": "integer"},
        "s": {"type": "string"},
        "b": {"type": "boolean"},
        "d": {"type": "string", "format": "date-time"},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "t": {"type": "array", "items": {"type": "integer"}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "l": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["a", "b"], "items": {"type": "object", "properties": {
                "a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "integer"}}}},
    }}));
    for (spec, error) in [
        (json!({"q": 1}), ".spec.q: field not declared in schema"),
        (json!({"n": "1"}), ".spec.n: expected numeric (int or float), got string"),
        (json!({"n": {}}), ".spec.n: expected numeric (int or float), got map[string]interface {}"),
        (json!({"s": 1e21}), ".spec.s: expected string, got &value.valueUnstructured{Value:1e+21}"),
        (
            json!({"s": {"b": {"c": "d"}, "a": [1, "a", null]}}),
            ".spec.s: expected string, got &value.valueUnstructured{Value:map[string]interface {}{\
             \"a\":[]interface {}{1, \"a\", interface {}(nil)}, \"b\":map[string]interface {}{\
             \"c\":\"d\"}}}",
        ),
        (json!({"b": "x"}), ".spec.b: expected boolean, got &{x}"),
        (json!({"d": [1, "a", null]}), ".spec.d: expected any scalar, got &{[1 a <nil>]}"),
        (
            json!({"t": {"a": 1, "b": {"c": "d"}}}),
            ".spec.t: expected list, got &{map[a:1 b:map[c:d]]}",
        ),
        (json!({"t": ["x"]}), ".spec.t[0]: expected numeric (int or float), got string"),
        (json!({"m": 5}), ".spec.m: expected map, got &{5}"),
        (
            json!({"set": [1]}),
            ".spec.set[=1]: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            json!({"set": ["a", ["b"]]}),
            ".spec.set: element 1: not supported: associative list with lists as elements",
        ),
        (
            json!({"set": [null]}),
            ".spec.set: element 0: associative list without keys has an element that's an explicit null",
        ),
        (json!({"set": ["a", "a"]}), ".spec.set: duplicate entries for key [=\"a\"]"),
        (
            json!({"set": ["a", "a", "a"]}),
            "errors:\n  .spec.set: duplicate entries for key [=\"a\"]\n  \
             .spec.set: duplicate entries for key [=\"a\"]",
        ),
        (
            json!({"l": [{"c": 1}]}),
            ".spec.l: element 0: associative list with keys has an element that omits all key \
             fields [\"a\" \"b\"] (and doesn't have default values for any key fields)",
        ),
        (json!({"l": [{"b": 1}, {"b": 1.0}]}), ".spec.l: duplicate entries for key [b=1]"),
        (
            json!({"l": [{"a": "x", "b": null, "q": 1}]}),
            ".spec.l[a=\"x\",b=null].q: field not declared in schema",
        ),
    ] {
        let object = json!({"spec": spec});
        assert_eq!(schema.check(&object, Duplicates::Refused).unwrap_err().to_string(), error);
    }
}

/// SA-70: null and an empty container clear nothing.
#[test]
fn merge_removes_nothing() {
    let schema = schema();
    let object = json!({"spec": {"m": {"k": "x"}, "s": ["a"], "a": "x"}});
    for empty in [json!({"m": null, "s": null}), json!({"m": {}, "s": []})] {
        let config = json!({"spec": empty});
        let config = schema.check(&config, Duplicates::Refused).unwrap();
        assert_eq!(*live(&schema, &object).merge(config), object);
    }
}

/// SA-73.
#[test]
fn what_loses_its_content_becomes_null() {
    let schema = schema();
    let object = json!({"spec": {"m": {"k": "x"}, "l": [{"name": "n"}], "o": {"p": 1}}});
    for (fields, spec) in [
        (json!({"f:m": {"f:k": {}}}), json!({"m": null, "l": [{"name": "n"}], "o": {"p": 1}})),
        (
            json!({"f:m": {}, "f:l": {"k:{\"name\":\"n\"}": {"f:name": {}}}}),
            json!({"l": [null], "o": {"p": 1}}),
        ),
        (json!({"f:m": {}, "f:o": {"f:p": {}}}), json!({"l": [{"name": "n"}], "o": null})),
    ] {
        let fields = set(&json!({"f:spec": fields}));
        assert_eq!(*live(&schema, &object).remove(&fields), json!({"spec": spec}));
    }
}

/// SA-06: metadata is the same in every resource.
#[test]
fn metadata_is_owned_field_by_field() {
    let schema = schema();
    let object = json!({"metadata": {"labels": {"a": "b"}, "finalizers": ["f"],
        "ownerReferences": [{"uid": "u", "name": "n"}]}});
    assert_eq!(
        paths(&live(&schema, &object).field_set()),
        [
            ".metadata.finalizers[=\"f\"]",
            ".metadata.labels.a",
            ".metadata.ownerReferences[uid=\"u\"]",
        ]
    );
}
