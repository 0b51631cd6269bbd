//! Which requests are selected: by the labels of namespaces and objects, and by rules (WM-10 to
//! WM-52, PO-26).

use billhook_apimachinery::label_selector::{LabelSelector, Labels, Selector, SelectorError};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionResource, KubernetesVersion, Status, namespace};
use serde_json::{Map, Value};

use super::attributes::{AdmissionAttributes, Operation};
use super::configuration::{MatchResources, Webhook};
use super::decision::{Decision, DecisionReason, Match};
use super::equivalence::EquivalentResources;
use super::namespaces::{NamespaceLabels, Namespaces};
use super::rule::CompiledRule;
use super::status::namespace_not_found;
use super::trace::{
    Recorder, RuleMismatch, SeenNamespace, SeenObject, StepVerdict, Trace, TraceStep,
};
use crate::edition::EDITIONS;

/// Selects requests: selectors and rules, ready to match. What cannot be parsed is remembered
/// (WM-10, DI-07).
#[derive(Clone, Debug)]
pub struct RequestMatcher {
    namespace_selector: Result<Selector, SelectorError>,
    object_selector: Result<Selector, SelectorError>,
    rules: Vec<CompiledRule>,
    excluded: Vec<CompiledRule>,
    matches_equivalents: bool,
    /// Whether all requests are selected if there are no rules (PO-26).
    selects_without_rules: bool,
    /// KV-03.
    reads_null_labels: bool,
}

/// Whether a [`RequestMatcher`] selects a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// It does, in this version.
    Selected(Match),
    /// It does not.
    NotSelected(DecisionReason),
    /// Nobody can tell; the answer of a server that cannot go on.
    Failed(DecisionReason, Status),
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

impl RequestMatcher {
    pub(super) fn of_webhook(webhook: &Webhook, kubernetes: KubernetesVersion) -> Self {
        RequestMatcher {
            rules: webhook.rules.iter().map(CompiledRule::new).collect(),
            matches_equivalents: webhook.matches_equivalents(),
            selects_without_rules: false,
            ..Self::of_selectors(
                [&webhook.namespace_selector, &webhook.object_selector],
                kubernetes,
            )
        }
    }

    /// Returns what selects the requests of a policy or a binding (PO-26).
    pub fn new(resources: &MatchResources) -> Self {
        let selectors = [&resources.namespace_selector, &resources.object_selector];
        RequestMatcher {
            rules: resources.resource_rules.iter().map(CompiledRule::named).collect(),
            excluded: resources.exclude_resource_rules.iter().map(CompiledRule::named).collect(),
            matches_equivalents: resources.match_policy.as_deref() == Some("Equivalent"),
            ..Self::of_selectors(selectors, KubernetesVersion::default())
        }
    }

    /// Returns what selects requests by the selectors of namespace and object alone.
    fn of_selectors(selectors: [&Option<LabelSelector>; 2], kubernetes: KubernetesVersion) -> Self {
        let [namespace_selector, object_selector] = selectors.map(|selector| match selector {
            None => Ok(Selector::nothing()),
            Some(selector) => selector.parse_for(kubernetes),
        });
        RequestMatcher {
            namespace_selector,
            object_selector,
            rules: Vec::new(),
            excluded: Vec::new(),
            matches_equivalents: false,
            selects_without_rules: true,
            reads_null_labels: EDITIONS.of(kubernetes).reads_null_labels,
        }
    }

    pub(super) fn rules(&self) -> &[CompiledRule] {
        &self.rules
    }

    /// Whether it may select requests that no rule is for.
    pub(super) fn selects_everything(&self) -> bool {
        self.rules.is_empty() && self.selects_without_rules
    }

    /// Decides whether a request is selected.
    pub fn select(
        &self,
        attributes: &AdmissionAttributes,
        namespaces: &dyn Namespaces,
        equivalents: &EquivalentResources,
    ) -> Selection {
        self.select_recording(attributes, namespaces, equivalents, &mut ())
    }

