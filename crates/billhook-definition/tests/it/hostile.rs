//! Definitions made to exhaust a server: nothing overflows a small stack, and nothing takes long.

use billhook_apimachinery::value::DeepValue;
use billhook_definition::Definition;
use billhook_testing::definitions::{base, with_schema};
use billhook_testing::on_small_stack;
use serde_json::{Map, Value, json};

use crate::support::{create, errors};

/// A value wrapped in an object, however deep it is.
fn member(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

/// The base with a schema that must not be copied by recursion.
fn deep(schema: Value) -> DeepValue {
    let mut definition = base();
    definition["spec"]["versions"][0]["schema"] = member("openAPIV3Schema", schema);
    DeepValue::from(definition)
}

fn typed(type_: &str, keyword: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([("type".to_owned(), json!(type_)), (keyword.to_owned(), value)]))
}

/// How deep schemas are nested in a body as deep as a server reads.
const DEPTH: usize = 4_900;

#[test]
fn deep_properties() {
    on_small_stack(|| {
        let mut schema = json!({"type": "string", "default": 5});
        for _ in 0..DEPTH {
            schema = typed("object", "properties", member("a", schema));
        }
        let definition = deep(schema);
        let manifest = Definition::from_value(&definition).unwrap();
        assert_eq!(manifest.validate_create().errors().len(), 1);
        assert_eq!(manifest.validate_update(&manifest).errors().len(), 1);
    });
}

#[test]
fn deep_lists_maps_and_junctors() {
    on_small_stack(|| {
        for keyword in ["items", "additionalProperties", "not", "allOf"] {
            let mut schema = match keyword {
                "not" | "allOf" => json!({}),
                _ => json!({"type": "string"}),
            };
            for _ in 0..DEPTH {
                schema = match keyword {
                    "items" => typed("array", keyword, schema),
                    "additionalProperties" => typed("object", keyword, schema),
                    "allOf" => member(keyword, Value::Array(vec![schema])),
                    _ => member(keyword, schema),
                };
            }
            if let ("not" | "allOf", Value::Object(members)) = (keyword, &mut schema) {
                members.insert("type".to_owned(), json!("string"));
            }
            let definition = deep(typed("object", "properties", member("a", schema)));
            let manifest = Definition::from_value(&definition).unwrap();
            assert_eq!(errors(&manifest.validate_create()), [""; 0], "{keyword}");
            assert_eq!(errors(&manifest.validate_update(&manifest)), [""; 0], "{keyword}");
        }
    });
}

/// Every level is wrong, and every path is as long as its level is deep.
#[test]
fn errors_at_every_level() {
    on_small_stack(|| {
        let mut schema = json!({"type": "x"});
        for _ in 0..DEPTH {
            let Value::Object(mut members) = typed("x", "properties", member("a", schema)) else {
                return;
            };
            members.insert("x-kubernetes-validations".to_owned(), json!([{"rule": "true"}]));
            schema = Value::Object(members);
        }
        let definition = deep(schema);
        let count = Definition::from_value(&definition).unwrap().validate_create().errors().len();
        assert!((500..3_000).contains(&count), "{count}");
    });
}

/// Rules at every level are compiled where nothing is wrong below them, and hide no error.
#[test]
fn rules_at_every_level() {
    on_small_stack(|| {
        for leaf in ["string", "x"] {
            let mut schema = json!({"type": leaf});
            for _ in 0..DEPTH {
                let wrapped = typed("object", "properties", member("a", schema));
                let Value::Object(mut members) = wrapped else { return };
                members.insert("x-kubernetes-validations".to_owned(), json!([{"rule": "true"}]));
                schema = Value::Object(members);
            }
            let definition = deep(schema);
            let validation = Definition::from_value(&definition).unwrap().validate_create();
            assert_eq!(validation.errors().len(), usize::from(leaf == "x"));
        }
    });
}

#[test]
fn deep_internal_form() {
    on_small_stack(|| {
        let mut schema = json!({"type": "string"});
        for _ in 0..DEPTH {
            schema = typed("array", "items", schema);
        }
        let mut definition = deep(schema).into_inner();
        let other = json!({"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object"}}});
        definition["spec"]["versions"].as_array_mut().unwrap().push(other);
        let definition = DeepValue::from(definition);
        let verdict = Definition::from_value(&definition).unwrap().validate_create();
        let unique =
            verdict.errors().iter().find(|error| error.detail().contains("unique")).unwrap();
        assert!(unique.to_string().len() > DEPTH * 500);
    });
}

#[test]
fn values_deeper_than_a_server_reads() {
    on_small_stack(|| {
        let mut schema = json!({"type": "string"});
        for _ in 0..20_000 {
            schema = typed("array", "items", schema);
        }
        let error = Definition::from_value(&deep(schema)).unwrap_err();
        assert_eq!(error.to_string(), "exceeded max depth");
    });
}

/// Errors that show a whole list do so a few times only.
#[test]
fn long_lists() {
    let keys: Vec<String> = (0..20_000).map(|number| format!("k{number}")).collect();
    let schema = json!({"type": "object", "properties": {"a": {"type": "array",
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys,
        "items": {"type": "object"}}}});
    let verdict = create(&with_schema(schema));
    assert_eq!(verdict.errors().len(), 1);

    let mut definition = base();
    let version = definition["spec"]["versions"][0].clone();
    let versions: Vec<Value> = (0..2_000)
        .map(|number| {
            let mut version = version.clone();
            version["name"] = json!(format!("v{number}"));
            version
        })
        .collect();
    definition["spec"]["versions"] = json!(versions);
    let verdict = create(&definition);
    // One about their number, and one about each that is not listed in the status.
    assert_eq!(verdict.errors().len(), 1 + 1_999);
}

/// Numbers at and beyond all limits.
#[test]
fn huge_numbers() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string",
        "maxLength": i64::MAX, "minLength": i64::MIN, "default": "x", "maximum": 1e308,
        "multipleOf": 5e-324}}});
    let found = errors(&create(&with_schema(schema)));
    assert_eq!(found, [""; 0]);
    let schema = json!({"type": "object", "properties": {"a": {"maxItems": 1e19}}});
    let error = Definition::from_value(&with_schema(schema)).unwrap_err();
    assert!(
        error.to_string().contains("cannot unmarshal number 10000000000000000000 into"),
        "{error}"
    );
}
