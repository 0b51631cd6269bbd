//! Hostile input: depth, size, repeated elements.

use std::collections::BTreeMap;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::value::{DeepValue, deep_eq};
use billhook_apply::{Duplicates, FieldManager, FieldSet, ManagedFields, MergeSchema};
use billhook_decode::read_json;
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps};
use serde_json::{Value, json};

use crate::support::{live, schema};
use crate::world::{Definition, V1, World, typed};

/// A set as deep as a document may be, and what is done with it.
#[test]
fn deep_sets() {
    const LEVELS: usize = 9_990;
    let text = format!("{}{{}}{}", "{\"f:a\":".repeat(LEVELS), "}".repeat(LEVELS));
    let document = read_json(text.as_bytes()).unwrap().into_value();
    let set = FieldSet::from_fields_v1(&document).unwrap();
    assert_eq!(set.to_fields_v1(), document);
    assert_eq!(set.union(&set.clone()), set);
    assert_eq!(set.difference(&set), FieldSet::default());
    assert_eq!(set.paths().len(), 1);
    assert_eq!(schema().closure(&set), set);
}

/// An object as deep as a document may be, in a preserved part.
#[test]
fn deep_objects() {
    const LEVELS: usize = 9_980;
    let below = format!("{}1{}", "{\"a\":".repeat(LEVELS), "}".repeat(LEVELS));
    let text = format!("{{\"spec\":{{\"u\":{below}}}}}");
    let document = read_json(text.as_bytes()).unwrap().into_value();
    let schema = schema();
    let value = live(&schema, &document);
    let set = value.field_set();
    assert!(value.compare(value).is_same());
    assert_eq!(value.merge(value), document);
    let emptied: DeepValue = value.remove(&set);
    assert!(emptied.pointer("/spec/u").is_some_and(Value::is_null));
}

/// The work for a list with identities does not grow with its square: a hundred thousand elements
/// are nothing special.
#[test]
fn large_lists() {
    const ITEMS: usize = 100_000;
    let items = |from: usize| {
        let items = (from..from + ITEMS).rev().map(|at| json!({"name": format!("n{at}"), "v": at}));
        json!({"spec": {"l": items.collect::<Vec<Value>>()}})
    };
    let (object, config) = (items(0), items(ITEMS / 2));
    let schema = schema();
    let config = schema.check(&config, Duplicates::Refused).unwrap();
    let value = live(&schema, &object);
    let merged = value.merge(config);
    assert_eq!(merged["spec"]["l"].as_array().unwrap().len(), ITEMS + ITEMS / 2);
    assert!(live(&schema, &merged).compare(config).added.is_empty());
    let rest = live(&schema, &merged).remove(&config.field_set());
    assert_eq!(rest["spec"]["l"].as_array().unwrap().len(), ITEMS / 2);
}

