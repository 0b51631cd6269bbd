//! The schema that most tests use, and objects of it.

use billhook_apply::{Duplicates, FieldSet, MergeSchema, TypedValue};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) fn merge_schema(spec: &Value) -> MergeSchema {
    let written = json!({"type": "object", "properties": {"spec": spec}});
    let written = JsonSchemaProps::from_value(&written).unwrap();
    let compiled = CompiledSchema::of_part(&written, CompileOptions::default());
    MergeSchema::new(&compiled, &written, false)
}

/// A scalar, a map, a keyed list, a set and two parts that are owned as a whole.
pub(crate) fn schema() -> MergeSchema {
    merge_schema(&json!({"type": "object", "properties": {
        "a": {"type": "string"},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "l": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "v": {"type": "integer"}}}},
        "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "t": {"type": "array", "items": {"type": "integer"}},
        "o": {"type": "object", "x-kubernetes-map-type": "atomic",
            "properties": {"p": {"type": "integer"}}},
        "u": {"x-kubernetes-preserve-unknown-fields": true},
    }}))
}

pub(crate) fn live<'a>(schema: &'a MergeSchema, object: &'a Value) -> TypedValue<'a> {
    schema.check(object, Duplicates::Allowed).unwrap()
}

pub(crate) fn set(fields: &Value) -> FieldSet {
    FieldSet::from_fields_v1(fields).unwrap()
}

pub(crate) fn paths(set: &FieldSet) -> Vec<String> {
    set.paths().iter().map(ToString::to_string).collect()
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Objects of [`schema`], without repeated elements.
pub(crate) fn object() -> impl Strategy<Value = Value> {
    let name = || proptest::sample::select(&NAMES[..]).prop_map(str::to_owned);
    let text = || prop_oneof![Just(json!("x")), Just(json!("y")), Just(json!("z"))];
    let map = btree_map(name(), text(), 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    let unique = || {
        Just(NAMES.to_vec())
            .prop_shuffle()
            .prop_flat_map(|names| (0..=names.len()).prop_map(move |count| names[..count].to_vec()))
    };
    let list = (unique(), vec(proptest::option::of(0..3), 4)).prop_map(|(names, values)| {
        let items = names.into_iter().zip(values).map(|(name, value)| match value {
            Some(value) => json!({"name": name, "v": value}),
            None => json!({"name": name}),
        });
        Value::Array(items.collect())
    });
    let set = unique().prop_map(|names| json!(names));
    let atomic = vec(0..3, 0..3).prop_map(|items| json!(items));
    let whole = prop_oneof![Just(json!({})), Just(json!({"p": 1})), Just(json!({"p": 2}))];
    let unknown = prop_oneof![
        Just(json!({})),
        Just(json!({"k": {"d": 1}})),
        Just(json!({"k": 2})),
        Just(json!([1])),
        Just(json!("x")),
        Just(Value::Null),
    ];
    let finalizers = unique().prop_map(|names| {
        json!(names.iter().map(|name| format!("example.com/{name}")).collect::<Vec<_>>())
    });
    let labels = btree_map(name(), text(), 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    let maybe = |value: BoxedStrategy<Value>| proptest::option::of(value);
    let metadata =
        (maybe(labels.boxed()), maybe(finalizers.boxed())).prop_map(|(labels, finalizers)| {
            let name = Some(json!("obj"));
            present([("name", name), ("labels", labels), ("finalizers", finalizers)])
        });
    let fields = (
        maybe(text().boxed()),
        maybe(map.boxed()),
        maybe(list.boxed()),
        maybe(set.boxed()),
        maybe(atomic.boxed()),
        maybe(whole.boxed()),
        maybe(unknown.boxed()),
    );
    let spec = fields.prop_map(|(a, m, l, s, t, o, u)| {
        present([("a", a), ("m", m), ("l", l), ("s", s), ("t", t), ("o", o), ("u", u)])
    });
    (metadata, spec).prop_map(|(metadata, spec)| json!({"metadata": metadata, "spec": spec}))
}

fn present<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect())
}
