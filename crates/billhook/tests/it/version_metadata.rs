//! The metadata of objects on servers of other versions.

use std::collections::BTreeMap;

use billhook::webhook::{
    AdmissionAttributes, ConfigurationKind, EquivalentResources, MatchContext, NamespaceLabels,
    WebhookConfiguration, WebhookSet,
};
use billhook::{
    CrdOptions, CrdVersion, CustomResourceDefinition, DecodeOptions, GroupVersionKind,
    GroupVersionResource, KubernetesVersion,
};
use serde_json::{Value, json};

fn version(kubernetes: KubernetesVersion) -> CrdVersion {
    let schema = json!({"type": "object"});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": schema}}],
        },
    });
    let options = CrdOptions::default().kubernetes(kubernetes);
    let definition = CustomResourceDefinition::with_options(&definition, &options).unwrap();
    assert_eq!(definition.kubernetes(), kubernetes);
    definition.version("v1").unwrap()
}

/// KV-01: text and tree alike.
#[test]
fn an_unset_time_is_written_up_to_1_33() {
    for (kubernetes, metadata) in [
        (KubernetesVersion::V1_33, json!({"creationTimestamp": null, "name": "x"})),
        (KubernetesVersion::V1_34, json!({"name": "x"})),
    ] {
        let body = br#"{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"x"}}"#;
        let version = version(kubernetes);
        for report in [true, false] {
            let options = DecodeOptions::default().report(report);
            let decoded = version.decode(body, &options).unwrap();
            assert_eq!(decoded.object()["metadata"], metadata, "{kubernetes}");
        }
        let text = version.decode_text(body, &DecodeOptions::default()).unwrap();
        let text: Value = serde_json::from_slice(text.text()).unwrap();
        assert_eq!(text["metadata"], metadata, "{kubernetes}");
    }
}

/// KV-03.
#[test]
fn labels_with_null_values() {
    let is_called = |kubernetes, labels: &Value| {
        let configuration = WebhookConfiguration::from_value(&json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "policy"},
            "webhooks": [{
                "name": "policy.example.com",
                "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
                           "resources": ["*"]}],
                "objectSelector": {"matchLabels": {"b": "x"}},
            }],
        }));
        let configuration = configuration.unwrap().kubernetes(kubernetes);
        let webhooks = WebhookSet::new(ConfigurationKind::Validating, [configuration]);
        let request = AdmissionAttributes::create(
            GroupVersionKind::new("", "v1", "Node"),
            GroupVersionResource::new("", "v1", "nodes"),
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}}),
        );
        let namespaces: BTreeMap<String, NamespaceLabels> = BTreeMap::new();
        let equivalents = EquivalentResources::new();
        let context = MatchContext::new(&namespaces, &equivalents);
        !webhooks.matching(&request, &context).is_empty()
    };
    for (labels, expected) in [
        (json!({"b": "x"}), [true, true]),
        (json!({"a": null, "b": "x"}), [false, true]),
        (json!({"a": 1, "b": "x"}), [false, false]),
        (json!({"b": null}), [false, false]),
    ] {
        let versions = [KubernetesVersion::V1_32, KubernetesVersion::V1_33];
        assert_eq!(versions.map(|version| is_called(version, &labels)), expected, "{labels}");
    }
}
