//! Validation of defaults: what its examples show, and what happens to defaults in odd places.

use billhook_apimachinery::FieldPath;
use billhook_cel::CheckedSchema;
use billhook_default_validation::{DefaultChecks, DefaultFindings, validate_defaults};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use serde_json::{Value, json};

fn findings(schema: Value, checks: &DefaultChecks) -> DefaultFindings {
    validate_defaults(&checked(&schema), checks)
}

fn checked(schema: &Value) -> CheckedSchema {
    let props = JsonSchemaProps::from_value(schema).unwrap();
    CheckedSchema::new(&StructuralSchema::new(props).unwrap())
}

fn texts(findings: &DefaultFindings) -> Vec<String> {
    findings.errors.iter().map(ToString::to_string).collect()
}

/// The errors for a schema of a resource at `S` whose property `a` is given.
fn errors(a: Value) -> Vec<String> {
    let checks = DefaultChecks { base: FieldPath::default().name("S"), unpruned: false };
    texts(&findings(json!({"type": "object", "properties": {"a": a}}), &checks))
}

fn embedded(members: Value) -> Value {
    let mut schema = json!({"type": "object", "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true});
    schema.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    schema
}

#[test]
fn table() {
    for (rule, a, expected) in [
        (
            "DF-40",
            json!({"type": "object", "additionalProperties": {"type": "integer", "default": "x"}}),
            vec![],
        ),
        (
            "DF-40",
            json!({"type": "array", "items": {"type": "integer", "default": "x"}}),
            vec![
                "S.properties[a].items.default: Invalid value: \"string\":  in body must be of type integer: \"string\"",
            ],
        ),
        (
            "DF-43",
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "default": {"b": 1, "c": 1}}),
            vec![
                "S.properties[a].default: Invalid value: {\"b\":1,\"c\":1}: must not have unknown fields",
                "S.properties[a].default.b: Invalid value: \"integer\": b in body must be of type string: \"integer\"",
            ],
        ),
        (
            "DF-43",
            embedded(json!({"default": {"kind": "K", "metadata": {"finalizers": 1}}})),
            vec![
                "S.properties[a].default.metadata: Invalid value: {\"finalizers\":1}: json: cannot unmarshal number into Go struct field ObjectMeta.finalizers of type []string",
            ],
        ),
        (
            "DF-44",
            json!({"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": ["b"]}),
            vec!["S.properties[a].default.[0]: Unsupported value: \"b\": supported values: \"a\""],
        ),
        ("DF-44", json!({"x-kubernetes-int-or-string": true, "default": true}), vec![]),
        (
            "DF-44",
            json!({"type": "array", "default": ["x", "x"], "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
            vec![],
        ),
        (
            "DF-44",
            json!({"format": "unheard-of", "x-kubernetes-preserve-unknown-fields": true, "default": 5}),
            vec![
                "S.properties[a].default: Invalid value: \"int64\":  in body must be of type unheard-of: \"int64\"",
            ],
        ),
        (
            "VV-10",
            json!({"format": "int64", "x-kubernetes-preserve-unknown-fields": true, "default": 5}),
            vec![
                "S.properties[a].default: Invalid value: \"integer\":  in body must be of type : \"integer\"",
            ],
        ),
        (
            "DF-46",
            embedded(json!({"properties": {"metadata": {"type": "object", "properties": {
                "name": {"type": "string", "default": ".."}, "other": {"type": "string", "default": "x"}}}}})),
            vec![
                "S.properties[a].properties[metadata].properties[name].default: Invalid value: \"..\": must result in valid metadata: metadata.name: Invalid value: \"..\": may not be '..'",
            ],
        ),
        (
            "DF-46",
            embedded(
                json!({"properties": {"metadata": {"type": "object", "properties": {"finalizers":
                {"type": "array", "items": {"type": "string", "default": "a b"}}}}}}),
            ),
            vec![
                "S.properties[a].properties[metadata].properties[finalizers].items.default: Invalid value: \"a b\": must result in valid metadata: metadata.finalizers: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ],
        ),
    ] {
        assert_eq!(errors(a), expected, "{rule}");
    }
}

/// DF-41: below an embedded resource in metadata a new resource begins, whose own fields are
/// pruned again.
#[test]
fn a_resource_inside_metadata() {
    let inner = json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
        "spec": {"type": "object", "default": {"x": 1}},
        "metadata": {"type": "object", "default": {"name": "a/b"}},
    }});
    let outer = embedded(json!({"properties": {"metadata": {"type": "object", "properties": {
        "annotations": {"type": "object", "properties": {"inner": inner}}}}}}));
    let base = "S.properties[a].properties[metadata].properties[annotations].properties[inner]";
    assert_eq!(
        errors(outer),
        [
            format!(
                "{base}.properties[metadata].default: Invalid value: {{\"name\":\"a/b\"}}: must \
            result in valid metadata: metadata.name: Invalid value: \"a/b\": may not contain '/'"
            ),
            format!(
                "{base}.properties[spec].default: Invalid value: {{\"x\":1}}: must not have unknown \
            fields"
            ),
        ]
    );
}

