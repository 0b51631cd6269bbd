//! Advice that several configurations together give rise to.

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::FieldPath;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};
use serde_json::Value;

use super::{Lint, LintCode};
use crate::webhook::attributes::{AdmissionAttributes, Operation};
use crate::webhook::configuration::{ConfigurationKind, Rule, Webhook, WebhookConfiguration};
use crate::webhook::equivalence::EquivalentResources;
use crate::webhook::set::WebhookSet;

/// How long a request may take in all, in seconds (DI-53).
const REQUEST_SECONDS: i64 = 34;
/// How many kinds of requests are looked at.
const MAX_SAMPLES: usize = 200;

/// Advice about configurations that are in use together, besides the advice about each of them
/// by itself (see [`WebhookConfiguration::lints`]).
pub fn lint_together(configurations: &[WebhookConfiguration]) -> Vec<Lint> {
    let mut lints = Vec::new();
    repeated_names(configurations, &mut lints);
    let set = |kind| WebhookSet::new(kind, configurations.iter().cloned());
    let mutating = set(ConfigurationKind::Mutating);
    let validating = set(ConfigurationKind::Validating);
    without_counterpart(configurations, &validating, &mut lints);
    timeouts(configurations, &mutating, &mut lints);
    lints
}

fn webhooks(
    configurations: &[WebhookConfiguration],
) -> impl Iterator<Item = (&WebhookConfiguration, FieldPath, &Webhook)> {
    configurations.iter().flat_map(|configuration| {
        configuration.webhooks.iter().enumerate().map(move |(index, webhook)| {
            (configuration, FieldPath::default().name("webhooks").index(index), webhook)
        })
    })
}

/// WCF-L9.
fn repeated_names(configurations: &[WebhookConfiguration], lints: &mut Vec<Lint>) {
    let mut seen: BTreeMap<(ConfigurationKind, &str), &str> = BTreeMap::new();
    for (configuration, path, webhook) in webhooks(configurations) {
        let first = seen.entry((configuration.kind, &webhook.name)).or_insert(configuration.name());
        if *first != configuration.name() && !webhook.name.is_empty() {
            let message = format!("`{}` is in `{first}` too", webhook.name);
            lints.push(configuration.lint(LintCode::RepeatedName, path.name("name"), message));
        }
    }
}

/// WCF-L5.
fn without_counterpart(
    configurations: &[WebhookConfiguration],
    validating: &WebhookSet,
    lints: &mut Vec<Lint>,
) {
    for (configuration, path, webhook) in webhooks(configurations) {
        if configuration.kind != ConfigurationKind::Mutating {
            continue;
        }
        let mut samples = webhook.rules.iter().filter_map(sample);
        if samples.any(|request| !validating.has_candidates(&request)) {
            let message = "no validating webhook is for the same requests".to_owned();
            lints.push(configuration.lint(LintCode::NoValidatingCounterpart, path, message));
        }
    }
}

/// DI-54; the webhooks with the longest sum are named once.
fn timeouts(configurations: &[WebhookConfiguration], mutating: &WebhookSet, lints: &mut Vec<Lint>) {
    let rules = mutating.hooks().iter().flat_map(|hook| &hook.webhook().rules);
    let mut seen = BTreeSet::new();
    let samples = rules.filter_map(sample).filter(|request| {
        seen.insert((request.operation, request.resource.clone(), request.subresource.clone()))
    });
    let mut longest = (0, Vec::new(), String::new());
    for request in samples.take(MAX_SAMPLES) {
        let called: Vec<_> = mutating
            .candidates(&request, &EquivalentResources::new())
            .into_iter()
            .filter_map(|position| mutating.hooks().get(position))
            .filter(|hook| hook.may_select(&request))
            .collect();
        let seconds = called.iter().map(|hook| hook.webhook().timeout_seconds.unwrap_or(0));
        let sum: i64 = seconds.map(i64::from).sum();
        if sum > longest.0 {
            let target = request.resource.with_subresource(&request.subresource);
            longest = (sum, called, format!("{} {target}", request.operation));
        }
    }
    let (sum, called, what) = longest;
    let (Some(last), true) = (called.last(), sum > REQUEST_SECONDS && called.len() > 1) else {
        return;
    };
    let place = webhooks(configurations).find(|(configuration, _, webhook)| {
        configuration.kind == ConfigurationKind::Mutating
            && configuration.name() == last.configuration()
            && webhook.name == last.name()
    });
    if let Some((configuration, path, _)) = place {
        let message = format!(
            "the {} webhooks for `{what}` up to this one may take {sum} seconds",
            called.len()
        );
        let path = path.name("timeoutSeconds");
        lints.push(configuration.lint(LintCode::TimeoutsAddUp, path, message));
    }
}

/// A request that a rule is for; none if it is for no request.
fn sample(rule: &Rule) -> Option<AdmissionAttributes> {
    // A name that is not in use stands for a wildcard.
    let name = |name: &str| if name == "*" { "any".to_owned() } else { name.to_owned() };
    let operation = rule.operations.first()?;
    let operation = operation.parse().unwrap_or(Operation::Create);
    let (group, version) = (name(rule.api_groups.first()?), name(rule.api_versions.first()?));
    let element = rule.resources.first()?;
    let (resource, subresource) = element.split_once('/').unwrap_or((element, ""));
    let resource = GroupVersionResource::new(group, version, name(resource));
    let kind = GroupVersionKind::default();
    let mut request = AdmissionAttributes::create(kind, resource, Value::Null);
    request.operation = operation;
    if rule.scope.as_deref() != Some("Cluster") {
        request.namespace = "any".to_owned();
    }
    Some(request.subresource(name(subresource)))
}
