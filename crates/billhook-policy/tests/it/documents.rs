//! Reading, defaults, validation and writing of policies and bindings (PO-01 to PO-16).

use billhook::KubernetesVersion;
use billhook_policy::{PolicyDocument, PolicyError, PolicyKind};
use serde_json::{Value, json};

use crate::support::{binding, mutating, policy};

/// PO-02
#[test]
fn defaults() {
    let document = policy("p", json!({"validations": [{"expression": "true"}]}));
    let value = document.to_value();
    assert_eq!(value["spec"]["failurePolicy"], "Fail");
    let constraints = &value["spec"]["matchConstraints"];
    assert_eq!(constraints["namespaceSelector"], json!({}));
    assert_eq!(constraints["objectSelector"], json!({}));
    assert_eq!(constraints["matchPolicy"], "Equivalent");
    assert_eq!(constraints["resourceRules"][0]["scope"], "*");
    assert_eq!(value["status"], json!({}));
    assert_eq!(PolicyDocument::from_value(&value).unwrap(), document);
    let value = binding("b", "p", json!({"matchResources": {}})).to_value();
    assert_eq!(value["spec"]["matchResources"]["matchPolicy"], "Equivalent");
    assert_eq!(value["spec"]["paramRef"], Value::Null);
}

#[test]
fn other_documents_are_refused() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod"});
    let error = PolicyDocument::from_value(&pod).unwrap_err();
    assert!(matches!(error, PolicyError::Kind { .. }), "{error}");
    let two = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\n";
    let error = PolicyDocument::from_yaml(two).unwrap_err();
    assert_eq!(error, PolicyError::Count(2));
    // BK-22: the types by their names in Go.
    for (mutations, of) in [
        (json!(5), "MutatingAdmissionPolicySpec.spec.mutations of type []v1.Mutation"),
        (json!([{"jsonPatch": 5}]), "Mutation.spec.mutations.jsonPatch of type v1.JSONPatch"),
        (
            json!([{"jsonPatch": {"expression": 5}}]),
            "JSONPatch.spec.mutations.jsonPatch.expression of type string",
        ),
        (
            json!([{"applyConfiguration": 5}]),
            "Mutation.spec.mutations.applyConfiguration of type v1.ApplyConfiguration",
        ),
    ] {
        let wrong = json!({"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingAdmissionPolicy", "spec": {"mutations": mutations}});
        let error = PolicyDocument::from_value(&wrong).unwrap_err();
        let expected = format!("json: cannot unmarshal number into Go struct field {of}");
        assert_eq!(error.to_string(), expected);
    }
    let (_, unknown) = PolicyDocument::from_value_reporting(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "spec": {"policyName": "p", "validationActions": ["Deny"]},
    }))
    .unwrap();
    assert_eq!(unknown, ["unknown field \"spec.validationActions\""]);
}

/// PO-10: more annotations than a policy may have.
#[test]
fn too_many_annotations() {
    let annotations: Vec<Value> = (0..21)
        .map(|index| json!({"key": format!("k{index}"), "valueExpression": "'<'"}))
        .collect();
    let errors = policy("p", json!({"auditAnnotations": annotations})).validate();
    let text = errors[0].to_string();
    let start = "spec.auditAnnotations: Invalid value: \
        [{\"Key\":\"k0\",\"ValueExpression\":\"'\\u003c'\"},";
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with("must not have more than 20 auditAnnotations"), "{text}");
}

