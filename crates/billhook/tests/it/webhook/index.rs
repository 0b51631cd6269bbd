//! The index finds what the plain loop finds.

use billhook::webhook::{
    AdmissionAttributes, ConfigurationKind, Decision, EquivalentResources, MatchContext, Operation,
    WebhookSet,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::webhook::support::{configuration, namespaces, read, request};

const GROUPS: [&str; 3] = ["", "apps", "old"];
const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];
const RESOURCES: [&str; 4] = ["pods", "things", "namespaces", "nodes"];
const SUBRESOURCES: [&str; 3] = ["", "status", "scale"];

/// Some names of a list, sometimes with a wildcard between them.
fn names(names: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    (subsequence(names, 0..=2), prop::bool::weighted(0.3)).prop_map(|(mut names, any)| {
        if any {
            names.push("*");
        }
        names
    })
}

fn rule() -> impl Strategy<Value = Value> {
    let resource = (
        select(&["pods", "things", "namespaces", "*"][..]),
        select(&["", "/", "/*", "/status", "/scale"][..]),
    );
    let resource = resource.prop_map(|(name, subresource)| format!("{name}{subresource}"));
    let operations = names(&["CREATE", "UPDATE", "DELETE", "CONNECT"]);
    let scope = select(&["*", "Namespaced", "Cluster"][..]);
    (operations, names(&GROUPS), names(&VERSIONS), vec(resource, 0..3), scope).prop_map(
        |(operations, groups, versions, resources, scope)| {
            json!({"operations": operations, "apiGroups": groups, "apiVersions": versions,
                "resources": resources, "scope": scope})
        },
    )
}

/// A rule of so many pairs that the index does not hold each of them.
fn wide_rule() -> Value {
    let many = |prefix: &str| -> Vec<String> {
        (0..20).map(|number| format!("{prefix}{number}")).collect()
    };
    let (mut groups, mut resources) = (many("g"), many("r"));
    groups.push("apps".to_owned());
    resources.push("things".to_owned());
    json!({"operations": ["*"], "apiGroups": groups, "apiVersions": ["*"], "resources": resources})
}

fn hook() -> impl Strategy<Value = Value> {
    let rules = vec(prop_oneof![9 => rule(), 1 => Just(wide_rule())], 0..4);
    let selector = select(&["", "a=b", "c=d", "broken"][..]);
    let selector = selector.prop_map(|text| match text.split_once('=') {
        Some((key, value)) => json!({"matchLabels": {key: value}}),
        None if text.is_empty() => json!({}),
        None => json!({"matchExpressions": [{"key": "a", "operator": "Like"}]}),
    });
    let policy = select(&["Exact", "Equivalent"][..]);
    let conditions = prop_oneof![4 => Just(json!([])), 1 => Just(json!([{"name": "c"}]))];
    (rules, selector.clone(), selector, policy, conditions).prop_map(
        |(rules, namespace, object, policy, conditions)| {
            let fields = json!({"rules": rules, "namespaceSelector": namespace,
                "objectSelector": object, "matchPolicy": policy, "matchConditions": conditions});
            configuration(&fields)["webhooks"][0].take()
        },
    )
}

fn any_request() -> impl Strategy<Value = AdmissionAttributes> {
    let target = (
        select(&GROUPS[..]),
        select(&VERSIONS[..]),
        select(&RESOURCES[..]),
        select(&SUBRESOURCES[..]),
    );
    (select(&Operation::ALL[..]), target, select(&["", "n", "m"][..])).prop_map(
        |(operation, (group, version, resource, subresource), namespace)| {
            let target = format!("{group}/{version}/{resource}/{subresource}");
            request(operation, &target, namespace)
        },
    )
}

fn registry() -> EquivalentResources {
    let mut registry = EquivalentResources::new();
    registry.share_storage(("old", "things"), ("apps", "things"));
    registry.share_storage(("old", "pods"), ("", "pods"));
    for group in GROUPS {
        for (version, resource) in [("v3", "things"), ("v1", "things"), ("v2", "pods")] {
            for subresource in ["", "scale"] {
                // Nobody knows one of the kinds.
                let known = (group, subresource) != ("old", "scale");
                let kind = GroupVersionKind::new(group, version, if known { "Kind" } else { "" });
                let resource = GroupVersionResource::new(group, version, resource);
                registry.register(resource, subresource, kind);
            }
        }
    }
    registry
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn index_and_plain_loop_agree(
        hooks in vec(hook(), 0..12), requests in vec(any_request(), 1..6),
    ) {
        let mut written = configuration(&json!({}));
        written["webhooks"] = Value::Array(hooks);
        let set = WebhookSet::new(ConfigurationKind::Validating, [read(&written)]);
        let (known, registry) = (namespaces(&[("n", "a=b")]), registry());
        let context = MatchContext::new(&known, &registry);
        for request in requests {
            let all = set.decide_all(&request, &context);
            let expected: Vec<(usize, Decision)> = all
                .iter()
                .cloned()
                .enumerate()
                .filter(|(_, decision)| !decision.is_skipped())
                .collect();
            prop_assert_eq!(set.matching(&request, &context), expected);
            for (position, decision) in all.iter().enumerate() {
                let trace = set.explain(position, &request, &context).unwrap();
                prop_assert_eq!(trace.decision(), decision);
                prop_assert_eq!(trace.summary().is_none(), matches!(decision, Decision::Called(_)));
            }
            prop_assert!(set.explain(all.len(), &request, &context).is_none());
        }
    }
}
