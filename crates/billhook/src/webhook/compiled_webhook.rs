//! A webhook ready to match, and how it is decided whether it is called (WM-05).

use std::sync::Arc;

use billhook_apimachinery::value::DeepValue;
use serde_json::{Map, Value};

use super::attributes::{AdmissionAttributes, Operation};
use super::conditions::{
    ConditionInput, ConditionResult, ConditionsError, MatchConditions, renamed,
};
use super::configuration::{ConfigurationKind, MatchCondition, Webhook};
use super::decision::{Decision, DecisionReason, Match};
use super::equivalence::EquivalentResources;
use super::namespaces::{NamespaceLabels, Namespaces};
use super::rule::CompiledRule;
use super::status::namespace_not_found;
use super::trace::{
    Recorder, RuleMismatch, SeenNamespace, SeenObject, StepVerdict, Trace, TraceStep,
};
use billhook_apimachinery::Status;
use billhook_apimachinery::label_selector::{
    LabelSelector, Labels, Selector, SelectorError, SelectorOptions,
};
use billhook_apimachinery::{GroupVersionResource, KubernetesVersion};

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
}

/// A webhook of a configuration, ready to match. Its selectors are parsed, and what cannot be
/// parsed is remembered (WM-10, DI-07).
#[derive(Clone, Debug)]
pub struct CompiledWebhook {
    configuration: Arc<str>,
    kind: ConfigurationKind,
    key: String,
    webhook: Webhook,
    namespace_selector: Result<Selector, SelectorError>,
    object_selector: Result<Selector, SelectorError>,
    rules: Vec<CompiledRule>,
    /// KV-03.
    reads_null_labels: bool,
}

/// The verdict of the rules on a request.
enum Selected {
    Yes(Match),
    No(DecisionReason),
    UnknownKind(GroupVersionResource),
}

/// A selector that does not let a request through.
enum Blocked {
    Mismatch,
    /// The request is refused if the rules select it (WM-06).
    Deferred(DecisionReason, Status),
}

