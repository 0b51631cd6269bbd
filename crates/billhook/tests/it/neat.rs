//! The smallest manifests of objects.

use billhook::{CrdVersion, DecodeOptions, Dialect};
use billhook_testing::{resource, root_schema};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::definitions::version_with;

fn decoded(version: &CrdVersion, object: &Value) -> Option<String> {
    let body = billhook::to_json(object);
    let decoded = version.decode(body.as_bytes(), &DecodeOptions::default());
    decoded.ok().map(|decoded| billhook::to_json(decoded.object()))
}

/// The object without one of its members, for all members but those of a resource itself.
fn with_one_less(object: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match object {
        Value::Object(members) => {
            let is_resource = members.contains_key("apiVersion");
            for (name, member) in members {
                if is_resource && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
                    continue;
                }
                let mut without = members.clone();
                without.remove(name);
                found.push(Value::Object(without));
                for less in with_one_less(member) {
                    let mut members = members.clone();
                    members.insert(name.clone(), less);
                    found.push(Value::Object(members));
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for less in with_one_less(item) {
                    let mut items = items.clone();
                    items[index] = less;
                    found.push(Value::Array(items));
                }
            }
        }
        _ => {}
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// It decodes to the same object, and nothing of it can be left out.
    #[test]
    fn a_neat_manifest_is_the_smallest_of_the_same_object(
        schema in root_schema(), input in resource(), preserve in proptest::bool::weighted(0.2),
    ) {
        let version = version_with(&schema, Dialect::Kubernetes, preserve);
        let Some(expected) = decoded(&version, &input) else { return Ok(()) };
        let neat = version.neat(&input).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(decoded(&version, &neat), Some(expected.clone()), "{:?}", neat);
        for less in with_one_less(&neat) {
            prop_assert_ne!(decoded(&version, &less), Some(expected.clone()), "{}", less);
        }
    }
}

/// A default that the defaults below it complete is left out, one that differs in any part stays
/// with that part.
#[test]
fn completed_defaults() {
    let version = version_with(
        &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "o": {"type": "object", "default": {}, "properties": {
                "a": {"type": "integer", "default": 1}, "b": {"type": "string"}}},
            "l": {"type": "array", "items": {"type": "object", "properties": {
                "p": {"type": "string", "default": "TCP"}, "n": {"type": "integer"}}}},
            "m": {"type": "object", "additionalProperties": {"type": "string", "default": "d"}},
            "x": {"type": "string", "nullable": true, "default": "d"}}}}}),
        Dialect::Kubernetes,
        false,
    );
    for (spec, expected) in [
        (json!({"o": {"a": 1}}), json!({})),
        (json!({"o": {}}), json!({})),
        (json!({"o": {"a": 1, "b": "x"}}), json!({"o": {"b": "x"}})),
        (json!({"o": {"a": 2}}), json!({"o": {"a": 2}})),
        (
            json!({"l": [{"p": "TCP", "n": 1}, {"p": "UDP"}]}),
            json!({"l": [{"n": 1}, {"p": "UDP"}]}),
        ),
        (json!({"x": "d", "unknown": 1}), json!({})),
        (json!({"x": null}), json!({"x": null})),
        (json!({"m": {"k": "d"}}), json!({"m": {"k": "d"}})),
    ] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "spec": spec});
        assert_eq!(version.neat(&object).unwrap()["spec"], expected, "{spec}");
    }
}
