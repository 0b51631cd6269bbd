//! Many webhooks as a large cluster has them, and requests for some of them.

use std::collections::BTreeMap;

use billhook::KubernetesVersion;
use billhook::webhook::{
    AdmissionAttributes, ConfigurationKind, EquivalentResources, NamespaceLabels,
    WebhookConfiguration, WebhookSet,
};
use billhook_kinds::{Kind, equivalent_resources};
use serde_json::{Value, json};

use crate::Rng;

/// The built-in kinds that the webhooks are about, besides those of operators.
const BUILT_IN: [(&str, &str, &str, &str); 5] = [
    ("", "v1", "pods", "Pod"),
    ("apps", "v1", "deployments", "Deployment"),
    ("", "v1", "services", "Service"),
    ("batch", "v1", "jobs", "Job"),
    ("networking.k8s.io", "v1", "ingresses", "Ingress"),
];

/// How many webhooks are in one configuration.
const HOOKS: usize = 4;

/// So many webhooks: most of them for the resources of one operator, some for built-in resources,
/// one in fifty for everything, in a part of the namespaces.
pub fn webhooks(count: usize) -> WebhookSet {
    let mut rng = Rng::new(5);
    let configurations = (0..count.div_ceil(HOOKS)).map(|number| {
        let left = HOOKS.min(count - number * HOOKS);
        let hooks: Vec<Value> = (0..left).map(|index| hook(&mut rng, number, index)).collect();
        let written = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": format!("operator-{number:04}")},
            "webhooks": hooks,
        });
        WebhookConfiguration::from_value(&written).expect("a configuration")
    });
    WebhookSet::new(ConfigurationKind::Validating, configurations)
}

fn hook(rng: &mut Rng, number: usize, index: usize) -> Value {
    let (group, version, resource) = match rng.below(50) {
        0 => ("*".to_owned(), "*", "*".to_owned()),
        1..=8 => {
            let (group, version, resource, _) = BUILT_IN[rng.below(BUILT_IN.len())];
            (group.to_owned(), version, resource.to_owned())
        }
        _ => (format!("operator-{number}.example.com"), "v1", format!("things{index}")),
    };
    let selector = match rng.below(3) {
        0 => json!({}),
        1 => json!({"matchLabels": {"team": format!("team-{}", rng.below(10))}}),
        _ => json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name",
            "operator": "NotIn", "values": ["kube-system", "operators"]}]}),
    };
    json!({
        "name": format!("hook-{index}.operator-{number}.example.com"),
        "clientConfig": {"service": {"namespace": "operators", "name": "hook"}},
        "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": [group],
            "apiVersions": [version], "resources": [resource]}],
        "namespaceSelector": selector,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    })
}

/// The namespaces of the cluster.
pub fn namespaces() -> BTreeMap<String, NamespaceLabels> {
    let namespace = |number: usize| {
        let name = format!("namespace-{number}");
        let labels = NamespaceLabels::from([
            ("kubernetes.io/metadata.name".to_owned(), name.clone()),
            ("team".to_owned(), format!("team-{}", number % 10)),
        ]);
        (name, labels)
    };
    (0..100).map(namespace).collect()
}

/// The resources of a server without definitions.
pub fn resources() -> EquivalentResources {
    equivalent_resources(KubernetesVersion::default())
}

/// Requests with their names: for a resource that many webhooks are for, for one that few are for,
/// and for one that only those for everything are for.
pub fn requests() -> Vec<(&'static str, AdmissionAttributes)> {
    let create = |api_version: &str, kind: &str| {
        let api = Kind::named(api_version, kind).expect("a built-in kind").api_resource();
        api.create(json!({"apiVersion": api_version, "kind": kind,
            "metadata": {"name": "a", "namespace": "namespace-7", "labels": {"app": "a"}}}))
    };
    let mut custom = create("v1", "ConfigMap");
    custom.resource.group = "operator-77.example.com".to_owned();
    custom.resource.resource = "things1".to_owned();
    custom.kind.group = custom.resource.group.clone();
    custom.kind.kind = "Thing".to_owned();
    vec![
        ("pods", create("v1", "Pod")),
        ("an operator's", custom),
        ("config maps", create("v1", "ConfigMap")),
    ]
}
