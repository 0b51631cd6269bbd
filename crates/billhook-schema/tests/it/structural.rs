//! The structural rules, with the examples of their pages (SS-40 to SS-71).

use billhook_apimachinery::FieldPath;
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use serde_json::{Value, json};

/// Returns the errors of a schema at `S`, as the server prints them.
fn errors(schema: &Value) -> Vec<String> {
    let schema = StructuralSchema::new(JsonSchemaProps::from_value(schema).unwrap()).unwrap();
    let errors = schema.validate(&FieldPath::default().name("S"));
    errors.iter().map(ToString::to_string).collect()
}

/// Checks the errors of a schema for the property `a` of the root.
fn check_property(rule: &str, schema: &Value, expected: &[&str]) {
    let schema = json!({"type": "object", "properties": {"a": schema}});
    let expected: Vec<String> =
        expected.iter().map(|error| format!("S.properties[a]{error}")).collect();
    assert_eq!(errors(&schema), expected, "{rule}: {schema}");
}

#[test]
fn int_or_string() {
    let (integer, text) = (json!({"type": "integer"}), json!({"type": "string"}));
    check_property("SS-41", &json!({"type": "string", "anyOf": [integer, text]}), &[]);
    check_property(
        "SS-41",
        &json!({"type": "string", "anyOf": [text, integer]}),
        &[
            ".anyOf[0].type: Forbidden: must be empty to be structural",
            ".anyOf[1].type: Forbidden: must be empty to be structural",
        ],
    );
    check_property(
        "SS-45",
        &json!({
            "x-kubernetes-int-or-string": true,
            "x-kubernetes-preserve-unknown-fields": true,
        }),
        &[".x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if \
           x-kubernetes-int-or-string is true"],
    );
}

#[test]
fn nodes() {
    let required = ": Required value: must be specified";
    check_property("SS-42", &json!({"type": "array"}), &[&format!(".items{required}")]);
    check_property(
        "SS-43",
        &json!({"type": "object", "additionalProperties": {}}),
        &[".additionalProperties.type: Required value: must not be empty for specified object \
           fields"],
    );
    check_property(
        "SS-46",
        &json!({}),
        &[".type: Required value: must not be empty for specified object fields"],
    );
    check_property(
        "SS-46",
        &json!({"type": "array", "items": {}}),
        &[".items.type: Required value: must not be empty for specified array items"],
    );
    check_property(
        "SS-51",
        &json!({"type": "string", "pattern": "(?=x)"}),
        &[".pattern: Invalid value: \"(?=x)\": must be a valid regular expression, but isn't: \
           error parsing regexp: invalid or unsupported Perl syntax: `(?=`"],
    );
    check_property(
        "SS-51",
        &json!({"type": "string", "pattern": "a(b"}),
        &[".pattern: Invalid value: \"a(b\": must be a valid regular expression, but isn't: \
           error parsing regexp: missing closing ): `a(b`"],
    );
}

#[test]
fn roots() {
    for (rule, schema, expected) in [
        (
            "SS-44",
            json!({"type": "object", "additionalProperties": true}),
            "S.additionalProperties: Forbidden: must not be used at the root",
        ),
        ("SS-46", json!({}), "S.type: Required value: must not be empty at the root"),
        (
            "SS-47",
            json!({"type": "string"}),
            "S.type: Invalid value: \"string\": must be object at the root",
        ),
    ] {
        assert_eq!(errors(&schema), [expected], "{rule}");
    }
    let preserving = json!({"x-kubernetes-preserve-unknown-fields": true});
    assert!(errors(&preserving).is_empty(), "SS-47");
}

