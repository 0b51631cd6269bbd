//! All webhooks of one kind, in the order a server calls them (DI-05), found by an index.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::attributes::AdmissionAttributes;
use super::compiled_webhook::{CompiledWebhook, MatchContext};
use super::configuration::{ConfigurationKind, WebhookConfiguration};
use super::decision::{Decision, DecisionReason};
use super::equivalence::EquivalentResources;
use super::index::MatcherIndex;
use super::trace::{Trace, TraceStep};

/// The webhooks of one kind from any number of configurations, compiled once, in the order a
/// server calls them: by the name of the configuration, then as they are written (DI-05).
///
/// ```
/// use billhook::{GroupVersionKind, GroupVersionResource};
/// use billhook::webhook::{AdmissionAttributes, ConfigurationKind, EquivalentResources, MatchContext, NamespaceLabels, WebhookConfiguration, WebhookSet};
/// use serde_json::json;
/// use std::collections::BTreeMap;
///
/// let configuration = WebhookConfiguration::from_value(&json!({
///     "apiVersion": "admissionregistration.k8s.io/v1",
///     "kind": "ValidatingWebhookConfiguration",
///     "metadata": {"name": "policy"},
///     "webhooks": [{
///         "name": "pods.policy.example.com",
///         "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
///                    "resources": ["pods"]}],
///         "namespaceSelector": {"matchLabels": {"env": "prod"}},
///     }],
/// }))?;
/// let webhooks = WebhookSet::new(ConfigurationKind::Validating, [configuration]);
///
/// let request = AdmissionAttributes::create(
///     GroupVersionKind::new("", "v1", "Pod"),
///     GroupVersionResource::new("", "v1", "pods"),
///     json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}}),
/// );
/// let namespaces = BTreeMap::from([("shop".to_owned(), NamespaceLabels::new())]);
/// let equivalents = EquivalentResources::new();
/// let context = MatchContext::new(&namespaces, &equivalents);
/// assert!(webhooks.matching(&request, &context).is_empty());
/// let trace = webhooks.explain(0, &request, &context).unwrap();
/// assert_eq!(trace.to_string(), "\
/// namespaceSelector `env=prod`: failed, namespace `shop` has no labels (WM-14)
/// not called: NamespaceSelectorMismatch");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WebhookSet {
    kind: ConfigurationKind,
    hooks: Vec<CompiledWebhook>,
    index: MatcherIndex,
}

impl WebhookSet {
    /// Compiles the configurations of a kind; those of the other kind are left out. Of several
    /// configurations of the same name the last one counts, as if it had been applied last.
    pub fn new(
        kind: ConfigurationKind,
        configurations: impl IntoIterator<Item = WebhookConfiguration>,
    ) -> Self {
        let mut by_name = BTreeMap::new();
        for configuration in configurations {
            if configuration.kind == kind {
                by_name.insert(configuration.name().to_owned(), configuration);
            }
        }
        let mut hooks = Vec::new();
        for (name, configuration) in by_name {
            let name: Arc<str> = Arc::from(name);
            let kubernetes = configuration.kubernetes;
            let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
            for webhook in configuration.webhooks {
                let number = numbers.entry(webhook.name.clone()).or_default();
                hooks.push(CompiledWebhook::new(kind, &name, *number, webhook, kubernetes));
                *number += 1;
            }
        }
        let index = MatcherIndex::new(hooks.iter().map(CompiledWebhook::matcher));
        WebhookSet { kind, hooks, index }
    }

    /// The kind of its configurations.
    pub fn kind(&self) -> ConfigurationKind {
        self.kind
    }

    /// The webhooks, in the order they are called.
    pub fn hooks(&self) -> &[CompiledWebhook] {
        &self.hooks
    }

    /// The positions of the webhooks whose rules may select a request, in order; all others are
    /// certainly not called. This depends only on operation, resource and subresource, not on the
    /// objects, so it holds for a whole chain of mutating webhooks.
    pub fn candidates(
        &self,
        attributes: &AdmissionAttributes,
        equivalents: &EquivalentResources,
    ) -> Vec<usize> {
        self.index.candidates(attributes, equivalents)
    }

    /// Whether any webhook has a rule that may select the request's own resource.
    pub(super) fn has_candidates(&self, attributes: &AdmissionAttributes) -> bool {
        self.index.has_candidates(attributes)
    }

    /// Decides for all webhooks: position and decision of those that are not skipped. Webhooks
    /// whose rules are about something else are not even looked at.
    pub fn matching(
        &self,
        attributes: &AdmissionAttributes,
        context: &MatchContext<'_>,
    ) -> Vec<(usize, Decision)> {
        if attributes.is_exempt() {
            return Vec::new();
        }
        let candidates = self.candidates(attributes, context.equivalents);
        context.for_request(|context| {
            let decide = |position: usize| {
                let decision = self.hooks.get(position)?.decide(attributes, context);
                (!decision.is_skipped()).then_some((position, decision))
            };
            candidates.into_iter().filter_map(decide).collect()
        })
    }

    /// Decides for all webhooks, one after the other, with the reasons of those that are skipped.
    pub fn decide_all(
        &self,
        attributes: &AdmissionAttributes,
        context: &MatchContext<'_>,
    ) -> Vec<Decision> {
        let is_exempt = attributes.is_exempt();
        context.for_request(|context| {
            let decide = |hook: &CompiledWebhook| match is_exempt {
                true => Decision::Skipped(DecisionReason::ExemptKind),
                false => hook.decide(attributes, context),
            };
            self.hooks.iter().map(decide).collect()
        })
    }

    /// Decides for the webhook at a position, with all that was tried; none if there is no such
    /// webhook.
    pub fn explain(
        &self,
        position: usize,
        attributes: &AdmissionAttributes,
        context: &MatchContext<'_>,
    ) -> Option<Trace> {
        let hook = self.hooks.get(position)?;
        if attributes.is_exempt() {
            let steps = vec![TraceStep::ExemptKind { kind: attributes.kind.clone() }];
            return Some(Trace::new(steps, Decision::Skipped(DecisionReason::ExemptKind)));
        }
        Some(hook.explain(attributes, context))
    }
}
