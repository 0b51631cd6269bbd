//! Advice about policies, and the type check (PO-90 to PO-92).

use billhook::{CustomResourceDefinition, KubernetesVersion};
use billhook_apimachinery::value::DeepValue;
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
    let lints = lint_policies_together(&documents, &[]);
    let found: Vec<_> = lints.iter().map(|lint| (lint.code, lint.name.as_str())).collect();
    assert_eq!(found, [("policy-without-binding", "alone"), ("binding-without-policy", "lost")]);
    assert_eq!(
        lints[1].to_string(),
        "there is no ValidatingAdmissionPolicy `mutating` here: the binding has no effect"
    );
}

/// PO-30, PO-31: what a binding may find, whichever version and namespace it is written in.
#[test]
fn advice_about_parameters() {
    let kind = json!({"paramKind": {"apiVersion": "example.com/v1", "kind": "Limit"}});
    let limit = |api_version: &str, namespace: &str| {
        DeepValue::from(json!({"apiVersion": api_version, "kind": "Limit",
            "metadata": {"name": "small", "namespace": namespace, "labels": {"size": "s"}}}))
    };
    let lints = |param_ref: Value, objects: &[DeepValue]| -> Vec<String> {
        let binding = binding("b", "p", json!({"paramRef": param_ref}));
        let lints = lint_policies_together(&[policy("p", kind.clone()), binding], objects);
        lints.into_iter().map(|lint| format!("{}: {lint}", lint.path)).collect()
    };
    let objects = [limit("example.com/v1beta1", "shop")];
    let none = [""; 0];
    assert_eq!(lints(json!({"name": "small"}), &objects), none);
    assert_eq!(lints(json!({"name": "small", "namespace": "shop"}), &objects), none);
    assert_eq!(lints(json!({"selector": {}}), &objects), none);
    assert_eq!(lints(json!({"selector": {"matchLabels": {"size": "s"}}}), &objects), none);
    assert_eq!(
        lints(json!({"name": "large", "parameterNotFoundAction": "Deny"}), &objects),
        [
            "spec.paramRef: the Limit `large` is missing here: what the binding is for is denied, unless \
          `failurePolicy` is `Ignore`"
        ]
    );
    let elsewhere =
        json!({"name": "small", "namespace": "lab", "parameterNotFoundAction": "Allow"});
    assert_eq!(
        lints(elsewhere, &objects),
        [
            "spec.paramRef: the Limit `small` is missing here in namespace `lab`: the binding has no \
          effect"
        ]
    );
    let large = json!({"selector": {"matchLabels": {"size": "l"}}});
    assert_eq!(
        lints(large, &objects),
        ["spec.paramRef: a Limit that the selector selects is missing here: the binding has no \
          effect"]
    );
    assert_eq!(lints(json!({"selector": {}}), &[limit("example.org/v1", "shop")]).len(), 1);
    // Without parameters the reference does not count.
    let unused = [policy("p", json!({})), binding("b", "p", json!({"paramRef": {"name": "x"}}))];
    assert_eq!(lint_policies_together(&unused, &[]), []);
}

/// The codes and the paths of advice that needs types.
fn typed(document: &PolicyDocument, kubernetes: KubernetesVersion) -> Vec<(&'static str, String)> {
    let lints = document.lints_for(kubernetes, definitions().as_slice());
    lints.into_iter().map(|lint| (lint.code, lint.path)).collect()
}

#[test]
fn validations_that_the_schema_decides() {
    let newest = KubernetesVersion::default();
    let decided = |expression: &str, more: Value| {
        let mut spec = json!({"validations": [{"expression": expression}]});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let found = typed(&policy("p", spec), newest);
        assert!(found.iter().all(|(code, _)| *code == "never-fails"), "{found:?}");
        !found.is_empty()
    };
    let alone = |expression: &str| decided(expression, json!({}));
    assert!(alone("object.spec.count >= 0 && object.spec.count < 101"));
    assert!(!alone("object.spec.count > 0 || object.spec.size >= 0"));
    assert!(alone("object.spec.names.all(name, size(name) <= 10)"));
    assert!(!alone("size(object.spec.names) > 1"));
    assert!(decided("1 == 1 || object.spec.size > 0", json!({"matchConstraints": null})));
    // Variables have the bounds of what they are made of.
    let variables = |variables: Value| json!({"variables": variables});
    let count = json!({"name": "count", "expression": "object.spec.count"});
    let small = json!({"name": "small", "expression": "variables.count < 101"});
    let length = json!({"name": "length", "expression": "size(object.spec.names)"});
    let list = variables(json!([count, small, length]));
    assert!(decided("variables.count >= 0", list.clone()));
    assert!(decided("variables.small && variables.length <= 500", list.clone()));
    assert!(!decided("variables.count > 0", list.clone()));
    assert!(!decided("variables.length > 0", list));
    let both = json!([{"name": "names", "expression": "object.spec.names + ['x']"},
        {"name": "mode", "expression": "object.spec.size > 1 ? 'a' : 'b'"}]);
    assert!(decided(
        "variables.mode in ['a', 'b'] || size(variables.names) > 1000",
        variables(both)
    ));
    let constant = json!([{"name": "on", "expression": "1 + 1 == 2"}]);
    let mut constant = variables(constant);
    constant["matchConstraints"] = json!(null);
    assert!(decided("variables.on", constant));
    // Of two with a name the last one counts, which may be anything (PO-11).
    let repeated = json!([count, {"name": "count", "expression": "object.spec.size"}]);
    assert!(!decided("variables.count >= 0", variables(repeated)));
    // Objects in another version may have other types, and so may those of other rules.
    let rule = |versions: Value| {
        json!({"matchConstraints": {"resourceRules": [{"operations": ["*"],
            "apiGroups": ["example.com"], "apiVersions": versions, "resources": ["widgets"]}]}})
    };
    assert!(decided("object.spec.count >= 0", rule(json!(["v1", "v2"]))));
    assert!(!decided("object.spec.count >= 0", rule(json!(["v1", "v3"]))));
    assert!(!decided("object.spec.count >= 0", rule(json!(["*"]))));
}