/// PO-10, PO-12: one table for what recorded answers do not cover.
#[test]
fn errors() {
    let validations = json!([{"expression": "true"}]);
    for (more, expected) in [
        (
            json!({"validations": validations, "paramKind": {"apiVersion": "a/b/c", "kind": "K"}}),
            "spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: \
             a/b/c",
        ),
        (
            json!({"validations": validations, "paramKind": {"apiVersion": "a/", "kind": "K"}}),
            "spec.paramKind.apiVersion: Invalid value: \"a/\": version must be specified",
        ),
        (
            json!({"auditAnnotations": [{"key": "k",
                "valueExpression": format!("'{}'", "x".repeat(6000))}]}),
            "spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes \
             in length",
        ),
        (
            json!({"validations": validations, "matchConditions": [
                {"name": "a", "expression": "params == null"}]}),
            "spec.matchConditions[0].expression: Invalid value: \"params == null\": compilation \
             failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | \
             params == null\n | ^",
        ),
        (
            json!({"validations": [{"expression": "true", "message": "a\rb"}]}),
            "spec.validations[0].message: Invalid value: \"a\\rb\": must not contain line breaks",
        ),
        (
            json!({"validations": [{"expression": "[timestamp('2020-01-01T00:00:00Z')]"}]}),
            "spec.validations[0].expression: Invalid value: \
             \"[timestamp('2020-01-01T00:00:00Z')]\": must evaluate to bool but got \
             list(google.protobuf.Timestamp)",
        ),
        (
            json!({"validations": [{"expression": "true", "messageExpression": "null"}]}),
            "spec.validations[0].messageExpression: Invalid value: \"null\": must evaluate to \
             string but got null_type",
        ),
        // What uses a variable that does not compile is not refused for that.
        (
            json!({"variables": [{"name": "a", "expression": "zzz"}],
                "validations": [{"expression": "variables.a == 1"}]}),
            "spec.variables[0].expression: Invalid value: \"zzz\": compilation failed: ERROR: \
             <input>:1:1: undeclared reference to 'zzz' (in container '')\n | zzz\n | ^",
        ),
        (
            json!({"variables": [{"name": "a", "expression": "quantity('1')"}],
                "validations": [{"expression": "variables.a"}]}),
            "spec.validations[0].expression: Invalid value: \"variables.a\": must evaluate to bool \
             but got dyn",
        ),
    ] {
        let errors = policy("p", more).validate();
        assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }
}

/// PO-13: an expression that is stored already may use what is too new for others; that of a JSON
/// patch may not.
#[test]
fn stored_expressions() {
    let bad = |size: &str| policy("p", json!({"validations": [{"expression": size}]}));
    let stored = bad("object.x == 1");
    assert!(bad("object.x == 1").validate_update(Some(&stored)).is_empty());
    assert_eq!(bad("zzz").validate_update(Some(&stored)).len(), 1);
    // Conditions that do not change are not looked at.
    let wrong = |name: &str| {
        policy(
            name,
            json!({"validations": [{"expression": "true"}],
                "matchConditions": [{"name": "a", "expression": "zzz"}]}),
        )
    };
    assert_eq!(wrong("p").validate().len(), 1);
    assert!(wrong("p").validate_update(Some(&wrong("p"))).is_empty());
}

/// PO-13: it may only where it was.
#[test]
fn stored_expressions_elsewhere() {
    let too_new = "lists.range(1) == [0]";
    let kubernetes = KubernetesVersion::V1_34;
    let validation = policy("p", json!({"validations": [{"expression": too_new}]}));
    let condition = policy(
        "p",
        json!({"validations": [{"expression": "true"}],
        "matchConditions": [{"name": "a", "expression": too_new}]}),
    );
    let errors = |new: &PolicyDocument, stored| new.validate_for(kubernetes, stored).len();
    assert_eq!(errors(&validation, None), 1);
    assert_eq!(errors(&validation, Some(&validation)), 0);
    assert_eq!(errors(&condition, Some(&validation)), 1);
    // The version after that has it, the one before does not.
    assert!(validation.validate().is_empty());
    assert_eq!(validation.validate_for(KubernetesVersion::V1_33, Some(&validation)).len(), 1);
}

/// PO-01
#[test]
fn versions() {
    let of = |kind: PolicyKind, version: &str| {
        let api_version = format!("admissionregistration.k8s.io/{version}");
        let read = PolicyDocument::from_value(&json!({"apiVersion": api_version,
            "kind": kind.name(), "metadata": {"name": "p"}, "spec": {}}));
        read.map(drop).map_err(|error| error.to_string())
    };
    for kind in PolicyKind::ALL {
        assert_eq!((of(kind, "v1"), of(kind, "v1beta1")), (Ok(()), Ok(())));
        assert!(of(kind, "v2").unwrap_err().ends_with("cannot be read: no server has it"));
    }
    assert!(of(PolicyKind::Mutating, "v1alpha1").is_ok());
    assert!(of(PolicyKind::ValidatingBinding, "v1alpha1").is_err());
    let since = |version: &str| {
        let has = |it: &KubernetesVersion| PolicyKind::Mutating.versions(*it).contains(&version);
        KubernetesVersion::ALL.into_iter().find(has)
    };
    assert_eq!(since("v1alpha1"), Some(KubernetesVersion::V1_32));
    assert_eq!(since("v1beta1"), Some(KubernetesVersion::V1_34));
    assert_eq!(since("v1"), Some(KubernetesVersion::V1_36));
}

/// PO-16
#[test]
fn reserved_names() {
    let document = mutating("p.static.k8s.io", json!({}));
    assert_eq!(document.kind(), PolicyKind::Mutating);
    assert_eq!(document.warnings().len(), 1);
    assert!(mutating("p", json!({})).warnings().is_empty());
}
