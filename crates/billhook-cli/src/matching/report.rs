//! Decisions for people, as a table for each request, and for programs, as one JSON document.

use std::fmt::Write as _;
use std::io;

use anstyle::{AnsiColor, Style};
use billhook::Status as Answer;
use billhook::webhook::{ConfigurationKind, Decision, DecisionReason};
use billhook_findings::{Finding, Severity};
use billhook_policy::PolicyExplanation;
use serde_json::Value;

use super::args::Match;
use super::policies;
use super::request::{describe, to_value};
use super::subject::{Decided, Subject, steps};
use crate::findings::{About, webhook_named};
use crate::form::Form;
use crate::json::{Fields, error};
use crate::problem::Problem;
use crate::report::{HEADER, answer, problem as print_problem, visible, write};
use crate::setup::{CANNOT_BE_MATCHED, IGNORED, Origins};

/// Prints decisions as they come.
pub(super) struct Printer<'c> {
    command: &'c Match,
    pub(super) form: Form<()>,
    /// Whether anything was printed already.
    started: bool,
}

impl<'c> Printer<'c> {
    pub(super) fn new(command: &'c Match) -> Self {
        let form = Form::new(command.findings, command.report, "MatchReport", ());
        Printer { command, form, started: false }
    }

    /// Adds a request with the decisions of webhooks and of policies, and what was found.
    pub(super) fn add(
        &mut self,
        subject: &Subject,
        decided: &[Decided<'_>],
        explained: &[PolicyExplanation],
        found: Vec<Finding>,
    ) -> io::Result<()> {
        if let (Err(problem), false) = (&subject.request, self.form.collector().is_some()) {
            print_problem(problem);
        }
        match &mut self.form {
            Form::Text(()) => self.text(subject, decided, explained),
            Form::Json(items) => items.add(item(self.command, subject, decided, explained)),
            Form::Findings(collector) => {
                collector.add(&subject.place, &subject.identity, found, false)
            }
            // A client gets the first answer that refuses its request.
            Form::Status => {
                let refused = explained.iter().find_map(policies::refusal);
                match decided.iter().find_map(|decided| refusal(decided)) {
                    None if refused.is_some() => {
                        let text = refused.unwrap_or_default();
                        print_problem(&Problem::refused(subject.place.clone(), text));
                        Ok(())
                    }
                    refusal => answer(refusal),
                }
            }
        }
    }

    fn text(
        &mut self,
        subject: &Subject,
        decided: &[Decided<'_>],
        explained: &[PolicyExplanation],
    ) -> io::Result<()> {
        let Ok(request) = &subject.request else { return Ok(()) };
        let mut text = String::new();
        if std::mem::replace(&mut self.started, true) {
            text.push('\n');
        }
        // Writing to a `String` cannot fail.
        let place = visible(&subject.place.to_string());
        let _ = writeln!(text, "{HEADER}{place}: {}{HEADER:#}", visible(&describe(request)));
        if self.command.explain.is_some() {
            explain(&mut text, decided);
            policies::explain(&mut text, explained);
        } else {
            if !self.command.webhooks.is_empty() {
                table(&mut text, decided);
            }
            policies::table(&mut text, explained);
        }
        write(&text)
    }
}

/// The answer to the request if matching itself refuses it.
pub(super) fn refusal<'d>(decided: &'d Decided<'_>) -> Option<&'d Answer> {
    match decided.trace.decision() {
        Decision::Rejected(_, answer) => Some(answer),
        _ => None,
    }
}

/// The problem with a request, or the webhooks that refuse it or fail before they are called.
pub(super) fn found(subject: &Subject, decided: &[Decided<'_>], origins: &Origins) -> Vec<Finding> {
    let (place, identity) = (&subject.place, &subject.identity);
    let about = About::new(place, identity);
    if let Err(problem) = &subject.request {
        return about.problem(problem);
    }
    let found = decided.iter().filter_map(|Decided { hook, trace }| {
        let origin = |field: &str, text: &str| {
            origins.webhook(hook.kind(), (hook.configuration(), hook.name()), field, text)
        };
        Some(match trace.decision() {
            Decision::Rejected(reason, answer) => about
                .whole(Severity::Error, reason.rule(), &answer.message)
                .because(origin("name", CANNOT_BE_MATCHED)),
            Decision::Skipped(reason @ DecisionReason::MatchConditionErrorIgnored) => {
                let webhook = webhook_named(hook.configuration(), hook.name());
                let why = trace.summary().unwrap_or_default();
                about
                    .whole(
                        Severity::Warning,
                        reason.rule(),
                        &format!("{webhook} is not called: {why}"),
                    )
                    .because(origin("failurePolicy", IGNORED))
            }
            _ => return None,
        })
    });
    found.collect()
}

fn heading(kind: ConfigurationKind) -> &'static str {
    match kind {
        ConfigurationKind::Mutating => "mutating webhooks, in the order they are called",
        ConfigurationKind::Validating => "validating webhooks",
    }
}

fn table(text: &mut String, decided: &[Decided<'_>]) {
    for kind in [ConfigurationKind::Mutating, ConfigurationKind::Validating] {
        let of_kind = || decided.iter().filter(|decided| decided.hook.kind() == kind);
        if of_kind().next().is_none() {
            continue;
        }
        let _ = writeln!(text, "\n{}:", heading(kind));
        let name =
            |it: &Decided<'_>| visible(&format!("{}/{}", it.hook.configuration(), it.hook.name()));
        let width = of_kind().map(|decided| name(decided).chars().count()).max().unwrap_or(0);
        for decided in of_kind() {
            let (style, word) = word(decided.trace.decision());
            let why = decided.trace.summary().unwrap_or_else(|| called(decided));
            let (name, why) = (name(decided), visible(&why));
            let _ = writeln!(text, "  {style}{word:10}{style:#}  {name:width$}  {why}");
        }
    }
    if decided.is_empty() {
        text.push_str("\nthere are no webhooks\n");
    }
}

fn explain(text: &mut String, decided: &[Decided<'_>]) {
    for decided in decided {
        let (style, word) = word(decided.trace.decision());
        let hook = visible(&format!("{}/{}", decided.hook.configuration(), decided.hook.name()));
        let _ = writeln!(text, "\n{style}{word}{style:#}: {hook}");
        let steps = decided.trace.steps().iter().map(ToString::to_string);
        for line in steps.chain([decided.trace.decision().to_string()]) {
            let _ = writeln!(text, "  {}", visible(&line));
        }
    }
}

/// The color and the word of a decision, and the word for programs.
fn words(decision: &Decision) -> (AnsiColor, &'static str, &'static str) {
    match decision {
        Decision::Called(_) => (AnsiColor::Green, "called", "called"),
        Decision::Skipped(_) => (AnsiColor::Yellow, "not called", "skipped"),
        Decision::NotEvaluated(_) => (AnsiColor::Cyan, "undecided", "undecided"),
        _ => (AnsiColor::Red, "refused", "refused"),
    }
}

fn word(decision: &Decision) -> (Style, &'static str) {
    let (color, word, _) = words(decision);
    (color.on_default(), word)
}

/// Describes the call of a webhook.
fn called(decided: &Decided<'_>) -> String {
    match decided.trace.decision().matched() {
        Some(matched) => format!("with {}", matched.kind),
        None => String::new(),
    }
}

fn item(
    command: &Match,
    subject: &Subject,
    decided: &[Decided<'_>],
    explained: &[PolicyExplanation],
) -> Fields {
    let mut item = Fields::of_object(subject.place.clone(), subject.identity.clone());
    match &subject.request {
        Ok(request) => {
            item.value("request", to_value(request));
            if !command.webhooks.is_empty() {
                item.value("webhooks", decided.iter().map(webhook).collect());
            }
            if !command.policies.is_empty() {
                item.value("policies", explained.iter().map(policies::to_value).collect());
            }
        }
        Err(problem) => item.value("error", error(Problem::clone(problem))),
    }
    item
}

fn webhook(decided: &Decided<'_>) -> Value {
    let Decided { hook, trace } = decided;
    let decision = trace.decision();
    let serialized = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
    let mut fields = Fields::default();
    fields.text("configurationKind", Some(hook.kind().name().to_owned()));
    fields.text("configuration", Some(hook.configuration().to_owned()));
    fields.text("name", Some(hook.name().to_owned()));
    fields.text("key", Some(hook.key().to_owned()));
    let (_, _, word) = words(decision);
    fields.text("decision", Some(word.to_owned()));
    fields.text("reason", decision.reason().map(|reason| reason.code().to_owned()));
    fields.text("summary", trace.summary());
    if let Some(matched) = decision.matched() {
        fields.value("matched", serialized(serde_json::to_value(matched)));
    }
    if let Decision::Rejected(_, status) = decision {
        fields.value("status", serialized(serde_json::to_value(status)));
    }
    fields.value("trace", steps(trace));
    fields.into_value()
}
