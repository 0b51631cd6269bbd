//! Traces for people.

use std::collections::BTreeMap;
use std::fmt;

use super::{
    ConditionTrace, RuleMismatch, SeenNamespace, SeenObject, StepVerdict, Trace, TraceStep,
};
use crate::webhook::decision::{Decision, DecisionReason, Match};
use crate::webhook::rule::Dimension;

/// How many labels or resources a line lists.
const LISTED: usize = 12;

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        write!(f, "{}", self.decision)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Called(Match { resource, subresource, kind }) => {
                write!(f, "called with {kind} for {}", resource.with_subresource(subresource))
            }
            Decision::NotEvaluated(_) => f.write_str("called if its match conditions hold"),
            Decision::Skipped(reason) => write!(f, "not called: {reason}"),
            Decision::Rejected(reason, status) => {
                let (code, message) = (status.code, &status.message);
                write!(f, "the request is refused: {reason}: {code}: {message}")
            }
        }
    }
}

impl fmt::Display for TraceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceStep::ExemptKind { kind } => {
                write!(f, "exempt kind: no webhook is called for {kind} (WM-03)")
            }
            TraceStep::NamespaceSelector { selector, seen, verdict } => {
                write!(f, "namespaceSelector{}: {}", in_ticks(selector), verdict.word())?;
                namespace(seen, selector, verdict, f)
            }
            TraceStep::ObjectSelector { selector, object, old_object, verdict } => {
                write!(f, "objectSelector{}: {}", in_ticks(selector), verdict.word())?;
                match (verdict, selector.as_deref()) {
                    (StepVerdict::Error(error), _) => write!(f, ", {error} (WM-20)"),
                    (StepVerdict::Passed, Some("")) => {
                        f.write_str(", it selects everything (WM-20)")
                    }
                    (StepVerdict::Failed, Some("")) => {
                        f.write_str(", null selects nothing (WM-61)")
                    }
                    _ => {
                        let rule = object_rule(object, old_object);
                        write!(f, ", {} ({rule})", objects(object, old_object))
                    }
                }
            }
            TraceStep::Rule { list, index, resource, subresource, failed } => {
                write!(f, "{list}[{index}] for {}: ", resource.with_subresource(subresource))?;
                match failed {
                    None => f.write_str("passed (WM-30)"),
                    Some(mismatch) => write!(f, "failed, {mismatch}"),
                }
            }
            TraceStep::ExcludingRule { index } => {
                write!(f, "excludeResourceRules[{index}]: the request is excluded (PO-26)")
            }
            TraceStep::Equivalents { tried, resources, missed } => {
                let list = listed(resources.iter().map(|resource| resource.to_string()));
                let policy = if *tried { "Equivalent" } else { "Exact" };
                write!(f, "matchPolicy {policy}: ")?;
                match (missed, tried) {
                    _ if resources.is_empty() => {
                        f.write_str("the resource has no equivalents (WM-46)")
                    }
                    (Some(missed), _) => {
                        write!(f, "failed, a rule fits the equivalent {missed} only (WM-45)")
                    }
                    (None, true) => write!(f, "failed, no rule fits {list} either (WM-50)"),
                    (None, false) => write!(f, "no rule fits {list} either (WM-45)"),
                }
            }
            TraceStep::MatchConditions { conditions, error } => {
                match_conditions(conditions, error.as_deref(), f)
            }
            TraceStep::NotEvaluated { conditions } => {
                let list = listed(conditions.iter().map(|name| format!("`{name}`")));
                write!(f, "matchConditions: not evaluated: {list}")
            }
        }
    }
}

fn match_conditions(
    conditions: &[ConditionTrace],
    error: Option<&str>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("matchConditions:")?;
    for (index, condition) in conditions.iter().enumerate() {
        let word = match &condition.verdict {
            StepVerdict::Passed => "true",
            StepVerdict::Failed => "false",
            StepVerdict::Error(error) => error,
        };
        let comma = if index > 0 { "," } else { "" };
        write!(f, "{comma} `{}` {word}", condition.name)?;
    }
    if let Some(error) = error {
        write!(f, " {error}")?;
    }
    f.write_str(" (WM-72)")
}

/// `its operations are `CREATE`, not `UPDATE` (WM-32)`.
impl fmt::Display for RuleMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, rule) = (self.dimension.field(), self.dimension.rule());
        let quoted = |text: &String| match (text.as_str(), self.dimension) {
            ("", Dimension::Group) => "the core group".to_owned(),
            ("", _) => "\"\"".to_owned(),
            (text, _) => format!("`{text}`"),
        };
        let wanted = listed(self.wanted.iter().map(quoted));
        match (self.dimension, self.found.as_str()) {
            (Dimension::Scope, "") => {
                write!(f, "its scope is {wanted}, but the request is outside namespaces ({rule})")
            }
            (Dimension::Scope, namespace) => {
                write!(
                    f,
                    "its scope is {wanted}, but the request is in namespace `{namespace}` ({rule})"
                )
            }
            _ if self.wanted.is_empty() => write!(f, "it has no {field} ({rule})"),
            _ => write!(f, "its {field} are {wanted}, not {} ({rule})", quoted(&self.found)),
        }
    }
}

