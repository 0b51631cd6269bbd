//! The types that CEL sees in a schema (CE-04 to CE-07).

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::value::dismantle;
use billhook_cel::schema::{ListType, SchemaKind, SchemaType};
use billhook_cel::{Environment, Type};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::ValidationRule;
use serde_json::{Map, Value, json};

fn type_of(schema: &Value, is_resource: bool) -> Option<SchemaType> {
    let schema = JsonSchemaProps::from_value(schema).unwrap();
    SchemaType::of(&schema, is_resource, KubernetesVersion::default())
}

fn fields(schema: &Value, is_resource: bool) -> Vec<String> {
    match type_of(schema, is_resource).unwrap().to_type() {
        Type::Object(object) => {
            object.fields.iter().map(|(name, type_)| format!("{name}: {type_}")).collect()
        }
        other => panic!("{other} is no object"),
    }
}

/// CE-04.
#[test]
fn each_schema_has_a_type() {
    let untyped = json!({"x-kubernetes-preserve-unknown-fields": true});
    for (schema, expected) in [
        (json!({"type": "string"}), Some("string")),
        (json!({"type": "string", "format": "byte"}), Some("bytes")),
        (json!({"type": "string", "format": "date"}), Some("timestamp")),
        (json!({"type": "string", "format": "date-time"}), Some("timestamp")),
        (json!({"type": "string", "format": "datetime"}), Some("string")),
        (json!({"type": "string", "format": "duration"}), Some("duration")),
        (json!({"type": "boolean"}), Some("bool")),
        (json!({"type": "integer", "format": "date"}), Some("int")),
        (json!({"type": "number"}), Some("double")),
        (json!({"x-kubernetes-int-or-string": true}), Some("dyn")),
        (json!({"type": "array", "items": {"type": "string"}}), Some("list(string)")),
        (json!({"type": "array", "items": untyped}), None),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            Some("map(string, int)"),
        ),
        (json!({"type": "object", "additionalProperties": untyped}), None),
        (json!({"type": "object"}), Some("selfType")),
        (untyped.clone(), None),
        (json!({"type": "array", "items": {"type": "object"}}), Some("list(selfType.@idx)")),
    ] {
        let actual = type_of(&schema, false).map(|type_| type_.to_type().to_string());
        assert_eq!(actual.as_deref(), expected, "{schema}");
    }
}

/// CE-04: errors name types as they are below the node of the rule.
#[test]
fn names_of_types_begin_at_the_rule() {
    let object = json!({"type": "object", "properties": {"o": {"type": "object"}}});
    let list = json!({"type": "array", "items": object});
    let map = json!({"type": "object", "additionalProperties": list});
    let schema = json!({"type": "object", "properties": {"m": map, "mm": {"type": "object"}}});
    let root = type_of(&schema, true).unwrap();
    let map = root.property("m").unwrap();
    let list = map.elements().unwrap();
    let object = list.elements().unwrap();
    for (at, rule, expected) in [
        (&root, "self.m == 1", "(map(string, list(selfType.m.@elem.@idx)), int)"),
        (&root, "self.mm == 1", "(selfType.mm, int)"),
        (map, "self == 1", "(map(string, list(selfType.@elem.@idx)), int)"),
        (map, "self.x[0].o == 1", "(selfType.@elem.@idx.o, int)"),
        (list, "self == 1", "(list(selfType.@idx), int)"),
        (list, "self == [self[0].o]", "(list(selfType.@idx), list(selfType.@idx.o))"),
        (object, "self == self.o", "(selfType, selfType.o)"),
        (object.property("o").unwrap(), "self == 'selfType.m'", "(selfType, string)"),
    ] {
        let environment = Environment::of_rule(&ValidationRule::default(), at.to_type());
        let error = environment.compile(rule).err().unwrap().to_string();
        let expected = format!("found no matching overload for '_==_' applied to '{expected}'");
        assert!(error.contains(&expected), "{rule}: {error}");
    }
    let environment = Environment::of_rule(&ValidationRule::default(), list.to_type());
    for (rule, expected) in [
        ("[self, 1] == []", "expected type 'list(selfType.@idx)' but found 'int'"),
        ("self[0].o && true", "expected type 'bool' but found 'selfType.@idx.o'"),
        ("self[0].all(x, true)", "expression of type 'selfType.@idx' cannot be range"),
        ("self.o", "type 'list(selfType.@idx)' does not support field selection"),
    ] {
        let error = environment.compile(rule).err().unwrap().to_string();
        assert!(error.contains(expected), "{rule}: {error}");
    }
}

/// CE-04: a property without a type is left out.
#[test]
fn objects_have_the_properties_with_a_type() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "integer"},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "list": {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}},
        "o": {"type": "object", "properties": {"p": {"type": "object"}}},
    }});
    assert_eq!(fields(&schema, false), ["a: int", "o: selfType.o"]);
}

