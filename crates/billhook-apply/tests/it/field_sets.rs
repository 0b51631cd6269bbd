//! Field sets: FieldsV1, order, operations (SA-20 to SA-25).

use billhook_apimachinery::print::compact_json;
use billhook_apply::{FieldSet, ManagedFields, PathElement};
use serde_json::json;

use crate::support::{paths, set};

/// SA-21, SA-23: what is written, and that it is read as the same set.
#[test]
fn sets_are_written_as_fields_v1() {
    let field = PathElement::field;
    let key = |fields: serde_json::Value| {
        let fields = fields.as_object().unwrap().clone();
        PathElement::key(fields.into_iter().map(|(name, value)| (name, value.into())))
    };
    for (path, written) in [
        (vec![field("a")], json!({"f:a": {}})),
        (vec![field("a"), field("")], json!({"f:a": {"f:": {}}})),
        (
            vec![field("l"), key(json!({"port": 80, "name": "<&>"}))],
            json!({"f:l": {r#"k:{"name":"\u003c\u0026\u003e","port":80}"#: {}}}),
        ),
        (vec![field("s"), PathElement::value(json!("a/b"))], json!({"f:s": {"v:\"a/b\"": {}}})),
        (vec![field("t"), PathElement::index(3)], json!({"f:t": {"i:3": {}}})),
    ] {
        let mut own = FieldSet::default();
        own.insert(&path);
        assert_eq!(*own.to_fields_v1(), written);
        assert_eq!(FieldSet::from_fields_v1(&written), Ok(own));
    }
}

/// SA-24.
#[test]
fn unknown_kinds_of_keys_are_dropped_with_what_is_below() {
    let read = set(&json!({"f:a": {"x:b": {"f:c": {}}}, "z:": 5, "f:n": null, "f:d": {".": 1}}));
    assert_eq!(paths(&read), [".a", ".d", ".n"]);
    assert!(set(&json!({})).is_empty());
}

/// SA-24.
#[test]
fn malformed_sets_are_refused() {
    for (fields, error) in [
        (json!([]), "the value of key \"\" is not an object"),
        (json!({"f:a": 1}), "the value of key \"f:a\" is not an object"),
        (json!({"f": {}}), "key \"f\" does not start with a letter and a colon"),
        (json!({"": {}}), "key \"\" does not start with a letter and a colon"),
        (json!({"foo": {}}), "key \"foo\" does not start with a letter and a colon"),
        (json!({"é:": {}}), "key \"é:\" does not start with a letter and a colon"),
        (json!({"v:x": {}}), "key \"v:x\": expected JSON after the prefix"),
        (json!({"k:[]": {}}), "key \"k:[]\": expected an object of key fields after the prefix"),
        (json!({"i:1.5": {}}), "key \"i:1.5\": expected an integer after the prefix"),
    ] {
        assert_eq!(FieldSet::from_fields_v1(&fields).unwrap_err().to_string(), error);
    }
}

/// SA-22: numbers by value, strings, booleans, objects, null; then members before all others.
#[test]
fn steps_are_in_the_order_of_the_server() {
    let read = set(&json!({
        "v:null": {}, "v:true": {}, "v:\"a\"": {}, "v:10": {}, "v:9.5": {}, "v:[1]": {},
        "k:{\"p\":10}": {}, "k:{\"p\":9}": {}, "k:{\"p\":9,\"q\":1}": {}, "k:{\"a\":\"z\"}": {},
        "i:2": {}, "i:10": {}, "f:b": {}, "f:a": {},
    }));
    assert_eq!(
        paths(&read),
        [
            ".a",
            ".b",
            "[a=\"z\"]",
            "[p=9]",
            "[p=9,q=1]",
            "[p=10]",
            "[=9.5]",
            "[=10]",
            "[=\"a\"]",
            "[=true]",
            "[=[1]]",
            "[=null]",
            "[2]",
            "[10]",
        ]
    );
}

/// The keys of FieldsV1 are sorted as texts, whatever the order of the steps is.
#[test]
fn sets_are_printed_as_they_are_written() {
    let fields = json!({
        ".": {}, "v:10": {}, "v:9.5": {}, "v:\"<\"": {}, "k:{\"p\":10}": {".": {}, "f:a": {}},
        "k:{\"p\":9}": {"f:\"": {"i:10": {}, "i:2": {}}}, "f:b": {"f:c": {".": {}, "f:d": {}}}, "f:a-": {},
        "f:a": {},
    });
    let object = json!({"metadata": {"managedFields": [{"manager": "\n", "operation": "Update",
        "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}}]}});
    let managed = ManagedFields::of(&object).unwrap();
    let mut written = json!({"metadata": {}});
    managed.clone().write_to(&mut written);
    assert_eq!(managed.to_json(), compact_json(&written["metadata"]["managedFields"]));
}

/// SA-84: members of a step before what is below any of them.
#[test]
fn paths_list_members_before_what_is_below() {
    let read = set(&json!({"f:spec": {"f:a": {"f:b": {}}, "f:z": {}}}));
    assert_eq!(paths(&read), [".spec.z", ".spec.a.b"]);
}

/// SA-25.
#[test]
fn differences_with_and_without_descendants() {
    let (a, a_b) = (set(&json!({"f:a": {}})), set(&json!({"f:a": {"f:b": {}}})));
    let both = a.union(&a_b);
    assert_eq!(paths(&both), [".a", ".a.b"]);
    assert_eq!(both.difference(&a), a_b);
    assert_eq!(a_b.difference(&a), a_b);
    assert_eq!(a.difference(&a_b), a);
    assert_eq!(both.recursive_difference(&a), FieldSet::default());
    assert_eq!(both.recursive_difference(&a_b), a);
    assert_eq!(both.intersection(&a_b), a_b);
    assert!(both.contains(&[PathElement::field("a"), PathElement::field("b")]));
    assert!(!a_b.contains(&[PathElement::field("a")]));
}