impl StepVerdict {
    fn word(&self) -> &'static str {
        match self {
            StepVerdict::Passed => "passed",
            StepVerdict::Failed => "failed",
            StepVerdict::Error(_) => "error",
        }
    }
}

fn namespace(
    seen: &SeenNamespace,
    selector: &Option<String>,
    verdict: &StepVerdict,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match (seen, verdict) {
        (SeenNamespace::NotNamespaced, _) => {
            f.write_str(", it does not count for a request outside namespaces (WM-11)")
        }
        (SeenNamespace::NotLookedAt, StepVerdict::Error(error)) => write!(f, ", {error} (WM-12)"),
        (SeenNamespace::NotLookedAt, _) => f.write_str(", it selects everything (WM-13)"),
        (_, StepVerdict::Failed) if selector.as_deref() == Some("") => {
            f.write_str(", null selects nothing (WM-61)")
        }
        (SeenNamespace::Object(labels), _) => {
            write!(f, ", the Namespace object has {} (WM-14)", list_labels(labels))
        }
        (SeenNamespace::Stored { name, labels }, _) => {
            write!(f, ", namespace `{name}` has {} (WM-14)", list_labels(labels))
        }
        (SeenNamespace::Missing { name }, _) => {
            write!(f, ", there is no namespace `{name}` (WM-16)")
        }
        (SeenNamespace::Unknown { name }, StepVerdict::Error(error)) => {
            write!(f, ", namespace `{name}` cannot be looked up: {error} (WM-16)")
        }
        (SeenNamespace::Unknown { name }, _) => write!(f, ", namespace `{name}` is unknown"),
    }
}

/// Describes the objects that are present.
fn objects(object: &SeenObject, old_object: &SeenObject) -> String {
    match (object, old_object) {
        (SeenObject::Absent, SeenObject::Absent) => "there is no object".to_owned(),
        (object, SeenObject::Absent) => format!("the object {object}"),
        (SeenObject::Absent, old_object) => format!("the old object {old_object}"),
        (object, old_object) => {
            format!("the new object {object}, the old object {old_object}")
        }
    }
}

/// The rule by which a selector that selects something is compared with objects.
fn object_rule(object: &SeenObject, old_object: &SeenObject) -> &'static str {
    match (object, old_object) {
        (SeenObject::Labels(_), _) | (_, SeenObject::Labels(_)) => "WM-21",
        _ => "WM-22",
    }
}

impl fmt::Display for SeenObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeenObject::Absent => f.write_str("is absent"),
            SeenObject::NoMetadata => f.write_str("is of a kind without labels"),
            SeenObject::Labels(labels) => write!(f, "has {}", list_labels(labels)),
        }
    }
}

fn in_ticks(selector: &Option<String>) -> String {
    match selector.as_deref() {
        None | Some("") => String::new(),
        Some(text) => format!(" `{text}`"),
    }
}

fn list_labels(labels: &BTreeMap<String, String>) -> String {
    match labels.len() {
        0 => "no labels".to_owned(),
        _ => listed(labels.iter().map(|(key, value)| format!("`{key}={value}`"))),
    }
}

fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let rest = items.len().saturating_sub(LISTED);
    let mut text = items.take(LISTED).collect::<Vec<_>>().join(", ");
    if rest > 0 {
        text.push_str(&format!(" and {rest} more"));
    }
    text
}

/// The step that decided, without what came before it.
pub(super) fn summary(trace: &Trace) -> Option<String> {
    let last = || trace.steps.last().map(TraceStep::to_string);
    match &trace.decision {
        Decision::Called(_) => None,
        Decision::Rejected(_, status) => {
            Some(format!("the request is refused with {}: {}", status.code, status.message))
        }
        Decision::Skipped(DecisionReason::NoRuleMatched | DecisionReason::NoEquivalentMatched) => {
            Some(best_rule(&trace.steps).unwrap_or_else(|| "there are no rules (WM-39)".to_owned()))
        }
        Decision::Skipped(DecisionReason::ExemptKind) => {
            Some("no webhook is called for this kind (WM-03)".to_owned())
        }
        Decision::Skipped(DecisionReason::MatchConditionErrorIgnored) => {
            last().map(|step| format!("{step}; failurePolicy is `Ignore` (WM-80)"))
        }
        Decision::Skipped(_) | Decision::NotEvaluated(_) => last(),
    }
}

/// The rule that fits a request best: the first of those that fail in the latest part.
fn best_rule(steps: &[TraceStep]) -> Option<String> {
    let mut best: Option<(&str, usize, &RuleMismatch)> = None;
    for step in steps {
        if let TraceStep::Rule { list, index, failed: Some(failed), .. } = step
            && best.is_none_or(|(.., best)| failed.dimension > best.dimension)
        {
            best = Some((list, *index, failed));
        }
    }
    best.map(|(list, index, failed)| format!("{list}[{index}]: {failed}"))
}
