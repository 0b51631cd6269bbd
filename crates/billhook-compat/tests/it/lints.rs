//! Parts of schemas that no object can do anything with (CC-26).

use billhook_compat::{CompareOptions, lint};
use serde_json::{Value, json};

use crate::support::{definition, spec_of};

/// The lints of the field `a`, on a line each.
fn lints_of(a: &Value) -> Vec<String> {
    let found = lint(&definition(spec_of(a.clone())), &CompareOptions::default()).unwrap();
    let line = |lint: &billhook_compat::SchemaLint| {
        let path = lint.path.to_string();
        let (_, path) = path.split_once("openAPIV3Schema.").unwrap();
        let path = path.replace("properties[spec].properties[a]", "a");
        format!("{} {path}: {}", lint.code.as_str(), lint.message)
    };
    found.iter().map(line).collect()
}

#[test]
fn schemas_without_values() {
    for schema in [
        json!({"type": "string", "minLength": 3, "maxLength": 2}),
        json!({"type": "array", "minItems": 3, "maxItems": 2, "items": {"type": "string"}}),
        json!({"type": "object", "minProperties": 3, "properties": {"x": {"type": "string"}}}),
        json!({"type": "string", "pattern": "^a{3}$", "maxLength": 2}),
        json!({"type": "string", "allOf": [{"maxLength": 2}, {"minLength": 3}]}),
        json!({"type": "string", "pattern": "^a", "not": {"pattern": "a"}}),
        json!({"type": "string", "minLength": 3, "anyOf": [{"maxLength": 1}, {"maxLength": 2}]}),
    ] {
        assert_eq!(lints_of(&schema), ["unsatisfiable a: no value is valid for it"], "{schema}");
    }
}

#[test]
fn schemas_with_values() {
    for schema in [
        json!({"type": "string", "minLength": 2, "maxLength": 2, "pattern": "^a"}),
        json!({"type": "string", "nullable": true, "minLength": 3, "maxLength": 2}),
        json!({"type": "string", "enum": ["a", "b"], "maxLength": 1}),
        json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
            "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
        json!({"type": "integer", "anyOf": [{"minimum": 3}, {"maximum": 2}]}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"},
            {"rule": "self != oldSelf"}]}),
    ] {
        assert!(lints_of(&schema).is_empty(), "{schema}");
    }
}

#[test]
fn parts_of_schemas() {
    let schema = json!({"type": "string", "enum": ["full", "incremental"], "maxLength": 5});
    assert_eq!(
        lints_of(&schema),
        [r#"unusable-entry a.enum[1]: no value can be "incremental": the schema refuses it"#]
    );
    let schema = json!({"type": "string", "minLength": 3,
        "anyOf": [{"maxLength": 2}, {"maxLength": 5}]});
    assert_eq!(
        lints_of(&schema),
        ["unusable-branch a.anyOf[0]: no value that the schema admits is valid for it"]
    );
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "!has(self.x) || has(self.x)"}]});
    assert_eq!(
        lints_of(&schema),
        ["tautology a.x-kubernetes-validations[0].rule: it is true for all values"]
    );
    let schema = json!({"type": "integer", "x-kubernetes-validations": [
        {"rule": "self < 3"}, {"rule": "self > 5"}]});
    assert_eq!(
        lints_of(&schema),
        ["contradiction a.x-kubernetes-validations: no value keeps all of them"]
    );
}