    /// [`RequestMatcher::select`] with all that was tried, in the order it was tried.
    pub fn explain(
        &self,
        attributes: &AdmissionAttributes,
        namespaces: &dyn Namespaces,
        equivalents: &EquivalentResources,
    ) -> Trace {
        let mut steps = Vec::new();
        let selection = self.select_recording(attributes, namespaces, equivalents, &mut steps);
        let decision = match selection {
            Selection::Selected(matched) => Decision::Called(matched),
            Selection::NotSelected(reason) => Decision::Skipped(reason),
            Selection::Failed(reason, status) => Decision::Rejected(reason, status),
        };
        Trace::new(steps, decision)
    }

    pub(super) fn select_recording(
        &self,
        attributes: &AdmissionAttributes,
        namespaces: &dyn Namespaces,
        equivalents: &EquivalentResources,
        recorder: &mut impl Recorder,
    ) -> Selection {
        let mut deferred = None;
        let mut block = |blocked: Result<(), Blocked>, reason| match blocked {
            Ok(()) => None,
            Err(Blocked::Mismatch) => Some(Selection::NotSelected(reason)),
            Err(Blocked::Deferred(reason, status)) => {
                deferred.get_or_insert(Selection::Failed(reason, status));
                None
            }
        };
        let namespace = self.select_namespace(attributes, namespaces, recorder);
        if let Some(skipped) = block(namespace, DecisionReason::NamespaceSelectorMismatch) {
            return skipped;
        }
        let object = self.select_object(attributes, recorder);
        if let Some(skipped) = block(object, DecisionReason::ObjectSelectorMismatch) {
            return skipped;
        }
        match self.select_by_rules(attributes, equivalents, recorder) {
            Selected::Yes(matched) => deferred.unwrap_or(Selection::Selected(matched)),
            Selected::No(reason) => Selection::NotSelected(reason),
            Selected::UnknownKind(GroupVersionResource { group, version, resource }) => {
                let error = format!(
                    "unable to convert to {group}/{version}, Resource={resource}: unknown kind"
                );
                let status = Status::internal_error(&error);
                Selection::Failed(DecisionReason::UnknownKind, status)
            }
        }
    }