impl CompiledWebhook {
    /// `number` counts the webhooks of the same name before this one (DI-06).
    pub(super) fn new(
        kind: ConfigurationKind,
        configuration: &Arc<str>,
        number: usize,
        webhook: Webhook,
        options: &SelectorOptions,
    ) -> Self {
        let parse = |selector: &Option<LabelSelector>| match selector {
            None => Ok(Selector::nothing()),
            Some(selector) => selector.parse_with(options),
        };
        CompiledWebhook {
            kind,
            key: format!("{configuration}/{}/{number}", webhook.name),
            configuration: Arc::clone(configuration),
            namespace_selector: parse(&webhook.namespace_selector),
            object_selector: parse(&webhook.object_selector),
            rules: webhook.rules.iter().map(CompiledRule::new).collect(),
            reads_null_labels: options.kubernetes >= KubernetesVersion::V1_33,
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

    pub(super) fn rules(&self) -> &[CompiledRule] {
        &self.rules
    }

    /// Whether a rule is for the request's own resource.
    pub(super) fn may_select(&self, attributes: &AdmissionAttributes) -> bool {
        let resource = &attributes.resource;
        self.rules.iter().any(|rule| rule.mismatch(attributes, resource).is_none())
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
        let mut deferred = None;
        let mut block = |blocked: Result<(), Blocked>, reason| match blocked {
            Ok(()) => None,
            Err(Blocked::Mismatch) => Some(Decision::Skipped(reason)),
            Err(Blocked::Deferred(reason, status)) => {
                deferred.get_or_insert(Decision::Rejected(reason, status));
                None
            }
        };
        let namespace = self.select_namespace(attributes, context.namespaces, recorder);
        if let Some(skipped) = block(namespace, DecisionReason::NamespaceSelectorMismatch) {
            return skipped;
        }
        let object = self.select_object(attributes, recorder);
        if let Some(skipped) = block(object, DecisionReason::ObjectSelectorMismatch) {
            return skipped;
        }
        let matched = match self.select(attributes, context.equivalents, recorder) {
            Selected::Yes(matched) => matched,
            Selected::No(reason) => return Decision::Skipped(reason),
            Selected::UnknownKind(GroupVersionResource { group, version, resource }) => {
                let error = format!(
                    "unable to convert to {group}/{version}, Resource={resource}: unknown kind"
                );
                return Decision::Rejected(
                    DecisionReason::UnknownKind,
                    Status::internal_error(&error),
                );
            }
        };
        if let Some(rejected) = deferred {
            return rejected;
        }
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

    /// Step 1 (WM-11 to WM-17).
    fn select_namespace(
        &self,
        attributes: &AdmissionAttributes,
        namespaces: &dyn Namespaces,
        recorder: &mut impl Recorder,
    ) -> Result<(), Blocked> {
        let step = |seen, verdict| TraceStep::NamespaceSelector {
            selector: self.namespace_selector.as_ref().map(Selector::to_string).ok(),
            seen,
            verdict,
        };
        let is_namespaces = attributes.resource.resource == "namespaces";
        if attributes.namespace.is_empty() && !is_namespaces {
            recorder.add(|| step(SeenNamespace::NotNamespaced, StepVerdict::Passed));
            return Ok(());
        }
        let selector = match &self.namespace_selector {
            Ok(selector) => selector,
            Err(error) => {
                let verdict = || StepVerdict::Error(error.to_string());
                recorder.add(|| step(SeenNamespace::NotLookedAt, verdict()));
                return Err(unparsable(error));
            }
        };
        if selector.is_everything() {
            recorder.add(|| step(SeenNamespace::NotLookedAt, StepVerdict::Passed));
            return Ok(());
        }
        let is_written = matches!(attributes.operation, Operation::Create | Operation::Update);
        if is_namespaces && attributes.subresource.is_empty() && is_written {
            let labels = attributes.object.as_deref().and_then(|object| self.labels_of(object));
            let matches = matches_labels(selector, labels.as_ref());
            recorder.add(|| {
                let labels = labels.map(ObjectLabels::into_owned).unwrap_or_default();
                step(SeenNamespace::Object(labels), StepVerdict::of(matches))
            });
            return if matches { Ok(()) } else { Err(Blocked::Mismatch) };
        }
        let name = &attributes.namespace;
        match namespaces.labels(name) {
            Ok(Some(labels)) => {
                let matches = selector.matches(labels.as_ref());
                recorder.add(|| {
                    let (name, labels) = (name.clone(), labels.as_ref().clone());
                    step(SeenNamespace::Stored { name, labels }, StepVerdict::of(matches))
                });
                if matches { Ok(()) } else { Err(Blocked::Mismatch) }
            }
            Ok(None) => {
                let status = namespace_not_found(name);
                let verdict = || StepVerdict::Error(status.message.clone());
                recorder.add(|| step(SeenNamespace::Missing { name: name.clone() }, verdict()));
                Err(Blocked::Deferred(DecisionReason::NamespaceNotFound, status))
            }
            Err(error) => {
                let error = error.to_string();
                let status = Status::internal_error(&error);
                let verdict = || StepVerdict::Error(error.clone());
                recorder.add(|| step(SeenNamespace::Unknown { name: name.clone() }, verdict()));
                Err(Blocked::Deferred(DecisionReason::NamespaceError, status))
            }
        }
    }

    /// Step 2 (WM-20 to WM-25).
    fn select_object(
        &self,
        attributes: &AdmissionAttributes,
        recorder: &mut impl Recorder,
    ) -> Result<(), Blocked> {
        let objects = [attributes.object.as_ref(), attributes.old_object.as_ref()];
        let step = |verdict| {
            let [object, old_object] = objects.map(|object| self.seen(object));
            TraceStep::ObjectSelector {
                selector: self.object_selector.as_ref().map(Selector::to_string).ok(),
                object,
                old_object,
                verdict,
            }
        };
        match &self.object_selector {
            Err(error) => {
                recorder.add(|| step(StepVerdict::Error(error.to_string())));
                Err(unparsable(error))
            }
            Ok(selector) => {
                let has_match = |object: &DeepValue| {
                    let labels = self.labels_of(object);
                    has_metadata(object) && matches_labels(selector, labels.as_ref())
                };
                let matches =
                    selector.is_everything() || objects.into_iter().flatten().any(has_match);
                recorder.add(|| step(StepVerdict::of(matches)));
                if matches { Ok(()) } else { Err(Blocked::Mismatch) }
            }
        }
    }

    /// The labels of an object, if they can be read: one that is not a text spoils all (KV-03).
    fn labels_of<'v>(&self, object: &'v Value) -> Option<ObjectLabels<'v>> {
        let labels = object.get("metadata")?.get("labels")?.as_object()?;
        let is_text =
            |value: &Value| value.is_string() || self.reads_null_labels && value.is_null();
        labels.values().all(is_text).then_some(ObjectLabels(labels))
    }

    fn seen(&self, object: Option<&DeepValue>) -> SeenObject {
        match object {
            None => SeenObject::Absent,
            Some(object) if !has_metadata(object) => SeenObject::NoMetadata,
            Some(object) => {
                let labels = self.labels_of(object).map(ObjectLabels::into_owned);
                SeenObject::Labels(labels.unwrap_or_default())
            }
        }
    }

    /// Steps 3 and 4 (WM-30 to WM-52).
    fn select(
        &self,
        attributes: &AdmissionAttributes,
        registry: &EquivalentResources,
        recorder: &mut impl Recorder,
    ) -> Selected {
        let AdmissionAttributes { resource, subresource, .. } = attributes;
        let mut fits = |index: usize, rule: &CompiledRule, resource: &GroupVersionResource| {
            let failed = rule.mismatch(attributes, resource);
            recorder.add(|| {
                let mismatch =
                    |(dimension, rule)| RuleMismatch::new(dimension, rule, attributes, resource);
                TraceStep::Rule {
                    index,
                    resource: resource.clone(),
                    subresource: subresource.clone(),
                    failed: failed.zip(self.webhook.rules.get(index)).map(mismatch),
                }
            });
            failed.is_none()
        };
        let numbered = || self.rules.iter().enumerate();
        if numbered().any(|(index, rule)| fits(index, rule, resource)) {
            return Selected::Yes(Match {
                resource: resource.clone(),
                subresource: subresource.clone(),
                kind: attributes.kind.clone(),
            });
        }
        let equivalents = registry.equivalents(resource, subresource);
        let others = || equivalents.iter().filter(|other| *other != resource);
        if !self.webhook.matches_equivalents() {
            let would_match = |other: &&GroupVersionResource| {
                self.rules.iter().any(|rule| rule.mismatch(attributes, other).is_none())
            };
            let missed = others().find(would_match);
            recorder.add(|| TraceStep::Equivalents {
                tried: false,
                resources: others().cloned().collect(),
                missed: missed.cloned(),
            });
            return Selected::No(match missed {
                Some(_) => DecisionReason::EquivalentNotTried,
                None => DecisionReason::NoRuleMatched,
            });
        }
        let mut pairs =
            numbered().flat_map(|(index, rule)| others().map(move |other| (index, rule, other)));
        let Some((_, _, found)) = pairs.find(|(index, rule, other)| fits(*index, rule, other))
        else {
            let none = others().next().is_none();
            recorder.add(|| TraceStep::Equivalents {
                tried: true,
                resources: others().cloned().collect(),
                missed: None,
            });
            return Selected::No(match none {
                true => DecisionReason::NoRuleMatched,
                false => DecisionReason::NoEquivalentMatched,
            });
        };
        match registry.kind_for(found, subresource) {
            None => Selected::UnknownKind(found.clone()),
            Some(kind) => Selected::Yes(Match {
                resource: found.clone(),
                subresource: subresource.clone(),
                kind: kind.clone(),
            }),
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

/// WM-12, WM-20.
fn unparsable(error: &SelectorError) -> Blocked {
    let status = Status::internal_error(&error.to_string());
    Blocked::Deferred(DecisionReason::SelectorUnparsable, status)
}

/// Kinds without object metadata, in the core group but for the last (WM-22).
const WITHOUT_METADATA: [&str; 7] = [
    "PodAttachOptions",
    "PodExecOptions",
    "PodPortForwardOptions",
    "PodProxyOptions",
    "NodeProxyOptions",
    "ServiceProxyOptions",
    "DeploymentRollback",
];

/// Whether an object is of a kind that can have labels at all.
fn has_metadata(object: &Value) -> bool {
    let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let api_version = text("apiVersion");
    let is_built_in = !api_version.contains('/')
        || api_version.starts_with("extensions/")
        || api_version.starts_with("apps/");
    !(is_built_in && WITHOUT_METADATA.contains(&text("kind")))
}

/// `metadata.labels` of an object, with null for an empty text (KV-03).
struct ObjectLabels<'v>(&'v Map<String, Value>);

impl Labels for ObjectLabels<'_> {
    fn label(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| value.as_str().unwrap_or_default())
    }
}

impl ObjectLabels<'_> {
    fn into_owned(self) -> NamespaceLabels {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.0.iter().map(|(key, value)| (key.clone(), text(value))).collect()
    }
}

fn matches_labels<L: Labels>(selector: &Selector, labels: Option<&L>) -> bool {
    match labels {
        Some(labels) => selector.matches(labels),
        None => selector.matches(&()),
    }
}
