//! Advice about policies, and the type check (PO-90 to PO-92).

use billhook::CustomResourceDefinition;
use billhook_policy::{PolicyDocument, TypeChecking, lint_policies_together};
use serde_json::{Value, json};

use crate::support::{binding, mutating, mutating_binding, policy};

fn codes(document: &PolicyDocument) -> Vec<&'static str> {
    document.lints().into_iter().map(|lint| lint.code).collect()
}

#[test]
fn advice_about_one_document() {
    let validations = |expression: &str| json!({"validations": [{"expression": expression}]});
    assert_eq!(codes(&policy("p", validations("object.spec.size > 1"))), [""; 0]);
    assert_eq!(codes(&policy("p", validations("1 + 1 == 2"))), ["never-fails"]);
    assert_eq!(codes(&policy("p", validations("1 + 1 == 3"))), [""; 0]);
    let mut ignores = validations("object.a");
    ignores["failurePolicy"] = "Ignore".into();
    assert_eq!(codes(&policy("p", ignores)), ["ignored-failures"]);
    let appends = |reinvocation: &str| {
        let expression = "[JSONPatch{op: 'add', path: '/spec/items/-', value: 1}]";
        let mutation = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}});
        mutating("p", json!({"mutations": [mutation], "reinvocationPolicy": reinvocation}))
    };
    assert_eq!(codes(&appends("Never")), [""; 0]);
    assert_eq!(codes(&appends("IfNeeded")), ["appends-twice"]);
}

/// PO-23
#[test]
fn advice_about_documents_together() {
    let documents = [
        policy("bound", json!({})),
        policy("alone", json!({})),
        binding("b", "bound", json!({})),
        binding("lost", "mutating", json!({})),
        mutating("mutating", json!({})),
        mutating_binding("m", "mutating", json!({})),
    ];
    let lints = lint_policies_together(&documents);
    let found: Vec<_> = lints.iter().map(|lint| (lint.code, lint.name.as_str())).collect();
    assert_eq!(found, [("policy-without-binding", "alone"), ("binding-without-policy", "lost")]);
    assert_eq!(
        lints[1].to_string(),
        "there is no ValidatingAdmissionPolicy `mutating` here: the binding has no effect"
    );
}

fn definitions() -> Vec<CustomResourceDefinition> {
    let definition = |plural: &str, kind: &str, spec: Value| {
        let version = |name: &str, storage: bool| {
            json!({"name": name, "served": true, "storage": storage, "schema":
                {"openAPIV3Schema": {"type": "object", "properties":
                    {"spec": {"type": "object", "properties": spec}}}}})
        };
        CustomResourceDefinition::from_value(&json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": plural, "kind": kind},
                "versions": [version("v1", true), version("v2", false)]}}))
        .unwrap()
    };
    vec![
        definition("widgets", "Widget", json!({"size": {"type": "integer"}})),
        definition("limits", "Limit", json!({"max": {"type": "integer"}})),
    ]
}

fn checked(more: Value) -> TypeChecking {
    let PolicyDocument::Validating(policy) = policy("p", more) else { panic!("another kind") };
    policy.type_check(definitions().as_slice())
}

/// PO-92
#[test]
fn warnings_of_the_type_check() {
    let found = checked(json!({
        "paramKind": {"apiVersion": "example.com/v1", "kind": "Limit"},
        "variables": [{"name": "size", "expression": "object.spec.size"},
            {"name": "wrong", "expression": "object.spec.nope"}],
        "validations": [
            {"expression": "variables.size < params.spec.max && variables.wrong == 1"},
            {"expression": "object.spec.size == 'x'", "messageExpression": "oldObject.spec.nope"},
            {"expression": "params.spec.min > 0"},
        ],
    }));
    let warnings: Vec<_> = found
        .expression_warnings
        .iter()
        .map(|it| (it.field_ref.as_str(), it.warning.lines().next().unwrap()))
        .collect();
    assert_eq!(
        warnings,
        [
            (
                "spec.validations[1].expression",
                "example.com/v1, Kind=Widget: ERROR: <input>:1:18: found no matching overload for \
                 '_==_' applied to '(int, string)'"
            ),
            (
                "spec.validations[1].messageExpression",
                "example.com/v1, Kind=Widget: ERROR: <input>:1:15: undefined field 'nope'"
            ),
            (
                "spec.validations[2].expression",
                "example.com/v1, Kind=Widget: ERROR: <input>:1:12: undefined field 'min'"
            ),
        ]
    );
}

/// PO-91: several kinds, sorted; none of rules with wildcards, nor of subresources.
#[test]
fn kinds_of_the_type_check() {
    let rules = |rules: Value| {
        json!({"matchConstraints": {"resourceRules": rules},
            "validations": [{"expression": "object.spec.nope"}]})
    };
    let rule = |groups: &str, versions: Value, resources: Value| {
        json!({"operations": ["*"], "apiGroups": [groups], "apiVersions": versions,
            "resources": resources})
    };
    let kinds = |more: Value| -> Vec<String> {
        let found = checked(more).expression_warnings;
        let lines = found.iter().flat_map(|it| it.warning.lines());
        let kinds = lines.filter_map(|line| Some(line.split_once(": ERROR")?.0.to_owned()));
        kinds.collect()
    };
    let all = rule("example.com", json!(["v2", "v1"]), json!(["widgets", "limits", "*/scale"]));
    assert_eq!(
        kinds(rules(json!([all]))),
        [
            "example.com/v1, Kind=Limit",
            "example.com/v1, Kind=Widget",
            "example.com/v2, Kind=Limit",
            "example.com/v2, Kind=Widget",
        ]
    );
    let wild = rule("*", json!(["v1"]), json!(["widgets"]));
    assert_eq!(kinds(rules(json!([wild]))), [""; 0]);
    let unknown = rule("example.com", json!(["v3"]), json!(["widgets"]));
    assert_eq!(kinds(rules(json!([unknown]))), [""; 0]);
}