/// PO-48
#[test]
fn costs_near_the_limit() {
    let newest = KubernetesVersion::default();
    let expression = |expression: &str| {
        policy(
            "p",
            json!({"validations": [{"expression": expression}],
            "matchConditions": [{"name": "c", "expression": "object.spec.free.all(x, x == 'a')"}]}),
        )
    };
    let condition = ("costly-expression", "spec.matchConditions[0].expression".to_owned());
    let bounded = "object.spec.names.all(x, x.matches('^[a-z]+$'))";
    assert_eq!(typed(&expression(bounded), newest), std::slice::from_ref(&condition));
    let nested = "object.spec.names.all(x, object.spec.names.all(y, x != y))";
    let validation = ("costly-expression", "spec.validations[0].expression".to_owned());
    assert_eq!(typed(&expression(nested), newest), [condition, validation]);
    let nested = "variables.names.all(x, variables.names.all(y, x != y))";
    let through = policy(
        "p",
        json!({"validations": [{"expression": nested}],
            "variables": [{"name": "names", "expression": "object.spec.names"}]}),
    );
    let validation = ("costly-expression", "spec.validations[0].expression".to_owned());
    assert_eq!(typed(&through, newest), [validation]);
    let mutation = json!({"patchType": "JSONPatch", "jsonPatch": {"expression":
        "object.spec.free.map(x, JSONPatch{op: 'remove', path: '/spec/' + x})"}});
    let mutating = mutating("p", json!({"mutations": [mutation], "reinvocationPolicy": "Never"}));
    let lints = mutating.lints_for(newest, definitions().as_slice());
    assert_eq!(lints[0].path, "spec.mutations[0].jsonPatch.expression");
    assert_eq!(
        lints[0].to_string(),
        "for the largest object that the schema of example.com/v1, Kind=Widget allows, the \
         expression may cost more than 100000000, and beyond 1000000 it fails: set `maxItems`, \
         `maxProperties` and `maxLength` in the schema, or do less here"
    );
}

/// KV-30: functions that a version lacks.
#[test]
fn advice_for_older_versions() {
    let document = policy("p", json!({"validations": [{"expression": "[2, 1].sort() == [1, 2]"}]}));
    assert_eq!(typed(&document, KubernetesVersion::V1_34).len(), 1);
    assert_eq!(typed(&document, KubernetesVersion::V1_33), []);
    let PolicyDocument::Validating(policy) = document else { panic!("another kind") };
    let warnings = |kubernetes| {
        policy.type_check_for(kubernetes, definitions().as_slice()).expression_warnings
    };
    assert_eq!(warnings(KubernetesVersion::V1_34), []);
    let text = &warnings(KubernetesVersion::V1_33)[0].warning;
    assert!(text.contains("undeclared reference to 'sort'"), "{text}");
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
        definition(
            "widgets",
            "Widget",
            json!({
                "size": {"type": "integer"},
                "count": {"type": "integer", "minimum": 0, "maximum": 100},
                "names": {"type": "array", "maxItems": 500, "items":
                    {"type": "string", "maxLength": 10}},
                "free": {"type": "array", "items": {"type": "string"}},
            }),
        ),
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

/// PO-92: objects have all fields of their metadata, unlike those of rules (CE-05).
#[test]
fn metadata_in_the_type_check() {
    let validations = [
        "object.metadata.labels['a'] == oldObject.metadata.namespace",
        "object.metadata.ownerReferences.all(owner, has(owner.controller) && owner.uid != '')",
        "object.metadata.creationTimestamp < object.metadata.deletionTimestamp",
        "object.metadata.managedFields.all(entry, has(entry.fieldsV1) && entry.manager != '')",
        "object.metadata.label == ''",
        "object.metadata.generation == 'x'",
    ];
    let validations = validations.map(|expression| json!({"expression": expression}));
    let found = checked(json!({ "validations": validations })).expression_warnings;
    let places: Vec<&str> = found.iter().map(|it| it.field_ref.as_str()).collect();
    assert_eq!(places, ["spec.validations[4].expression", "spec.validations[5].expression"]);
}
