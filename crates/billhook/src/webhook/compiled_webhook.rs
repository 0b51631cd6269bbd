//! A webhook ready to match, and how it is decided whether it is called (WM-05).

use std::sync::Arc;

use billhook_apimachinery::KubernetesVersion;

use super::attributes::AdmissionAttributes;
use super::conditions::{
    ConditionInput, ConditionResult, ConditionsError, MatchConditions, renamed,
};
use super::configuration::{ConfigurationKind, MatchCondition, Webhook};
use super::decision::Decision;
use super::equivalence::EquivalentResources;
use super::matcher::{RequestMatcher, Selection};
use super::namespaces::Namespaces;
use super::trace::{Recorder, Trace, TraceStep};

/// The context of decisions, besides webhook and request.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct MatchContext<'c> {
    /// The labels of namespaces.
    pub namespaces: &'c dyn Namespaces,
    /// The equivalent resources.
    pub equivalents: &'c EquivalentResources,
    /// Evaluates match conditions. Without it, and where a conversion webhook would have to be
    /// called first, the decision is [`Decision::NotEvaluated`].
    pub conditions: Option<&'c dyn MatchConditions>,
}

impl<'c> MatchContext<'c> {
    /// The context without match conditions.
    pub fn new(namespaces: &'c dyn Namespaces, equivalents: &'c EquivalentResources) -> Self {
        MatchContext { namespaces, equivalents, conditions: None }
    }

    /// The context with an evaluator of match conditions.
    #[must_use]
    pub fn conditions(mut self, conditions: &'c dyn MatchConditions) -> Self {
        self.conditions = Some(conditions);
        self
    }

    /// Decides with the context for one request: the conditions of its webhooks share bounds
    /// ([`MatchConditions::for_request`]).
    pub fn for_request<R>(&self, decide: impl FnOnce(&MatchContext<'_>) -> R) -> R {
        let own = self.conditions.and_then(MatchConditions::for_request);
        let own = own.as_deref().map(|conditions| conditions as &dyn MatchConditions);
        decide(&MatchContext { conditions: own.or(self.conditions), ..*self })
    }
}

/// A webhook of a configuration, ready to match. Its selectors are parsed, and what cannot be
/// parsed is remembered (WM-10, DI-07).
#[derive(Clone, Debug)]
pub struct CompiledWebhook {
    configuration: Arc<str>,
    kind: ConfigurationKind,
    key: String,
    webhook: Webhook,
    matcher: RequestMatcher,
}

impl CompiledWebhook {
    /// `number` counts the webhooks of the same name before this one (DI-06).
    pub(super) fn new(
        kind: ConfigurationKind,
        configuration: &Arc<str>,
        number: usize,
        webhook: Webhook,
        kubernetes: KubernetesVersion,
    ) -> Self {
        CompiledWebhook {
            kind,
            key: format!("{configuration}/{}/{number}", webhook.name),
            configuration: Arc::clone(configuration),
            matcher: RequestMatcher::of_webhook(&webhook, kubernetes),
            webhook,
        }
    }

    /// The name of the webhook.
    pub fn name(&self) -> &str {
        &self.webhook.name
    }

    /// The name of its configuration.
    pub fn configuration(&self) -> &str {
        &self.configuration
    }

    /// The kind of its configuration.
    pub fn kind(&self) -> ConfigurationKind {
        self.kind
    }

    /// The key that no other webhook of its kind has: `<configuration>/<name>/<n>`, where n
    /// counts the webhooks of that name in the configuration from 0 (DI-06).
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The webhook as configured.
    pub fn webhook(&self) -> &Webhook {
        &self.webhook
    }

    pub(super) fn matcher(&self) -> &RequestMatcher {
        &self.matcher
    }

    /// Whether a rule is for the request's own resource.
    pub(super) fn may_select(&self, attributes: &AdmissionAttributes) -> bool {
        let resource = &attributes.resource;
        self.matcher.rules().iter().any(|rule| rule.mismatch(attributes, resource).is_none())
    }

    /// Decides whether it is called for a request, which is looked at as it is now: in a chain of
    /// mutating webhooks each one gets the object as the ones before left it (WM-08). Exempt kinds
    /// are the caller's concern, see [`AdmissionAttributes::is_exempt`].
    pub fn decide(&self, attributes: &AdmissionAttributes, context: &MatchContext<'_>) -> Decision {
        self.decide_recording(attributes, context, &mut ())
    }

    /// [`CompiledWebhook::decide`] with all that was tried, in the order it was tried.
    pub fn explain(&self, attributes: &AdmissionAttributes, context: &MatchContext<'_>) -> Trace {
        let mut steps = Vec::new();
        let decision = self.decide_recording(attributes, context, &mut steps);
        Trace::new(steps, decision)
    }

    /// Evaluates its match conditions for a request that its rules select, with the objects in the
    /// matched kind (WM-71).
    pub fn decide_conditions(
        &self,
        conditions: &dyn MatchConditions,
        input: &ConditionInput<'_>,
    ) -> Decision {
        self.conditions_recording(conditions, input, &mut ())
    }

    fn decide_recording(
        &self,
        attributes: &AdmissionAttributes,
        context: &MatchContext<'_>,
        recorder: &mut impl Recorder,
    ) -> Decision {
        let MatchContext { namespaces, equivalents, .. } = *context;
        let matched =
            match self.matcher.select_recording(attributes, namespaces, equivalents, recorder) {
                Selection::Selected(matched) => matched,
                Selection::NotSelected(reason) => return Decision::Skipped(reason),
                Selection::Failed(reason, status) => return Decision::Rejected(reason, status),
            };
        if self.webhook.match_conditions.is_empty() {
            return Decision::Called(matched);
        }
        let is_alike =
            || matched.kind == attributes.kind || context.equivalents.is_alike(&matched.resource);
        match context.conditions.filter(|_| is_alike()) {
            Some(conditions) => {
                let [object, old_object] = [&attributes.object, &attributes.old_object]
                    .map(|object| renamed(object.as_deref()?, &matched.kind));
                let input = ConditionInput::new(attributes, &matched);
                let input = input.converted(
                    object.as_deref().or(input.object),
                    old_object.as_deref().or(input.old_object),
                );
                self.conditions_recording(conditions, &input, recorder)
            }
            None => {
                let names = || self.webhook.match_conditions.iter().map(|each| each.name.clone());
                recorder.add(|| TraceStep::NotEvaluated { conditions: names().collect() });
                Decision::NotEvaluated(matched)
            }
        }
    }

    /// Step 6 (WM-70 to WM-83).
    fn conditions_recording(
        &self,
        conditions: &dyn MatchConditions,
        input: &ConditionInput<'_>,
        recorder: &mut impl Recorder,
    ) -> Decision {
        let results = conditions.evaluate(&self.webhook.match_conditions, input);
        let open = open_conditions(&self.webhook.match_conditions, &results);
        recorder.add(|| match open.is_empty() {
            true => TraceStep::conditions(&self.webhook.match_conditions, &results),
            false => TraceStep::NotEvaluated { conditions: open },
        });
        input.decide(&self.webhook, results)
    }
}

/// The names of the conditions that leave the decision open.
fn open_conditions(
    conditions: &[MatchCondition],
    results: &Result<Vec<ConditionResult>, ConditionsError>,
) -> Vec<String> {
    let results = results.as_deref().unwrap_or_default();
    if results.contains(&ConditionResult::False) {
        return Vec::new();
    }
    let results = conditions.iter().zip(results);
    let open = results.filter(|(_, result)| **result == ConditionResult::Undecided);
    open.map(|(condition, _)| condition.name.clone()).collect()
}
