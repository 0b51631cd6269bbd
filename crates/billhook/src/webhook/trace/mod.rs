//! Why a webhook is or isn't called: every step that was tried, what it saw, and what came of it
//! (WM-95, WM-96). Nothing of an object but its labels is in it.

mod text;

use std::collections::BTreeMap;

use serde::Serialize;

use super::attributes::AdmissionAttributes;
use super::conditions::{ConditionResult, ConditionsError, text as condition_text};
use super::configuration::{MatchCondition, NamedRule};
use super::decision::Decision;
use super::rule::{CompiledRule, Dimension};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};

/// How a decision was made. `Display` prints a line for each step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    steps: Vec<TraceStep>,
    decision: Decision,
}

impl Trace {
    pub(super) fn new(steps: Vec<TraceStep>, decision: Decision) -> Self {
        Trace { steps, decision }
    }

    /// The steps, in the order they were tried.
    pub fn steps(&self) -> &[TraceStep] {
        &self.steps
    }

    /// The decision; the same as without a trace.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Returns the reason that the webhook is not called, in one line; none if it is called. If no
    /// rule fits, the one that fits best is named.
    pub fn summary(&self) -> Option<String> {
        text::summary(self)
    }
}

/// One step of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum TraceStep {
    /// The request is for a kind that no webhook sees (WM-03).
    ExemptKind {
        /// The kind.
        kind: GroupVersionKind,
    },
    /// The namespaceSelector was looked at (WM-11 to WM-17).
    NamespaceSelector {
        /// Its canonical text; none if it cannot be parsed.
        selector: Option<String>,
        /// Whose labels it was compared with.
        seen: SeenNamespace,
        /// The result.
        verdict: StepVerdict,
    },
    /// The objectSelector was looked at (WM-20 to WM-25).
    ObjectSelector {
        /// Its canonical text; none if it cannot be parsed.
        selector: Option<String>,
        /// The labels of the new object.
        object: SeenObject,
        /// The labels of the old object.
        old_object: SeenObject,
        /// The result.
        verdict: StepVerdict,
    },
    /// A rule was tried (WM-30, WM-50).
    Rule {
        /// The list that it is in: `rules`, or `resourceRules` of policies.
        #[serde(skip)]
        list: &'static str,
        /// Its position in the list.
        index: usize,
        /// The resource it was tried for: the request's own or an equivalent.
        resource: GroupVersionResource,
        /// The subresource of the request.
        subresource: String,
        /// The first part that does not fit; none if all do.
        failed: Option<RuleMismatch>,
    },
    /// A rule excludes the request (PO-26).
    ExcludingRule {
        /// Its position in `excludeResourceRules`.
        index: usize,
    },
    /// No rule fits the request's own resource, nor an equivalent if those were tried (WM-45).
    Equivalents {
        /// Whether equivalents were tried; not with the match policy `Exact`.
        tried: bool,
        /// The equivalents.
        resources: Vec<GroupVersionResource>,
        /// The first of them that a rule would have fitted if it had been tried.
        #[serde(skip_serializing_if = "Option::is_none")]
        missed: Option<GroupVersionResource>,
    },
    /// The match conditions were evaluated (WM-72).
    MatchConditions {
        /// The conditions with their results.
        conditions: Vec<ConditionTrace>,
        /// The error that ended the evaluation.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// There are match conditions that were not evaluated.
    NotEvaluated {
        /// Their names.
        conditions: Vec<String>,
    },
}

impl TraceStep {
    pub(super) fn conditions(
        conditions: &[MatchCondition],
        results: &Result<Vec<ConditionResult>, ConditionsError>,
    ) -> Self {
        let (results, error) = match results {
            Ok(results) => (results.as_slice(), None),
            Err(error) => (&[][..], Some(error.to_string())),
        };
        let trace = |(condition, result): (&MatchCondition, &ConditionResult)| ConditionTrace {
            name: condition.name.clone(),
            verdict: match condition_text(condition, result) {
                Some(error) => StepVerdict::Error(error),
                None => StepVerdict::of(*result == ConditionResult::True),
            },
        };
        let conditions = conditions.iter().zip(results).map(trace).collect();
        TraceStep::MatchConditions { conditions, error }
    }
}

/// The part of a rule that does not fit a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RuleMismatch {
    /// Which part.
    pub dimension: Dimension,
    /// The values in the rule.
    pub wanted: Vec<String>,
    /// The value in the request; for the scope, its namespace.
    pub found: String,
}

impl RuleMismatch {
    pub(super) fn new(
        dimension: Dimension,
        rule: &CompiledRule,
        attributes: &AdmissionAttributes,
        resource: &GroupVersionResource,
    ) -> Self {
        let NamedRule { resource_names, rule } = rule.written();
        let (wanted, found) = match dimension {
            Dimension::Scope => {
                let namespace = match resource.is_namespaces() {
                    true => "",
                    false => attributes.namespace.as_str(),
                };
                (rule.scope.iter().cloned().collect(), namespace)
            }
            Dimension::Operation => (rule.operations.clone(), attributes.operation.name()),
            Dimension::Group => (rule.api_groups.clone(), resource.group.as_str()),
            Dimension::Version => (rule.api_versions.clone(), resource.version.as_str()),
            Dimension::Resource => (rule.resources.clone(), resource.resource.as_str()),
            Dimension::Name => (resource_names.clone(), attributes.name.as_str()),
        };
        let mut found = found.to_owned();
        if dimension == Dimension::Resource && !attributes.subresource.is_empty() {
            found = format!("{found}/{}", attributes.subresource);
        }
        RuleMismatch { dimension, wanted, found }
    }
}

/// The result of a match condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConditionTrace {
    /// The name of the condition.
    pub name: String,
    /// The result.
    pub verdict: StepVerdict,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StepVerdict {
    /// The webhook may be called.
    Passed,
    /// The webhook is not called.
    Failed,
    /// The step could not be done; what that does depends on later steps.
    Error(String),
}

impl StepVerdict {
    pub(super) fn of(passed: bool) -> Self {
        if passed { StepVerdict::Passed } else { StepVerdict::Failed }
    }
}

/// Whose labels a namespaceSelector was compared with (WM-14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum SeenNamespace {
    /// Nobody's: the request is in no namespace, so the selector does not count (WM-11).
    NotNamespaced,
    /// Nobody's: the selector selects everything, or cannot be parsed.
    NotLookedAt,
    /// The labels of the Namespace object in the request.
    Object(BTreeMap<String, String>),
    /// The labels of a stored namespace.
    Stored {
        /// Its name.
        name: String,
        /// Its labels.
        labels: BTreeMap<String, String>,
    },
    /// The namespace does not exist.
    Missing {
        /// Its name.
        name: String,
    },
    /// The namespace could not be looked up.
    Unknown {
        /// Its name.
        name: String,
    },
}

/// The labels that an objectSelector saw in an object (WM-22, WM-23).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum SeenObject {
    /// There is no object.
    Absent,
    /// Its kind has no metadata, so no labels.
    NoMetadata,
    /// Its labels.
    Labels(BTreeMap<String, String>),
}

/// Who wants to know of the steps. Those who don't pay nothing: steps are made by closures.
pub(super) trait Recorder {
    fn add(&mut self, step: impl FnOnce() -> TraceStep);
}

impl Recorder for () {
    fn add(&mut self, _: impl FnOnce() -> TraceStep) {}
}

impl Recorder for Vec<TraceStep> {
    fn add(&mut self, step: impl FnOnce() -> TraceStep) {
        self.push(step());
    }
}