#[test]
fn embedded_resources() {
    let embedded = |more: Value| {
        let mut schema = json!({"x-kubernetes-embedded-resource": true});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let preserve = "x-kubernetes-preserve-unknown-fields";
    check_property(
        "SS-46",
        &embedded(json!({preserve: true})),
        &[".type: Required value: must be object if x-kubernetes-embedded-resource is true"],
    );
    check_property(
        "SS-48",
        &embedded(json!({"type": "object", preserve: true, "additionalProperties": true})),
        &[".additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource \
           is set"],
    );
    check_property(
        "SS-49",
        &embedded(json!({"type": "object"})),
        &[".properties: Required value: must not be empty if x-kubernetes-embedded-resource is \
           true without x-kubernetes-preserve-unknown-fields"],
    );
    let spec = json!({"type": "object", "properties": {"spec": {"type": "object"}}});
    check_property("SS-49", &embedded(spec), &[]);
}

#[test]
fn keywords_under_junctors() {
    let empty = ["type", "title", "description"].map(|keyword| (keyword, json!("object")));
    let cases = empty.into_iter().map(|case| (case, "must be empty to be structural"));
    let undefined = [
        ("additionalProperties", json!(true)),
        ("default", json!(1)),
        ("x-kubernetes-list-type", json!("set")),
        ("x-kubernetes-map-type", json!("atomic")),
    ];
    let cases = cases
        .chain(undefined.map(|case| (case, "must be undefined to be structural")))
        .chain(
            [
                "nullable",
                "x-kubernetes-preserve-unknown-fields",
                "x-kubernetes-embedded-resource",
                "x-kubernetes-int-or-string",
            ]
            .map(|keyword| ((keyword, json!(true)), "must be false to be structural")),
        )
        .chain([
            (("x-kubernetes-list-map-keys", json!(["k"])), "must be empty to be structural"),
            (
                ("x-kubernetes-validations", json!([{"rule": "true"}])),
                "must be empty to be structural",
            ),
        ]);
    for ((keyword, value), detail) in cases {
        for (junctor, at) in
            [("allOf", "allOf[0]"), ("anyOf", "anyOf[0]"), ("oneOf", "oneOf[0]"), ("not", "not")]
        {
            let nested = json!({keyword: value});
            let nested = if junctor == "not" { nested } else { json!([nested]) };
            let error = format!(".{at}.{keyword}: Forbidden: {detail}");
            check_property("SS-50", &json!({"type": "object", junctor: nested}), &[&error]);
        }
    }
    check_property(
        "SS-50",
        &json!({"type": "object", "not": {"properties": {"metadata": {}}}}),
        &[".not.properties[metadata]: Forbidden: must not be specified in a nested context"],
    );
}

#[test]
fn resource_fields() {
    let with = |properties: Value| json!({"type": "object", "properties": properties});
    assert_eq!(
        errors(&with(json!({
            "kind": {"type": "integer"},
            "apiVersion": {"x-kubernetes-int-or-string": true},
        }))),
        [
            "S.properties[apiVersion].type: Invalid value: \"\": must be string",
            "S.properties[kind].type: Invalid value: \"integer\": must be string",
        ],
        "SS-60"
    );
    assert_eq!(
        errors(&with(json!({"metadata": {"type": "string"}}))),
        ["S.properties[metadata].type: Invalid value: \"string\": must be object"],
        "SS-61"
    );
    let forbidden = "S.properties[metadata]: Forbidden: must not specify anything other than name \
                     and generateName, but metadata is implicitly specified";
    for refused in [
        json!({"properties": {"labels": {"type": "object"}}}),
        json!({"description": "x"}),
        json!({"required": ["name"]}),
        json!({"required": []}),
    ] {
        let mut metadata = refused;
        metadata["type"] = "object".into();
        assert_eq!(errors(&with(json!({"metadata": metadata}))), [forbidden], "SS-62, SS-63");
    }
    for accepted in [
        json!({"properties": {
            "name": {"type": "string", "pattern": "a"},
            "generateName": {"type": "integer"},
        }}),
        json!({"properties": {}}),
        json!({"enum": []}),
    ] {
        let mut metadata = accepted;
        metadata["type"] = "object".into();
        assert_eq!(errors(&with(json!({"metadata": metadata}))), [""; 0], "SS-63");
    }
    let text = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    check_property("SS-64", &with(json!({"metadata": text})), &[]);
}

#[test]
fn completeness() {
    let schema = json!({"type": "object", "not": {"properties": {"a": {"minimum": 1}}}});
    assert_eq!(
        errors(&schema),
        ["S.properties[a]: Required value: because it is defined in S.not.properties[a]"],
        "SS-70"
    );
    let below = json!({"type": "object", "anyOf": [{"properties": {"x": {"minimum": 1}}}]});
    check_property("SS-71", &below, &[]);
}
