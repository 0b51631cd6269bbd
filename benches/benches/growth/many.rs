//! How cost grows with the number of rules, and with that of webhooks and policies that are for other requests.

use std::collections::BTreeMap;
use std::hint::black_box;

use billhook::webhook::{
    AdmissionAttributes, ConfigurationKind, EquivalentResources, MatchContext, NamespaceLabels,
    WebhookConfiguration, WebhookSet,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_benches::policies::policies;
use billhook_cel::rules::Rules;
use billhook_policy::{MemoryCluster, PolicyContext, PolicyDocument, PolicySet, UnknownObjects};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use serde_json::{Map, Value, json};

use super::grow;

pub(super) fn rules() {
    let compile = |schema: Value| {
        let schema = JsonSchemaProps::from_value(&schema).unwrap();
        Rules::new(&schema, &Validator::new(&schema)).unwrap()
    };
    let of_properties = |n: usize| {
        let property = |index| {
            let rules = json!([{"rule": format!("self < {}", index + 1)}]);
            (format!("p{index}"), json!({"type": "integer", "x-kubernetes-validations": rules}))
        };
        let properties: Map<String, Value> = (0..n).map(property).collect();
        json!({"type": "object", "properties": properties})
    };
    let of_one_value = |n: usize| {
        let rule = |index| json!({"rule": format!("self.p0 < {}", index + 1)});
        let rules: Vec<Value> = (0..n).map(rule).collect();
        let properties = json!({"p0": {"type": "integer"}});
        json!({"type": "object", "properties": properties, "x-kubernetes-validations": rules})
    };
    let object = |n: usize| (0..n).map(|index| (format!("p{index}"), json!(0))).collect::<Value>();
    let check = |(rules, object): &(Rules, Value)| {
        assert!(rules.check(object, None, u64::MAX).errors.is_empty());
    };
    grow("rules: compile", 250, of_properties, |schema| {
        black_box(compile(schema.clone()));
    });
    grow("rules: of properties", 500, |n| (compile(of_properties(n)), object(n)), check);
    grow("rules: of one value", 500, |n| (compile(of_one_value(n)), object(1)), check);
}

/// Ten webhooks or policies are for the request, the others for resources of other groups.
fn rule(index: usize) -> Value {
    let group = if index < 10 { "example.com" } else { &format!("g{index}.example.com") };
    json!({"operations": ["*"], "apiGroups": [group], "apiVersions": ["v1"], "resources": ["widgets"]})
}

fn webhooks(count: usize) -> WebhookSet {
    let configuration = |index| {
        let written = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": format!("c{index}")},
            "webhooks": [{"name": "hook.example.com", "rules": [rule(index)],
                "clientConfig": {"url": "https://hook.example.com"}, "sideEffects": "None",
                "admissionReviewVersions": ["v1"]}],
        });
        WebhookConfiguration::from_value(&written).unwrap()
    };
    WebhookSet::new(ConfigurationKind::Validating, (0..count).map(configuration))
}

pub(super) fn matching() {
    let request = AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Widget"),
        GroupVersionResource::new("example.com", "v1", "widgets"),
        json!({"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "w", "namespace": "shop"}}),
    );
    let equivalents = EquivalentResources::new();
    let namespaces = BTreeMap::from([("shop".to_owned(), NamespaceLabels::new())]);
    let context = MatchContext::new(&namespaces, &equivalents);
    grow("match: webhooks for other requests", 1_000, webhooks, |set| {
        assert_eq!(set.matching(&request, &context).len(), 10);
    });
    let cluster = MemoryCluster::new().with_namespace("shop", NamespaceLabels::new());
    let context = PolicyContext::new(&cluster, &equivalents, &UnknownObjects);
    let set = |count| {
        let documents =
            policies(count, rule, ["true", "has(object.metadata)", "!has(object.spec)"]);
        PolicySet::new(documents.map(|it| PolicyDocument::from_value(&it).unwrap()))
    };
    grow("match: policies for other requests", 1_000, set, |set| {
        assert_eq!(set.validate(&request, &context).records.len(), 30);
    });
}
