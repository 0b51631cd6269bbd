//! The outcome of a request as text: every step with its changes, warnings, and the error
//! as the server words it.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use billhook::webhook::DecisionReason;
use billhook_admission::{Action, AdmissionOutcome, FieldDifference, HookResult, Stage, Step};
use billhook_findings::{Finding, Severity};

use crate::admit::args::Admit;
use crate::findings;
use crate::identity::Identity;
use crate::problem::Place;
use crate::report::{self, ERROR, WARNING, visible};

const FINE: Style = AnsiColor::Green.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// Prints the outcome to standard error.
pub(crate) fn outcome(
    outcome: &AdmissionOutcome,
    place: &Place,
    identity: &Identity,
    found: &[Finding],
    command: &Admit,
) {
    let mut text = String::new();
    if !command.quiet {
        let dry_run = if command.dry_run { ", dry run" } else { "" };
        let title = match &outcome.result {
            Ok(accepted) if accepted.unchanged => format!("{FINE}unchanged{FINE:#}{dry_run}"),
            Ok(_) => format!("{FINE}admitted{FINE:#}{dry_run}"),
            Err(status) if found.iter().all(|finding| finding.severity != Severity::Error) => {
                format!("{WARNING}refused, but ignored{WARNING:#}, {}{dry_run}", reason(status))
            }
            Err(status) => format!("{ERROR}refused{ERROR:#}, {}{dry_run}", reason(status)),
        };
        report::title(&mut text, place, identity, &title);
        for step in &outcome.steps {
            add_step(&mut text, step);
        }
        for (key, annotation) in outcome.annotations.iter().filter(|(key, _)| !is_of_steps(key)) {
            let line = visible(&format!("audit annotation {key}: {}", annotation.value));
            let _ = writeln!(text, "  {line}");
        }
        for refused in outcome.annotations.refused() {
            let _ = writeln!(text, "  audit annotation left out: {}", visible(refused));
        }
        report::to_stderr(&text);
    }
    report::to_stderr(&findings::text(found));
    for finding in &outcome.findings {
        let mutator = finding.mutator.to_string();
        let mut changes = format!("changes of {}:\n", visible(&mutator));
        finding.changes.iter().for_each(|change| add_change(&mut changes, change));
        report::to_stderr(&changes);
    }
}

/// Whether an audit annotation says what steps show: what webhooks changed, and which failed.
fn is_of_steps(key: &str) -> bool {
    key.split_once('/').is_some_and(|(prefix, _)| prefix.ends_with(".webhook.admission.k8s.io"))
}

/// Code and reason of a status.
fn reason(status: &billhook::Status) -> String {
    match status.reason.as_str() {
        "" => format!("{}", status.code),
        reason => format!("{} {}", status.code, visible(reason)),
    }
}

fn add_step(out: &mut String, step: &Step) {
    let (label, result) = match &step.action {
        Action::Decode => ("decode".to_owned(), String::new()),
        Action::Validate => ("prepare and validate".to_owned(), String::new()),
        Action::Store => ("store and read back".to_owned(), String::new()),
        Action::Plugin { name, stage, round, error, .. } => {
            let result =
                error.as_ref().map(|error| format!("{ERROR}refused{ERROR:#}: {}", visible(error)));
            (format!("{} plugin {name}{}", stage.name(), again(*round)), result.unwrap_or_default())
        }
        Action::Webhook { configuration, hook, stage, round, result, .. } => {
            (hook_label(configuration, hook, *stage, *round), hook_result(result))
        }
        Action::Skipped { configuration, hook, stage, round, reason, .. } => {
            let result = format!("not called, {}", why(*reason));
            (hook_label(configuration, hook, *stage, *round), result)
        }
        Action::MatchFailed { configuration, hook, stage, round, error, .. } => {
            let result = format!("{ERROR}refused{ERROR:#}: {}", visible(error));
            (hook_label(configuration, hook, *stage, *round), result)
        }
        Action::Policy { stage, round, record, .. } => {
            let what = match record.index {
                Some(index) => format!("[{index}]"),
                None => String::new(),
            };
            let with = match record.parameter.as_str() {
                "" => String::new(),
                parameter => format!(" with {parameter}"),
            };
            let label = format!(
                "{} policy {}{what} ({}{with}){}",
                stage.name(),
                record.policy,
                record.binding,
                again(*round)
            );
            (label, visible(&record.verdict.to_string()).to_string())
        }
        Action::Policies { stage, round, .. } => {
            (format!("{} policies{}", stage.name(), again(*round)), String::new())
        }
        Action::WriteRefused { name } => {
            (format!("write {name}"), "refused, something else is stored".to_owned())
        }
        _ => return,
    };
    let colon = if result.is_empty() { "" } else { ": " };
    let is_call = !matches!(
        step.action,
        Action::Skipped { .. } | Action::MatchFailed { .. } | Action::Policy { .. }
    );
    let took =
        if is_call { format!("  {FAINT}{}{FAINT:#}", time(step.took)) } else { String::new() };
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "  {}{colon}{result}{took}", visible(&label));
    step.changes.iter().for_each(|change| add_change(out, change));
}

fn hook_label(configuration: &str, hook: &str, stage: Stage, round: u8) -> String {
    format!("{} webhook {hook} ({configuration}){}", stage.name(), again(round))
}

/// Why a webhook is not called, in words.
fn why(reason: DecisionReason) -> &'static str {
    match reason {
        DecisionReason::NamespaceSelectorMismatch => {
            "its namespaceSelector does not select the namespace"
        }
        DecisionReason::ObjectSelectorMismatch => "its objectSelector does not select the object",
        DecisionReason::NoRuleMatched => "no rule is for the request",
        DecisionReason::EquivalentNotTried => {
            "a rule is for another version, and matchPolicy is Exact"
        }
        DecisionReason::NoEquivalentMatched => "no rule is for the request, in any version",
        DecisionReason::MatchConditionFalse => "a match condition is false",
        DecisionReason::MatchConditionErrorIgnored => "a match condition cannot be evaluated",
        DecisionReason::ReinvocationNotNeeded => {
            "nothing changed since, or its reinvocationPolicy is Never"
        }
        other => other.code(),
    }
}

fn add_change(out: &mut String, change: &FieldDifference) {
    let _ = writeln!(out, "    {}", visible(&change.to_string()));
}

fn again(round: u8) -> &'static str {
    if round == 0 { "" } else { ", again" }
}

fn hook_result(result: &HookResult) -> String {
    let (style, word, text) = match result {
        HookResult::Allowed => return format!("{FINE}allowed{FINE:#}"),
        HookResult::Rejected(text) => (ERROR, "refused", text),
        HookResult::FailedOpen(text) => (WARNING, "failed, ignored", text),
        HookResult::FailedClosed(text) => (ERROR, "failed", text),
        HookResult::Unusable(text) => (ERROR, "unusable", text),
        HookResult::NotForDryRuns(text) => (ERROR, "not called", text),
        _ => return String::new(),
    };
    format!("{style}{word}{style:#}: {}", visible(text))
}

fn time(took: std::time::Duration) -> String {
    match took.as_millis() {
        0 => "under 1 ms".to_owned(),
        millis @ 1..=9999 => format!("{millis} ms"),
        millis => format!("{} s", millis / 1000),
    }
}