/// Keyed lists in keyed lists. At each level the configuration has the elements in another order than
/// the live list, or does not have all of them.
#[test]
fn nested_lists_in_other_orders() {
    for levels in [40, 2_000] {
        let nested = |start: &str, innermost: &str, end: &str| {
            format!("{}{innermost}{}", start.repeat(levels), end.repeat(levels))
        };
        let list = r#"{"type":"array","x-kubernetes-list-type":"map",
            "x-kubernetes-list-map-keys":["n"],"items":{"type":"object","properties":{
                "n":{"type":"string"},"v":{"type":"integer"},"l":"#;
        let spec = nested(list, r#"{"type":"string"}"#, "}}}");
        let definition = definition(&spec);
        let object = |start: &str, end: &str| {
            let spec = nested(start, r#""x""#, end);
            parse(&format!(r#"{{"apiVersion":"{V1}","kind":"Foo","spec":{spec}}}"#))
        };
        let last = object(r#"[{"n":"x"},{"n":"a","l":"#, "}]");
        let first = object(r#"[{"n":"a","l":"#, r#"},{"n":"x"}]"#);
        let alone = object(r#"[{"n":"a","l":"#, "}]");
        let changed = object(r#"[{"n":"a","l":"#, r#","v":1},{"n":"y"},{"n":"x"}]"#);
        let time = Time::parse("2026-01-01T00:00:00Z").unwrap();
        let manager = |name| FieldManager::new(&definition, (V1, "Foo"), name, time);

        let mut live = manager("m").create(&last).unwrap();
        for (config, expected) in [
            (&first, &first),
            (&last, &last),
            (&changed, &changed),
            (&alone, &alone),
            (&last, &last),
        ] {
            assert_eq!(manager("m").apply(&mut live, config, false), Ok(true));
            assert!(deep_eq(&live["spec"], &expected["spec"]));
        }
        assert_eq!(manager("other").apply(&mut live, &first, false), Ok(true));
        assert!(deep_eq(&live["spec"], &first["spec"]));
        assert!(manager("other").apply(&mut live, &changed, false).is_ok());
        assert_eq!(manager("m").apply(&mut live, &alone, false), Ok(false));
        assert_eq!(manager("other").apply(&mut live, &alone, false), Ok(true));
        assert!(deep_eq(&live["spec"], &alone["spec"]));
    }
}

/// Declared maps in declared maps, at whose bottom a manager gives up what no other one owns.
#[test]
fn nested_maps_of_which_parts_are_given_up() {
    const LEVELS: usize = 2_000;
    let map = r#"{"type":"object","properties":{"o":"#;
    let bottom = r#"{"type":"object","properties":{
        "a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}}}"#;
    let spec = format!("{}{bottom}{}", map.repeat(LEVELS), "}}".repeat(LEVELS));
    let definition = definition(&spec);
    let object = |bottom: &str| {
        let spec = format!("{}{bottom}{}", r#"{"o":"#.repeat(LEVELS), "}".repeat(LEVELS));
        parse(&format!(r#"{{"apiVersion":"{V1}","kind":"Foo","spec":{spec}}}"#))
    };
    let time = Time::parse("2026-01-01T00:00:00Z").unwrap();
    let manager = |name| FieldManager::new(&definition, (V1, "Foo"), name, time);
    let mut live = manager("m").create(&object(r#"{"a":"x","b":"x"}"#)).unwrap();
    manager("other").apply(&mut live, &object(r#"{"b":"x","c":"x"}"#), false).unwrap();
    assert_eq!(manager("m").apply(&mut live, &object(r#"{"b":"x"}"#), false), Ok(true));
    assert!(deep_eq(&live["spec"], &object(r#"{"b":"x","c":"x"}"#)["spec"]));
    assert_eq!(manager("other").apply(&mut live, &object("{}"), false), Ok(true));
    assert!(deep_eq(&live["spec"], &object(r#"{"b":"x"}"#)["spec"]));
}

fn definition(spec: &str) -> Definition {
    let schema = format!(r#"{{"type":"object","properties":{{"spec":{spec}}}}}"#);
    let written = JsonSchemaProps::from_value(&parse(&schema)).unwrap();
    let compiled = CompiledSchema::of_part(&written, CompileOptions::default());
    Definition(BTreeMap::from([(V1, MergeSchema::new(&compiled, &written, false))]))
}

fn parse(text: &str) -> DeepValue {
    read_json(text.as_bytes()).unwrap().into_value()
}

/// Ten thousand managers, each with a field of its own: an apply that changes all of the fields
/// takes them from all, and an update merges all but ten entries.
#[test]
fn many_managers() {
    const MANAGERS: usize = 10_000;
    for operation in ["Apply", "Update"] {
        let entries = (0..MANAGERS).map(|at| {
            json!({"manager": format!("m{at}"), "operation": operation, "apiVersion": V1,
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:m": {format!("f:k{at}"): {}}}}})
        });
        let entries: Vec<Value> = entries.collect();
        let object = |value: &str| {
            let members = (0..MANAGERS).map(|at| (format!("k{at}"), json!(value)));
            let members = Value::Object(members.collect());
            typed(&json!({"spec": {"m": members}}), V1)
        };
        let mut world = World::new();
        world.live = Some(object("x"));
        world.apply("other", &object("x"), false).unwrap();
        let own = world.stored()["metadata"]["managedFields"][0].clone();
        let all: Vec<&Value> = entries.iter().chain([&own]).collect();
        world.managed = ManagedFields::of(&json!({"metadata": {"managedFields": all}})).unwrap();
        world.apply("other", &object("y"), true).unwrap();
        assert_eq!(world.managed.entries().count(), 1);

        world.managed =
            ManagedFields::of(&json!({"metadata": {"managedFields": entries}})).unwrap();
        let mut changed = object("y");
        changed["spec"]["a"] = json!("x");
        world.update("other", &changed);
        let expected = if operation == "Apply" { MANAGERS + 1 } else { 10 };
        assert_eq!(world.managed.entries().count(), expected);
    }
}

/// Ten thousand managers share their fields with one, who gives all of them up.
#[test]
fn fields_of_many_managers() {
    const MANAGERS: usize = 10_000;
    let names = || (0..MANAGERS).map(|at| format!("k{at}"));
    let entry = |manager: &str, names: Vec<String>| {
        let fields = names.into_iter().map(|name| (format!("f:{name}"), json!({})));
        json!({"manager": manager, "operation": "Apply", "apiVersion": V1,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:m": Value::Object(fields.collect())}}})
    };
    let mut entries: Vec<Value> = names().map(|name| entry(&name, vec![name.clone()])).collect();
    entries.push(entry("other", names().chain(["mine".to_owned()]).collect()));
    let members = names().chain(["mine".to_owned()]).map(|name| (name, json!("x")));
    let members = Value::Object(members.collect());

    let mut world = World::new();
    world.live = Some(typed(&json!({"spec": {"m": members}}), V1));
    world.managed = ManagedFields::of(&json!({"metadata": {"managedFields": entries}})).unwrap();
    world.apply("other", &json!({"spec": {"a": "x"}}), false).unwrap();
    let left = world.live.unwrap()["spec"]["m"].as_object().unwrap().len();
    assert_eq!((left, world.managed.entries().count()), (MANAGERS, MANAGERS + 1));
}

/// A set of ten megabytes.
#[test]
fn large_sets() {
    const FIELDS: usize = 400_000;
    let members = (0..FIELDS).map(|at| (format!("f:a-field-with-number-{at}"), json!({})));
    let fields = Value::Object(members.collect());
    let set = FieldSet::from_fields_v1(&fields).unwrap();
    assert!(billhook_apimachinery::print::plain_json(&fields).len() > 10_000_000);
    assert_eq!(set.union(&set), set);
    assert!(set.difference(&set).is_empty());
    assert_eq!(*set.to_fields_v1(), fields);
}