/// CE-05.
#[test]
fn resources_have_their_standard_fields() {
    let standard =
        ["apiVersion: string", "kind: string", "metadata: ObjectMeta", "spec: selfType.spec"];
    let spec = json!({"type": "object"});
    for properties in [
        json!({"spec": spec}),
        json!({"spec": spec, "metadata": {"type": "object"}, "kind": {"type": "integer"}}),
        json!({
            "spec": spec,
            "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
            "kind": {"type": "string"},
            "apiVersion": {"type": "string"},
        }),
    ] {
        let schema = json!({"type": "object", "properties": properties});
        assert_eq!(fields(&schema, true), standard, "{schema}");
    }
    // Listed as they are, they stay as they are listed.
    let text = json!({"type": "string"});
    let metadata = json!({"name": text, "generateName": text, "labels": {"type": "object"}});
    let schema = json!({"type": "object", "properties": {
        "kind": text,
        "apiVersion": text,
        "metadata": {"type": "object", "properties": metadata},
    }});
    let type_ = type_of(&schema, true).unwrap();
    assert!(type_.property("metadata").unwrap().property("labels").is_some());
    // An embedded resource has them too.
    let schema = json!({"type": "object", "properties": {"e": {
        "type": "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
    }}});
    let type_ = type_of(&schema, false).unwrap();
    assert!(type_.property("kind").is_none());
    assert!(type_.property("e").unwrap().property("metadata").is_some());
}

/// CE-07.
#[test]
fn names_are_escaped() {
    for (name, expected) in [
        ("a", Some("a")),
        ("A_b9", Some("A_b9")),
        ("x-y", Some("x__dash__y")),
        ("a.b/c", Some("a__dot__b__slash__c")),
        ("__x__", Some("__underscores__x__underscores__")),
        ("___", Some("__underscores___")),
        ("-", Some("__dash__")),
        ("in", Some("__in__")),
        ("__in__", Some("__underscores__in__underscores__")),
        ("namespace", Some("__namespace__")),
        ("int", Some("int")),
        ("9a", None),
        ("", None),
        ("a b", None),
        ("$a", None),
        ("é", None),
    ] {
        let schema = json!({"type": "object", "properties": {name: {"type": "integer"}}});
        let expected: Vec<_> = expected.iter().map(|name| format!("{name}: int")).collect();
        assert_eq!(fields(&schema, false), expected, "{name}");
    }
}

/// CE-04: how lists are compared.
#[test]
fn lists_know_their_list_type() {
    let items = json!({"type": "object", "properties": {"k": {"type": "string"}}});
    for (list_type, expected) in [
        (Value::Null, ListType::Atomic),
        (json!("atomic"), ListType::Atomic),
        (json!("set"), ListType::Set),
        (json!("map"), ListType::Map(vec!["k".into()])),
    ] {
        let schema = json!({
            "type": "array",
            "items": items,
            "x-kubernetes-list-type": list_type,
            "x-kubernetes-list-map-keys": ["k"],
        });
        let type_ = type_of(&schema, false).unwrap();
        assert_eq!(type_.list_type, expected, "{schema}");
        assert!(matches!(type_.kind, SchemaKind::List(_)));
    }
}

/// CE-25: what a schema or a request of 3 MiB lets in.
#[test]
fn sizes_are_limited() {
    let string = json!({"type": "string"});
    let required = json!({"type": "object", "required": ["a", "d", "gone"], "properties": {
        "a": {"type": "integer"},
        "b": {"type": "integer"},
        "d": {"type": "integer", "default": 1},
    }});
    for (schema, expected) in [
        (json!({"type": "string"}), Some(3_145_726)),
        (json!({"type": "string", "maxLength": 5}), Some(20)),
        (json!({"type": "string", "maxLength": -5}), Some(0)),
        (json!({"type": "string", "enum": ["a", "ä€"]}), Some(5)),
        (json!({"type": "string", "enum": ["a"], "maxLength": 2}), Some(8)),
        (json!({"type": "string", "format": "byte", "maxLength": 5}), Some(5)),
        (json!({"type": "string", "format": "date", "maxLength": 5}), Some(12)),
        (json!({"type": "string", "format": "date-time"}), Some(32)),
        (json!({"type": "string", "format": "duration"}), Some(32)),
        (json!({"x-kubernetes-int-or-string": true}), Some(3_145_726)),
        (json!({"type": "integer"}), None),
        (json!({"type": "object"}), None),
        (json!({"type": "array", "items": string, "maxItems": 7}), Some(7)),
        (json!({"type": "array", "items": string}), Some(3_145_726 / 3)),
        (json!({"type": "array", "items": {"type": "boolean"}}), Some(3_145_726 / 5)),
        // {"a":0}, with a comma for the server's account, and one between elements.
        (json!({"type": "array", "items": required}), Some(3_145_726 / 9)),
        (json!({"type": "object", "additionalProperties": string}), Some(3_145_726 / 8)),
        (json!({"type": "object", "additionalProperties": string, "maxProperties": 3}), Some(3)),
    ] {
        assert_eq!(type_of(&schema, false).unwrap().max, expected, "{schema}");
    }
}

/// Neither building nor dropping types of deep schemas needs a deep stack.
#[test]
fn schemas_may_be_deep() {
    let walk = || {
        for (type_, keyword, name) in [
            ("array", "items", None),
            ("object", "additionalProperties", None),
            ("object", "properties", Some("a")),
        ] {
            let object = |name: &str, value| Value::Object(Map::from_iter([(name.into(), value)]));
            let mut schema = json!({"type": "string"});
            for _ in 0..4000 {
                let below = match name {
                    Some(name) => object(name, schema),
                    None => schema,
                };
                schema = object(keyword, below);
                schema["type"] = type_.into();
            }
            let props = JsonSchemaProps::from_value(&schema).unwrap();
            dismantle(schema);
            drop(SchemaType::of(&props, false, KubernetesVersion::default()).unwrap().to_type());
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(walk).unwrap().join().unwrap();
}
