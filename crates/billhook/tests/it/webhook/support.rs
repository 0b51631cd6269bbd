//! Short ways to webhooks, requests and decisions.

use std::collections::BTreeMap;

use billhook::FieldError;
use billhook::webhook::{
    AdmissionAttributes, CompiledWebhook, ConfigurationKind, Decision, EquivalentResources,
    MatchContext, NamespaceLabels, Operation, Trace, WebhookConfiguration, WebhookSet,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use serde_json::{Value, json};

/// A webhook with these fields, besides those it must have, in a configuration of its own.
pub(crate) fn configuration(fields: &Value) -> Value {
    let mut webhook = json!({
        "name": "hook.example.com",
        "clientConfig": {"url": "https://hook.example.com/"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    for (name, value) in fields.as_object().unwrap() {
        webhook[name] = value.clone();
    }
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "configuration"},
        "webhooks": [webhook],
    })
}

/// The same in the old version.
pub(crate) fn old(mut configuration: Value) -> Value {
    configuration["apiVersion"] = json!("admissionregistration.k8s.io/v1beta1");
    configuration
}

pub(crate) fn read(value: &Value) -> WebhookConfiguration {
    WebhookConfiguration::from_value(value).unwrap()
}

pub(crate) fn texts(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// The compiled webhook.
pub(crate) fn hook(fields: &Value) -> CompiledWebhook {
    let configuration = read(&configuration(fields));
    let set = WebhookSet::new(ConfigurationKind::Validating, [configuration]);
    set.hooks()[0].clone()
}

/// A rule for everything.
pub(crate) fn all() -> Value {
    json!([{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}])
}

/// `group/version/resource[/subresource]`; the core group is empty.
pub(crate) fn resource(text: &str) -> (GroupVersionResource, String) {
    let parts: Vec<&str> = text.split('/').collect();
    let subresource = parts.get(3).copied().unwrap_or_default();
    (GroupVersionResource::new(parts[0], parts[1], parts[2]), subresource.to_owned())
}

/// A request for a resource in a namespace, without objects.
pub(crate) fn request(operation: Operation, target: &str, namespace: &str) -> AdmissionAttributes {
    let (resource, subresource) = resource(target);
    let kind = GroupVersionKind::new(&*resource.group, &*resource.version, "Thing");
    let object = || json!({"metadata": {"name": "a"}});
    let attributes = match operation {
        Operation::Create => AdmissionAttributes::create(kind, resource, object()),
        Operation::Update => AdmissionAttributes::update(kind, resource, object(), object()),
        Operation::Delete => AdmissionAttributes::delete(kind, resource, object()),
        Operation::Connect => AdmissionAttributes::connect(kind, resource, "", json!({})),
    };
    attributes.subresource(subresource).namespace(namespace)
}

/// `a=b,c=d`.
pub(crate) fn labels(text: &str) -> NamespaceLabels {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

pub(crate) fn namespaces(list: &[(&str, &str)]) -> BTreeMap<String, NamespaceLabels> {
    list.iter().map(|(name, text)| ((*name).to_owned(), labels(text))).collect()
}

/// Decides with and without a trace, which must agree.
pub(crate) fn decide(
    hook: &CompiledWebhook,
    attributes: &AdmissionAttributes,
    context: &MatchContext<'_>,
) -> Trace {
    let trace = hook.explain(attributes, context);
    assert_eq!(trace.decision(), &hook.decide(attributes, context));
    trace
}

/// `called`, the code of the reason, or the code and the message of the refusal.
pub(crate) fn outcome(decision: &Decision) -> String {
    match decision {
        Decision::Called(_) => "called".to_owned(),
        Decision::Skipped(reason) => reason.code().to_owned(),
        Decision::Rejected(_, status) => format!("{} {}", status.code, status.message),
        other => format!("{other:?}"),
    }
}

/// [`outcome`] of a webhook without stored namespaces and equivalents.
pub(crate) fn plain_outcome(hook: &CompiledWebhook, attributes: &AdmissionAttributes) -> String {
    let namespaces = namespaces(&[]);
    let registry = EquivalentResources::new();
    let context = MatchContext::new(&namespaces, &registry);
    outcome(decide(hook, attributes, &context).decision())
}
