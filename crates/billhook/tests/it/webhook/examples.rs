//! The examples of the documentation and of KEP-492: whether the webhook is called, and why.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use billhook::GroupVersionKind;
use billhook::label_selector::LabelSelector;
use billhook::webhook::{
    AdmissionAttributes, Decision, EquivalentResources, MatchContext, NamespaceLabels, Operation,
    ValidationOptions, WebhookSet,
};
use billhook_testing::fixtures;
use serde_json::{Value, json};

use crate::webhook::support::{read, resource};

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// `group/version/Kind`, or a kind of the resource's own group and version.
fn kind(written: &str, resource: &billhook::GroupVersionResource) -> GroupVersionKind {
    match written.split('/').collect::<Vec<_>>().as_slice() {
        [group, version, kind] => GroupVersionKind::new(*group, *version, *kind),
        _ => GroupVersionKind::new(&*resource.group, &*resource.version, written),
    }
}

fn request(written: &Value) -> AdmissionAttributes {
    let (resource, subresource) = resource(text(written, "target"));
    let kind = kind(written["kind"].as_str().unwrap_or("Thing"), &resource);
    let object = |labels: &str| {
        let metadata = json!({"name": "a", "labels": written[labels]});
        json!({"apiVersion": kind.api_version(), "kind": kind.kind, "metadata": metadata})
    };
    let (new, old) = (object("labels"), object("oldLabels"));
    let kind = kind.clone();
    let attributes = match text(written, "operation").parse().unwrap() {
        Operation::Create => AdmissionAttributes::create(kind, resource, new),
        Operation::Update => AdmissionAttributes::update(kind, resource, new, old),
        Operation::Delete => AdmissionAttributes::delete(kind, resource, old),
        Operation::Connect => AdmissionAttributes::connect(kind, resource, "", new),
    };
    attributes.subresource(subresource).namespace(text(written, "namespace"))
}

fn registry(example: &Value) -> EquivalentResources {
    let mut registry = EquivalentResources::new();
    registry.share_storage(("extensions", "deployments"), ("apps", "deployments"));
    for written in example["equivalents"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|set| set.as_array().unwrap())
    {
        let (resource, subresource) = resource(text(written, "resource"));
        let kind = kind(text(written, "kind"), &resource);
        registry.register(resource, &subresource, kind);
    }
    registry
}

fn namespaces(example: &Value) -> BTreeMap<String, NamespaceLabels> {
    let read = |(name, labels): (&String, &Value)| {
        let selector = LabelSelector::from_value(&json!({"matchLabels": labels})).unwrap();
        (name.clone(), selector.match_labels)
    };
    example["namespaces"].as_object().into_iter().flatten().map(read).collect()
}

fn code(decision: &Decision) -> String {
    match decision {
        Decision::Called(_) => "called".to_owned(),
        Decision::NotEvaluated(_) => "NotEvaluated".to_owned(),
        other => other.reason().unwrap().code().to_owned(),
    }
}

/// Explains the requests of an example.
fn explain(name: &str, example: &Value) -> String {
    let configuration = read(&example["configuration"]);
    let check = configuration.check(&ValidationOptions::default());
    assert!(check.errors.is_empty(), "{name}: {:?}", check.errors);
    let mut out = format!("{}: {}\n", text(example, "source"), text(example, "title"));
    for lint in &check.lints {
        let _ = writeln!(out, "{lint}");
    }
    let set = WebhookSet::new(configuration.kind, [configuration]);
    let (registry, namespaces) = (registry(example), namespaces(example));
    let context = MatchContext::new(&namespaces, &registry);
    for written in example["requests"].as_array().unwrap() {
        let request = request(written);
        let traces: Vec<_> = (0..set.hooks().len())
            .map(|position| set.explain(position, &request, &context).unwrap())
            .collect();
        let target = request.resource.with_subresource(&request.subresource);
        let _ = writeln!(out, "\n-- {} {target} in `{}`", request.operation, request.namespace);
        for (hook, trace) in set.hooks().iter().zip(&traces) {
            let _ = writeln!(out, "{}:", hook.name());
            for line in trace.to_string().lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
        let found: Vec<String> = traces.iter().map(|trace| code(trace.decision())).collect();
        let expected: Vec<&str> = match &written["expect"] {
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        assert_eq!(found, expected, "{name}: {written}");
    }
    out
}

#[test]
fn examples_are_decided_and_explained() {
    let examples = fixtures::examples("webhooks", "");
    assert!(examples.len() >= 20);
    for (name, example) in examples {
        insta::assert_snapshot!(&*name, explain(&name, &example));
    }
}
