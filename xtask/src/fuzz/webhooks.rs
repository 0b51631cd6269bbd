//! Webhook configurations and selectors of any bytes.

use std::collections::BTreeMap;

use billhook::label_selector::Selector;
use billhook::webhook::{
    ConfigurationKind, MatchContext, NamespaceLabels, ValidationOptions, WebhookConfiguration,
    WebhookSet, lint_together,
};
use billhook::{KubernetesVersion, read_manifests};
use billhook_kinds::{Kind, equivalent_resources};
use serde_json::json;

/// A text that is a selector is one again when it is printed; configurations are written as they
/// were read, and all ways to decide about a request agree.
pub fn webhooks(data: &[u8]) -> Result<(), String> {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(selector) = text.parse::<Selector>()
        && selector.to_string().parse::<Selector>() != Ok(selector)
    {
        return Err("a selector is printed as another one".to_owned());
    }
    let mut configurations = Vec::new();
    for manifest in read_manifests(data).unwrap_or_default() {
        let Ok(read) = WebhookConfiguration::from_value(manifest.value()) else { continue };
        read.check(&ValidationOptions::default());
        let again = WebhookConfiguration::from_value(&read.to_value());
        if again.as_ref() != Ok(&read) {
            return Err("a configuration is written as another one".to_owned());
        }
        configurations.push(read);
    }
    lint_together(&configurations);
    for kind in [ConfigurationKind::Mutating, ConfigurationKind::Validating] {
        decide(&WebhookSet::new(kind, configurations.iter().cloned()))?;
    }
    Ok(())
}

fn decide(set: &WebhookSet) -> Result<(), String> {
    let labels = NamespaceLabels::from([("a".to_owned(), "b".to_owned())]);
    let namespaces = BTreeMap::from([("default".to_owned(), labels)]);
    let registry = equivalent_resources(KubernetesVersion::default());
    let context = MatchContext::new(&namespaces, &registry);
    for (api_version, kind) in [("v1", "Pod"), ("autoscaling/v1", "HorizontalPodAutoscaler")] {
        let api = Kind::named(api_version, kind).ok_or("no such kind")?.api_resource();
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}});
        let request = api.create(object);
        let all = set.decide_all(&request, &context);
        let called = all.iter().cloned().enumerate().filter(|(_, it)| !it.is_skipped());
        if called.collect::<Vec<_>>() != set.matching(&request, &context) {
            return Err("the index finds other webhooks".to_owned());
        }
        for (position, decision) in all.iter().enumerate() {
            let trace = set.explain(position, &request, &context).ok_or("no trace")?;
            if trace.decision() != decision || trace.to_string().is_empty() {
                return Err("a trace makes a difference".to_owned());
            }
        }
    }
    Ok(())
}
