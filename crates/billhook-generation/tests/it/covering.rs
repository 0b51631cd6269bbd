//! Objects that together have all fields.

use billhook::CustomResourceDefinition;
use billhook_generation::{Covering, Oracle};
use serde_json::{Value, json};

fn covering(spec: &Value, subresources: &Value) -> Covering {
    let status = json!({"type": "object", "properties": {"phase": {"enum": ["", "Done"],
        "type": "string"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "backups.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "backups", "kind": "Backup"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "subresources": subresources}],
        },
    });
    let version = CustomResourceDefinition::from_value(&crd).unwrap().version("v1").unwrap();
    Oracle::new(version, &schema).covering()
}

/// The parts of objects that schemas describe, and the fields that none has.
fn shown(found: &Covering) -> (Vec<Value>, Vec<String>) {
    let parts = |object: &Value| json!([object["spec"], object["status"]]);
    let missing = found.missing.iter().map(ToString::to_string).collect();
    (found.objects.iter().map(parts).collect(), missing)
}

#[test]
fn values_say_something() {
    let spec = json!({"type": "object", "properties": {
        "on": {"type": "boolean"}, "text": {"type": "string"}, "number": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    }});
    let found = covering(&spec, &json!({"status": {}}));
    let spec = json!({"on": true, "text": "b", "number": 1, "list": ["b"], "map": {"key0": 1}});
    assert_eq!(shown(&found), (vec![json!([spec, {"phase": "Done"}])], Vec::new()));
}

#[test]
fn fields_that_rule_each_other_out() {
    let text = json!({"type": "string", "minLength": 1});
    let spec = json!({
        "type": "object", "properties": {"a": text, "b": {"type": "object", "properties": {"c": text}}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    });
    let found = covering(&spec, &json!({}));
    let objects = vec![json!([{"a": "a"}, {"phase": "Done"}]), json!([{"b": {"c": "a"}}, null])];
    assert_eq!(shown(&found), (objects, Vec::new()));
}

#[test]
fn fields_that_no_object_has() {
    let spec = json!({
        "type": "object",
        "properties": {"never": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "x-kubernetes-validations": [{"rule": "!has(self.never)"}],
    });
    let found = covering(&spec, &json!({}));
    let objects = vec![json!([{}, {"phase": "Done"}])];
    assert_eq!(shown(&found), (objects, vec!["spec.never".to_owned()]));
}