    /// Records that no equivalent resource was tried, and which one would have matched.
    fn leave_equivalents<'r>(
        &self,
        attributes: &AdmissionAttributes,
        others: impl Iterator<Item = &'r GroupVersionResource> + Clone,
        recorder: &mut impl Recorder,
    ) -> DecisionReason {
        let would_match = |other: &&GroupVersionResource| {
            self.rules.iter().any(|rule| rule.mismatch(attributes, other).is_none())
        };
        let missed = others.clone().find(would_match);
        recorder.add(|| TraceStep::Equivalents {
            tried: false,
            resources: others.cloned().collect(),
            missed: missed.cloned(),
        });
        match missed {
            Some(_) => DecisionReason::EquivalentNotTried,
            None => DecisionReason::NoRuleMatched,
        }
    }

    /// Returns the rule that excludes a request, for its own resource or an equivalent (PO-26).
    fn excluding_rule(
        &self,
        attributes: &AdmissionAttributes,
        registry: &EquivalentResources,
    ) -> Option<usize> {
        let AdmissionAttributes { resource, subresource, .. } = attributes;
        let equivalents = match self.matches_equivalents && !self.excluded.is_empty() {
            true => registry.equivalents(resource, subresource),
            false => &[],
        };
        let hits = |rule: &CompiledRule| {
            let mut resources = std::iter::once(resource).chain(equivalents);
            resources.any(|resource| rule.mismatch(attributes, resource).is_none())
        };
        self.excluded.iter().position(hits)
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
        let is_namespaces = attributes.resource.resource == namespace::RESOURCE;
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
        select_stored_namespace(&attributes.namespace, selector, namespaces, step, recorder)
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
    fn select_by_rules(
        &self,
        attributes: &AdmissionAttributes,
        registry: &EquivalentResources,
        recorder: &mut impl Recorder,
    ) -> Selected {
        let AdmissionAttributes { resource, subresource, .. } = attributes;
        let own = || Match::own(attributes);
        if let Some(excluded) = self.excluding_rule(attributes, registry) {
            recorder.add(|| TraceStep::ExcludingRule { index: excluded });
            return Selected::No(DecisionReason::ExcludedByRule);
        }
        if self.rules.is_empty() && self.selects_without_rules {
            return Selected::Yes(own());
        }
        let list = if self.selects_without_rules { "resourceRules" } else { "rules" };
        let mut fits = |index: usize, rule: &CompiledRule, resource: &GroupVersionResource| {
            let failed = rule.mismatch(attributes, resource);
            recorder.add(|| TraceStep::Rule {
                list,
                index,
                resource: resource.clone(),
                subresource: subresource.clone(),
                failed: failed
                    .map(|dimension| RuleMismatch::new(dimension, rule, attributes, resource)),
            });
            failed.is_none()
        };
        let numbered = || self.rules.iter().enumerate();
        if numbered().any(|(index, rule)| fits(index, rule, resource)) {
            return Selected::Yes(own());
        }
        let equivalents = registry.equivalents(resource, subresource);
        let others = || equivalents.iter().filter(|other| *other != resource);
        if !self.matches_equivalents {
            return Selected::No(self.leave_equivalents(attributes, others(), recorder));
        }
        let mut pairs =
            numbered().flat_map(|(index, rule)| others().map(move |other| (index, rule, other)));
        let Some((_, _, found)) = pairs.find(|(index, rule, other)| fits(*index, rule, other))
        else {
            recorder.add(|| TraceStep::Equivalents {
                tried: true,
                resources: others().cloned().collect(),
                missed: None,
            });
            return Selected::No(match others().next() {
                None => DecisionReason::NoRuleMatched,
                Some(_) => DecisionReason::NoEquivalentMatched,
            });
        };
        let (resource, subresource) = (found.clone(), subresource.clone());
        match registry.kind_for(found, &subresource).cloned() {
            None => Selected::UnknownKind(resource),
            Some(kind) => Selected::Yes(Match { resource, subresource, kind }),
        }
    }
}

/// Selects a namespace as it is stored (WM-15, WM-16).
fn select_stored_namespace(
    name: &str,
    selector: &Selector,
    namespaces: &dyn Namespaces,
    step: impl Fn(SeenNamespace, StepVerdict) -> TraceStep,
    recorder: &mut impl Recorder,
) -> Result<(), Blocked> {
    match namespaces.labels(name) {
        Ok(Some(labels)) => {
            let matches = selector.matches(labels.as_ref());
            recorder.add(|| {
                let (name, labels) = (name.to_owned(), labels.as_ref().clone());
                step(SeenNamespace::Stored { name, labels }, StepVerdict::of(matches))
            });
            if matches { Ok(()) } else { Err(Blocked::Mismatch) }
        }
        Ok(None) => {
            let status = namespace_not_found(name);
            let verdict = || StepVerdict::Error(status.message.clone());
            recorder.add(|| step(SeenNamespace::Missing { name: name.to_owned() }, verdict()));
            Err(Blocked::Deferred(DecisionReason::NamespaceNotFound, status))
        }
        Err(error) => {
            let error = error.to_string();
            let status = Status::internal_error(&error);
            let verdict = || StepVerdict::Error(error.clone());
            recorder.add(|| step(SeenNamespace::Unknown { name: name.to_owned() }, verdict()));
            Err(Blocked::Deferred(DecisionReason::NamespaceError, status))
        }
    }
}

/// WM-12, WM-20.
fn unparsable(error: &SelectorError) -> Blocked {
    let status = Status::internal_error(&error.to_string());
    Blocked::Deferred(DecisionReason::SelectorUnparsable, status)
}

/// Kinds without object metadata, in the core group except for the last (WM-22).
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
