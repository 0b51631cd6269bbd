//! Match policies and equivalent resources (WM-45 to WM-54).

use billhook::CustomResourceDefinition;
use billhook::webhook::{
    AdmissionAttributes, Decision, EquivalentResources, MatchContext, Operation,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use serde_json::{Value, json};

use crate::webhook::support::{decide, hook, namespaces, outcome, request, resource};

/// The registry of the table under WM-54.
fn deployments() -> EquivalentResources {
    let mut registry = EquivalentResources::new();
    registry.share_storage(("extensions", "deployments"), ("apps", "deployments"));
    for (group, version) in
        [("extensions", "v1beta1"), ("apps", "v1"), ("apps", "v1beta1"), ("apps", "v1alpha1")]
    {
        let resource = || GroupVersionResource::new(group, version, "deployments");
        registry.register(resource(), "", GroupVersionKind::new(group, version, "Deployment"));
        let scale = if group == "apps" { ("autoscaling", "v1") } else { (group, version) };
        registry.register(resource(), "scale", GroupVersionKind::new(scale.0, scale.1, "Scale"));
    }
    registry
}

fn rule(group: &str, version: &str, resource: &str) -> Value {
    json!({"operations": ["*"], "apiGroups": [group], "apiVersions": [version],
        "resources": [resource]})
}

fn decided(
    registry: &EquivalentResources,
    fields: &Value,
    request: &AdmissionAttributes,
) -> String {
    let namespaces = namespaces(&[]);
    let context = MatchContext::new(&namespaces, registry);
    match decide(&hook(fields), request, &context).decision() {
        Decision::Called(matched) => format!("{} for {}", matched.kind, matched.resource),
        other => outcome(other),
    }
}

/// The table under WM-54; WM-50, WM-51.
#[test]
fn match_policies() {
    let registry = deployments();
    let old = || rule("extensions", "v1beta1", "deployments");
    let old_scale = || rule("extensions", "v1beta1", "deployments/scale");
    let apps = |version| rule("apps", version, "deployments");
    let (main, scale) = ("apps/v1/deployments", "apps/v1/deployments/scale");
    for (policy, rules, target, expected) in [
        ("Exact", vec![old()], main, "EquivalentNotTried"),
        ("Exact", vec![apps("v9")], main, "NoRuleMatched"),
        ("Equivalent", vec![apps("v1")], main, "apps/v1 Thing for apps/v1 deployments"),
        ("Equivalent", vec![old(), apps("v1")], main, "apps/v1 Thing for apps/v1 deployments"),
        (
            "Equivalent",
            vec![apps("v1beta1"), old()],
            main,
            "apps/v1beta1 Deployment for apps/v1beta1 deployments",
        ),
        (
            "Equivalent",
            vec![rule("*", "v1beta1", "deployments")],
            main,
            "extensions/v1beta1 Deployment for extensions/v1beta1 deployments",
        ),
        ("Equivalent", vec![apps("v9")], main, "NoEquivalentMatched"),
        (
            "Equivalent",
            vec![old_scale()],
            scale,
            "extensions/v1beta1 Scale for extensions/v1beta1 deployments",
        ),
        ("Equivalent", vec![old()], scale, "NoEquivalentMatched"),
        ("Equivalent", vec![old()], "apps/v1/replicasets", "NoRuleMatched"),
    ] {
        let fields = json!({"matchPolicy": policy, "rules": rules});
        let request = request(Operation::Create, target, "default");
        assert_eq!(decided(&registry, &fields, &request), expected, "{fields} {target}");
    }
}

/// WM-49: all versions of a definition, served or not, and its subresources.
#[test]
fn custom_resources() {
    let version = |name: &str, served: bool, subresources: Value| {
        json!({"name": name, "served": served, "storage": name == "v2",
            "schema": {"openAPIV3Schema": {"type": "object"}}, "subresources": subresources})
    };
    let scale =
        json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
    let crd = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "crontabs.stable.example.com"},
        "spec": {
            "group": "stable.example.com",
            "scope": "Namespaced",
            "names": {"plural": "crontabs", "kind": "CronTab"},
            "versions": [
                version("v1", true, json!({"status": {}})),
                version("v2", true, json!({"status": {}, "scale": scale})),
                version("v0", false, json!({})),
            ],
        },
    }))
    .unwrap();
    let mut registry = EquivalentResources::new();
    registry.register_definition(&crd);
    let target = |subresource: &str| format!("stable.example.com/v2/crontabs{subresource}");
    for (version, element, subresource, expected) in [
        ("v1", "crontabs", "", "stable.example.com/v1 CronTab for stable.example.com/v1 crontabs"),
        ("v0", "crontabs", "", "stable.example.com/v0 CronTab for stable.example.com/v0 crontabs"),
        (
            "v1",
            "crontabs/status",
            "/status",
            "stable.example.com/v1 CronTab for stable.example.com/v1 crontabs",
        ),
        ("v0", "crontabs/status", "/status", "NoEquivalentMatched"),
        ("v1", "crontabs/scale", "/scale", "NoRuleMatched"),
    ] {
        let fields = json!({"rules": [rule("stable.example.com", version, element)]});
        let request = request(Operation::Update, &target(subresource), "default");
        assert_eq!(decided(&registry, &fields, &request), expected, "{version} {element}");
    }
    let (resource, scale) = resource(&target("/scale"));
    let kind = registry.kind_for(&resource, &scale).unwrap();
    assert_eq!(kind.to_string(), "autoscaling/v1 Scale");
}

/// WM-52. The error comes before those of selectors (WM-05) and beats the failure policy (WM-07).
#[test]
fn unknown_kind() {
    for (group, shown) in [("old", "old/v1"), ("", "/v1")] {
        let mut registry = EquivalentResources::new();
        registry.share_storage((group, "deployments"), ("apps", "deployments"));
        let resource = GroupVersionResource::new(group, "v1", "deployments");
        registry.register(resource, "", GroupVersionKind::default());
        let broken = json!({"matchExpressions": [{"key": "a", "operator": "Like"}]});
        let fields = json!({"rules": [rule(group, "v1", "deployments")], "objectSelector": broken,
            "failurePolicy": "Ignore"});
        let request = request(Operation::Create, "apps/v1/deployments", "default");
        let expected = format!(
            "500 Internal error occurred: unable to convert to {shown}, Resource=deployments: \
             unknown kind"
        );
        assert_eq!(decided(&registry, &fields, &request), expected);
    }
}
