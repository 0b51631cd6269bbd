//! Schemas and values made to hurt: they get an answer on a stack of 2 MiB, in time that grows with
//! their size.

use billhook_apimachinery::value::DeepValue;
use billhook_schema::JsonSchemaProps;
use billhook_testing::on_small_stack;
use billhook_validation::Validator;
use serde_json::{Map, Value, json};

const LEVELS: usize = 9_990;

/// Wraps a value in members or elements of the same name, many times.
fn nested(name: Option<&str>, inner: Value, levels: usize) -> DeepValue {
    let mut value = inner;
    for _ in 0..levels {
        value = match name {
            Some(name) => Value::Object(Map::from_iter([(name.to_owned(), value)])),
            None => Value::Array(vec![value]),
        };
    }
    DeepValue::from(value)
}

/// A schema with one structural keyword around another, many times.
fn nested_schema(keyword: &str, type_: &str, inner: Value, levels: usize) -> JsonSchemaProps {
    let mut schema = inner;
    for _ in 0..levels {
        let below = match keyword {
            "properties" => Value::Object(Map::from_iter([("a".to_owned(), schema)])),
            "allOf" | "anyOf" | "oneOf" => Value::Array(vec![schema]),
            _ => schema,
        };
        let type_ = ("type".to_owned(), Value::from(type_));
        schema = Value::Object(Map::from_iter([(keyword.to_owned(), below), type_]));
    }
    let schema = DeepValue::from(schema);
    JsonSchemaProps::from_value(&schema).unwrap()
}

#[test]
fn deep_values_meet_deep_schemas() {
    on_small_stack(|| {
        for (keyword, type_, name) in [
            ("properties", "object", Some("a")),
            ("additionalProperties", "object", Some("a")),
            ("items", "array", None),
        ] {
            let leaf = json!({"type": "string", "x-kubernetes-validations": [{"rule": "true"}]});
            let validator = Validator::new(&nested_schema(keyword, type_, leaf, LEVELS));
            let valid = nested(name, json!("x"), LEVELS);
            let invalid = nested(name, json!(1), LEVELS);
            assert!(validator.is_valid(&valid));
            let errors = validator.errors(&invalid);
            assert_eq!(errors.len(), 1);
            assert!(errors[0].to_string().len() > LEVELS);
            assert!(validator.check(&invalid).update_of(&invalid).is_valid());
            assert_eq!(validator.check(&invalid).update_of(&valid).errors(), errors);
            assert!(validator.list_errors(&valid).is_empty());
            assert!(validator.has_rules());
        }
    });
}

/// The error at each of many nested places has a path of its own; all paths together are no
/// larger than what a server could print.
#[test]
fn errors_at_every_level() {
    on_small_stack(|| {
        let mut schema = json!({"type": "string"});
        for _ in 0..LEVELS {
            let members = Value::Object(Map::from_iter([("a".to_owned(), schema)]));
            schema = Value::Object(Map::from_iter([
                ("properties".to_owned(), members),
                ("minProperties".to_owned(), json!(2)),
                ("x-kubernetes-list-type".to_owned(), json!("set")),
            ]));
        }
        let schema = DeepValue::from(schema);
        let validator = Validator::new(&JsonSchemaProps::from_value(&schema).unwrap());
        let value = nested(Some("a"), json!(1), LEVELS);
        let errors = validator.errors(&value);
        assert!(errors.len() > 100 && errors.len() < LEVELS, "{}", errors.len());
        assert!(validator.check(&value).update_of(&value).is_valid());
    });
}

#[test]
fn deep_values_meet_flat_schemas() {
    on_small_stack(|| {
        let deep = nested(Some("a"), json!(1), LEVELS);
        let list = nested(None, json!(1), LEVELS);
        let schema = json!({"type": "object", "properties": {
            "l": {"type": "array", "uniqueItems": true, "x-kubernetes-list-type": "set",
                "items": {"enum": [{"a": 1}, [1]], "x-kubernetes-preserve-unknown-fields": true}},
        }});
        let validator = Validator::new(&JsonSchemaProps::from_value(&schema).unwrap());
        let items = vec![deep.clone().into_inner(), deep.into_inner(), list.into_inner()];
        let value =
            DeepValue::from(Value::Object(Map::from_iter([("l".to_owned(), Value::from(items))])));
        assert_eq!(validator.errors(&value).len(), 4);
        assert_eq!(validator.list_errors(&value).len(), 1);
        let check = validator.check(&value).update_of(&value);
        assert!(check.is_valid());
    });
}

#[test]
fn junctors_may_be_nested() {
    on_small_stack(|| {
        for keyword in ["allOf", "anyOf", "oneOf", "not"] {
            let schema = nested_schema(keyword, "string", json!({"minLength": 2}), LEVELS);
            let validator = Validator::new(&schema);
            for text in [json!("ab"), json!("a")] {
                let errors = validator.errors(&text);
                assert_eq!(validator.is_valid(&text), errors.is_empty());
                // All levels say the same.
                assert!(errors.len() <= 2, "{keyword}: {}", errors.len());
            }
        }
    });
}

#[test]
fn many_branches_do_not_multiply() {
    // Twelve levels of two branches each, of which the last fails: were a branch run twice, the
    // number of runs would double with every level.
    let mut schema = json!({"minLength": 2});
    for _ in 0..12 {
        schema =
            json!({"anyOf": [{"maxLength": 0}, &schema], "oneOf": [&schema, {"maxLength": 0}]});
        if schema.to_string().len() > 1 << 20 {
            break;
        }
    }
    let validator = Validator::new(&JsonSchemaProps::from_value(&schema).unwrap());
    let errors = validator.errors(&json!("a"));
    assert!(errors.len() <= validator.node_count());
}

#[test]
fn long_lists_are_searched_at_once() {
    let schema = json!({"type": "object", "properties": {
        "s": {"type": "array", "x-kubernetes-list-type": "set", "uniqueItems": true,
            "items": {"type": "integer"}},
        "m": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k", "l"],
            "items": {"type": "object", "properties": {"k": {"type": "integer"},
                "l": {"type": "integer"}, "v": {"type": "string", "maxLength": 0}}}},
    }});
    let validator = Validator::new(&JsonSchemaProps::from_value(&schema).unwrap());
    let count = 30_000;
    let numbers: Vec<Value> = (0..count).map(Value::from).collect();
    let entry = |k: i64| json!({"k": k, "l": 0, "v": "x"});
    let entries = |keys: &mut dyn Iterator<Item = i64>| keys.map(entry).collect::<Vec<Value>>();
    let new = json!({"s": &numbers, "m": entries(&mut (0..count))});
    let old = json!({"s": &numbers, "m": entries(&mut (0..count).rev())});
    assert!(validator.list_errors(&new).is_empty());
    assert!(validator.check(&new).update_of(&old).is_valid());
    assert_eq!(validator.errors(&new).len(), count as usize);
    assert!(validator.validate(&new).is_err());
}

#[test]
fn long_texts_meet_every_format() {
    for text in ["(", "a@", "\"\\", "1 ", "a.", "%25", "=?", "[", "::", "1h", "a,b;", "ü"] {
        let text = Value::from(text.repeat(100_000));
        for format in [
            "uri",
            "email",
            "hostname",
            "ipv6",
            "cidr",
            "mac",
            "duration",
            "isbn",
            "byte",
            "date-time",
            "creditcard",
            "k8s-long-name",
        ] {
            let schema = json!({"type": "string", "format": format});
            let validator = Validator::new(&JsonSchemaProps::from_value(&schema).unwrap());
            validator.is_valid(&text);
        }
    }
}
