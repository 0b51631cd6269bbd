//! Traces for people.

use std::collections::BTreeMap;
use std::fmt;

use super::{SeenNamespace, SeenObject, Trace, TraceStep, Verdict};
use crate::webhook::decision::Decision;

/// How many labels or resources a line lists.
const LISTED: usize = 12;

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        match &self.decision {
            Decision::Called(matched) => {
                write!(f, "called with {} for {}", matched.kind, matched.resource)?;
                match matched.subresource.as_str() {
                    "" => Ok(()),
                    subresource => write!(f, "/{subresource}"),
                }
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
                    (Verdict::Error(error), _) => write!(f, ", {error} (WM-20)"),
                    (Verdict::Passed, Some("")) => f.write_str(", it selects everything (WM-20)"),
                    (Verdict::Failed, Some("")) => f.write_str(", null selects nothing (WM-61)"),
                    _ => {
                        write!(f, ", the new object {object}, the old object {old_object} (WM-21)")
                    }
                }
            }
            TraceStep::Rule { index, resource, failed: None } => {
                write!(f, "rules[{index}] for {resource}: passed (WM-30)")
            }
            TraceStep::Rule { index, resource, failed: Some(dimension) } => {
                write!(
                    f,
                    "rules[{index}] for {resource}: failed, its {dimension} don't fit (WM-30)"
                )
            }
            TraceStep::Equivalents { tried, resources } => {
                let list = listed(resources.iter().map(|resource| resource.to_string()));
                match (tried, resources.is_empty()) {
                    (true, true) => f.write_str(
                        "matchPolicy Equivalent: failed, there are no equivalents (WM-46)",
                    ),
                    (true, false) => {
                        write!(f, "matchPolicy Equivalent: failed, tried {list} (WM-50)")
                    }
                    (false, true) => {
                        f.write_str("matchPolicy Exact: there are no equivalents anyway (WM-45)")
                    }
                    (false, false) => {
                        write!(f, "matchPolicy Exact: not tried are {list} (WM-45)")
                    }
                }
            }
            TraceStep::MatchConditions { conditions, error } => {
                f.write_str("matchConditions:")?;
                for (index, condition) in conditions.iter().enumerate() {
                    let word = match &condition.verdict {
                        Verdict::Passed => "true",
                        Verdict::Failed => "false",
                        Verdict::Error(error) => error,
                    };
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma} `{}` {word}", condition.name)?;
                }
                if let Some(error) = error {
                    write!(f, " {error}")?;
                }
                f.write_str(" (WM-72)")
            }
            TraceStep::NotEvaluated { conditions } => {
                let list = listed(conditions.iter().map(|name| format!("`{name}`")));
                write!(f, "matchConditions: not evaluated: {list}")
            }
        }
    }
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Error(_) => "error",
        }
    }
}

fn namespace(
    seen: &SeenNamespace,
    selector: &Option<String>,
    verdict: &Verdict,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match (seen, verdict) {
        (SeenNamespace::NotNamespaced, _) => {
            f.write_str(", it does not count for a request outside namespaces (WM-11)")
        }
        (SeenNamespace::NotLookedAt, Verdict::Error(error)) => write!(f, ", {error} (WM-12)"),
        (SeenNamespace::NotLookedAt, _) => f.write_str(", it selects everything (WM-13)"),
        (_, Verdict::Failed) if selector.as_deref() == Some("") => {
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
        (SeenNamespace::Unknown { name }, Verdict::Error(error)) => {
            write!(f, ", namespace `{name}` cannot be looked up: {error} (WM-16)")
        }
        (SeenNamespace::Unknown { name }, _) => write!(f, ", namespace `{name}` is unknown"),
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
    if let Decision::Called(_) = trace.decision {
        return None;
    }
    if let Decision::Rejected(_, status) = &trace.decision {
        return Some(format!("refused with {}: {}", status.code, status.message));
    }
    trace.steps.last().map(TraceStep::to_string)
}
