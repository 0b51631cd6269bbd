//! Parameters in versions other than those they were written in (PO-30, PO-31).

use billhook::{CustomResourceDefinition, Scope};
use billhook_policy::{Cluster, MemoryCluster, ParamKind};
use serde_json::{Value, json};

/// Limits, whose second version has a default that the first one does not know.
fn limits(conversion: Value) -> CustomResourceDefinition {
    let version = |name: &str, spec: Value| {
        json!({"name": name, "served": name != "v0", "storage": name == "v1", "schema":
            {"openAPIV3Schema": {"type": "object", "properties":
                {"spec": {"type": "object", "properties": spec}}}}})
    };
    let size = json!({"type": "integer"});
    let definition = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced", "conversion": conversion,
            "names": {"plural": "limits", "kind": "Limit"},
            "versions": [version("v0", json!({"max": size})), version("v1", json!({"max": size})),
                version("v2", json!({"max": size, "mode": {"type": "string", "default": "strict"}}))]}}));
    definition.unwrap()
}

/// The spec of a limit, which was sent in a version, in each version of the definition.
fn specs(conversion: Value, version: &str) -> [Option<Value>; 3] {
    let definition = limits(conversion);
    let mut cluster = MemoryCluster::new();
    for version in ["v0", "v1", "v2"] {
        cluster.register(&format!("example.com/{version}"), "Limit", Scope::Namespaced);
    }
    let sent = json!({"apiVersion": format!("example.com/{version}"), "kind": "Limit",
        "metadata": {"name": "l", "namespace": "shop"}, "spec": {"max": 3, "unknown": 1}});
    cluster.insert_sent(sent, &definition.version(version).unwrap()).unwrap();
    ["v0", "v1", "v2"].map(|version| {
        let kind = ParamKind::new(format!("example.com/{version}"), "Limit");
        cluster.object(&kind, "shop", "l").map(|found| found["spec"].clone())
    })
}

/// RP-50, RP-53, RP-82: what the stored version does not know is lost, and a conversion sets no
/// defaults.
#[test]
fn parameters_in_all_served_versions() {
    let none = || json!({"strategy": "None"});
    let bare = json!({"max": 3});
    assert_eq!(specs(none(), "v1"), [None, Some(bare.clone()), Some(bare.clone())]);
    let strict = json!({"max": 3, "mode": "strict"});
    // The version that it was sent in is read back from what is stored, too.
    assert_eq!(specs(none(), "v2"), [None, Some(bare.clone()), Some(bare.clone())]);
    let webhook = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://localhost/convert"}}});
    assert_eq!(specs(webhook, "v2"), [None, None, Some(strict)]);
}