/// DF-43: a default is pruned with the schema of its own node, though elements of a preserved list
/// keep everything (PR-21).
#[test]
fn elements_of_a_preserved_list() {
    let schema = json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true,
        "items": {"type": "object", "default": {"x": 1}}});
    assert_eq!(
        errors(schema),
        ["S.properties[a].items.default: Invalid value: {\"x\":1}: must not have unknown fields",]
    );
}

/// DF-46: the default of the root must be a resource by itself, if the schema is that of one.
#[test]
fn the_root() {
    let schema =
        json!({"type": "object", "default": {"x": 1}, "properties": {"x": {"type": "integer"}}});
    let checks = DefaultChecks::default();
    assert_eq!(
        texts(&findings(schema.clone(), &checks)),
        ["default.apiVersion: Required value", "default.kind: Required value",]
    );
    let schema = checked(&schema).resource_root(false);
    assert_eq!(texts(&validate_defaults(&schema, &checks)), [""; 0]);
}

/// DF-43: an old definition may keep unpruned defaults.
#[test]
fn unpruned_defaults() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "object", "default": {"x": 1}}}});
    let checks = DefaultChecks::default();
    assert_eq!(findings(schema.clone(), &checks).errors.len(), 1);
    assert_eq!(findings(schema, &DefaultChecks { unpruned: true, ..checks }).errors.len(), 0);
}

/// DF-47: unknown metadata in a default is not stored.
#[test]
fn rewritten_defaults() {
    let default = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "x", "unknown": 1}});
    let schema =
        json!({"type": "object", "properties": {"a": embedded(json!({"default": default}))}});
    let findings = findings(schema, &DefaultChecks::default());
    assert!(findings.errors.is_empty());
    let (path, default) = &findings.rewritten[0];
    assert_eq!(path.to_string(), "properties[a].default");
    assert_eq!(**default, json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}}));
}

/// DF-45: rules in CEL are evaluated, unless an error keeps a server from them.
#[test]
fn rules() {
    let node = |default: Value| {
        json!({"type": "object", "properties": {"a": {"type": "object", "default": default, "properties": {
            "b": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 10"}]}}}}})
    };
    let found = findings(node(json!({"b": 1})), &DefaultChecks::default());
    let texts: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["properties[a].default.b: Invalid value: 1: failed rule: self > 10"]);
    let found = findings(node(json!({"b": "x"})), &DefaultChecks::default());
    assert_eq!(found.errors.len(), 1);
    assert!(!found.errors[0].to_string().contains("failed rule"));
}

/// DF-45: of a default without a type the rules cannot be typed, which is said once; parts without a
/// type are left out.
#[test]
fn rules_of_values_without_a_type() {
    let rules = json!([{"rule": "true"}, {"rule": "false"}]);
    let untyped = json!({"x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-validations": rules});
    let with_default = |mut node: Value, default: Value| {
        node["default"] = default;
        json!({"type": "object", "properties": {"a": node}})
    };
    let texts = |node: Value| -> Vec<String> {
        let found = findings(node, &DefaultChecks::default());
        found.errors.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        texts(with_default(untyped.clone(), json!({}))),
        [
            "properties[a].default: Invalid value: \"\": rule compiler initialization error: failed to \
          convert to declType for CEL validation rules"
        ]
    );
    let around = json!({"type": "object", "properties": {"b": untyped}});
    assert_eq!(texts(with_default(around, json!({"b": 1}))), [""; 0]);
}
