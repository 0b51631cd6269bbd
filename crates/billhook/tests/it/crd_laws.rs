//! Laws that hold for every definition.

use crate::definitions::{create, errors, update, with_schema};
use billhook::{CustomResourceDefinition, DecodeOptions, Definition, Verdict};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Keywords with values that may or may not fit where they stand.
fn keyword() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        6 => proptest::sample::select(vec!["object", "array", "string", "integer", "null", "x"])
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
        1 => proptest::sample::select(vec!["set", "map", "atomic", "y"])
            .prop_map(|name| ("x-kubernetes-list-type", json!(name))),
        1 => Just(("x-kubernetes-list-map-keys", json!(["a", "b", "a"]))),
        1 => Just(("x-kubernetes-map-type", json!("atomic"))),
        1 => Just(("x-kubernetes-validations", json!([{"rule": "true", "fieldPath": ".a"}]))),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = vec(keyword(), 0..3).prop_map(object);
    leaf.prop_recursive(4, 30, 4, |inner| {
        let properties = vec(
            (proptest::sample::select(vec!["a", "b", "metadata", "kind"]), inner.clone()),
            0..4,
        );
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
fn definition() -> impl Strategy<Value = Value> {
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

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// What is accepted can be served.
    #[test]
    fn accepted_definitions_compile(definition in definition()) {
        if create(&definition).verdict() == Verdict::Invalid {
            return Ok(());
        }
        let crd = match CustomResourceDefinition::from_value(&definition) {
            Ok(crd) => crd,
            Err(error) => {
                // A root without a type passes the checks, but its default is of no use (DF-31).
                prop_assert!(error.to_string().contains("object root default value"), "{}", error);
                return Ok(());
            }
        };
        let version = crd.version("v1").unwrap();
        prop_assert!(version.structural_errors().is_empty());
        let body = json!({"apiVersion": "example.com/v1", "kind": "Foo"}).to_string();
        prop_assert!(version.decode(body.as_bytes(), &DecodeOptions::default()).is_ok());
    }

    /// An update is never stricter than a create, and one that changes nothing relaxes what is
    /// wrong already.
    #[test]
    fn updates_are_relaxed(definition in definition(), old in definition()) {
        let created = errors(&create(&definition));
        for old in [&definition, &old] {
            for error in errors(&update(&definition, old)) {
                prop_assert!(created.contains(&error), "{}", error);
            }
        }
    }

    /// A second version that is the same but for its name changes nothing.
    #[test]
    fn equal_versions_are_one(definition in definition()) {
        let mut twice = definition.clone();
        let mut second = twice["spec"]["versions"][0].clone();
        second["name"] = json!("v2");
        second["storage"] = json!(false);
        twice["spec"]["versions"].as_array_mut().unwrap().push(second);
        prop_assert_eq!(create(&twice), create(&definition));
    }

    /// Two versions that differ have the errors of both, each at its own place.
    #[test]
    fn different_versions_are_separate(first in definition(), second in definition()) {
        let schema = |definition: &Value| {
            definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
        };
        prop_assume!(schema(&first) != schema(&second));
        let mut both = with_schema(schema(&first));
        let mut version = both["spec"]["versions"][0].clone();
        version["name"] = json!("v2");
        version["storage"] = json!(false);
        version["schema"]["openAPIV3Schema"] = schema(&second);
        both["spec"]["versions"].as_array_mut().unwrap().push(version);
        let place = |index: usize| format!("spec.versions[{index}].schema.openAPIV3Schema");
        let alone = |definition: &Value, index: usize| -> Vec<String> {
            errors(&create(&with_schema(schema(definition))))
                .iter()
                .map(|error| error.replace("spec.validation.openAPIV3Schema", &place(index)))
                .collect()
        };
        let mut expected = alone(&first, 0);
        expected.extend(alone(&second, 1));
        prop_assume!(!errors(&create(&both)).iter().any(|error| error.starts_with("spec.validation")));
        prop_assert_eq!(errors(&create(&both)), expected);
    }

    /// Whatever is written there: an answer, and no other one the second time.
    #[test]
    fn any_value_has_an_answer(definition in definition(), keyword in keyword(), at in 0usize..8) {
        let mut definition = definition;
        let version = &mut definition["spec"]["versions"][0];
        let name = ["name", "served", "schema", "subresources", "additionalPrinterColumns",
            "selectableFields", "deprecationWarning", "storage"][at];
        version[name] = keyword.1;
        let first = Definition::from_value(&definition).map(|manifest| manifest.validate_create());
        let second = Definition::from_value(&definition).map(|manifest| manifest.validate_create());
        prop_assert_eq!(first, second);
    }
}
