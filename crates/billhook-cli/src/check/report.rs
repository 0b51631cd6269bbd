//! Verdicts for people, on standard output as they come, and for programs, as one JSON document.

use std::io;

use billhook::RuleCost;
use billhook_findings::{Finding, ObjectName, Severity};
use indexmap::IndexSet;
use serde_json::Value;

use super::{Findings, Outcome};
use crate::advice::Advice;
use crate::args::Check;
use crate::findings::{self, About};
use crate::form::Form;
use crate::identity::Identity;
use crate::json::{self, Fields};
use crate::problem::{Place, Status};
use crate::report::{self, ERROR, HEADER, WARNING, write};
use crate::summary::Summary;
use crate::validate::report::{VALID, error};
use crate::work::{Done, Event};

/// Prints verdicts.
pub(super) struct Printer {
    quiet: bool,
    form: Form<()>,
}

impl Printer {
    pub(super) fn new(command: &Check) -> Self {
        let Check { findings, report, quiet, .. } = *command;
        let form = Form::new(findings.or_ci(report), report, "CheckReport", ());
        Printer { quiet, form }
    }

    pub(super) fn add(&mut self, event: Event<Outcome>) -> io::Result<()> {
        let done = match event {
            Event::Done(done) => done,
            Event::Findings(findings) => return self.add_findings(findings),
        };
        let status = done.status();
        let Done { outcome, findings, .. } = done;
        // A document that cannot be checked has no verdict.
        let no_verdict = outcome.result.as_ref().err().filter(|p| p.status != Status::Refused);
        if let (Some(problem), None) = (no_verdict, self.form.collector()) {
            report::problem(problem);
        }
        let is_accepted = outcome.status() == Status::Fine;
        match &mut self.form {
            Form::Text(()) if no_verdict.is_some() => Ok(()),
            Form::Text(()) | Form::Json(_) if self.quiet && is_accepted => Ok(()),
            Form::Text(()) => write(&text(&outcome, &findings, status)),
            Form::Json(items) => items.add(item(outcome)),
            Form::Status => {
                let answer = match &outcome.result {
                    Ok(checked) => {
                        report::client_warnings(&checked.warnings);
                        checked.answer.as_ref()
                    }
                    Err(problem) => problem.answer.as_deref(),
                };
                report::answer(answer)
            }
            Form::Findings(collector) => {
                collector.add(&outcome.place, &outcome.identity, findings, false)
            }
        }
    }

    fn add_findings(&mut self, findings: Vec<Finding>) -> io::Result<()> {
        match &mut self.form {
            Form::Text(()) => write(&findings::text(&findings)),
            form => form.remarks(findings),
        }
    }

    /// Adds what several documents together give rise to.
    pub(super) fn add_together(
        &mut self,
        what: &str,
        lints: &[Advice],
        summary: &mut Summary,
    ) -> io::Result<()> {
        if lints.is_empty() {
            return Ok(());
        }
        summary.add(&together(lints));
        match &mut self.form {
            Form::Status => Ok(()),
            Form::Text(()) => {
                let text = format!("{HEADER}all {what} together:{HEADER:#}\n");
                write(&(text + &findings::text(&together(lints))))
            }
            Form::Json(items) => {
                let mut item = Fields::default();
                item.value("lints", lints.iter().map(lint).collect());
                items.add(item)
            }
            Form::Findings(collector) => {
                collector.add(&Place::file(""), &Identity::default(), together(lints), false)
            }
        }
    }

    /// Prints what has not been printed, and the summary for people.
    pub(super) fn finish(self, summary: &Summary) -> io::Result<()> {
        if self.form.finish()? && !self.quiet {
            summary.print("document");
        }
        Ok(())
    }
}

fn text(outcome: &Outcome, findings: &[Finding], status: Status) -> String {
    let verdict = match outcome.status() {
        Status::Refused if status == Status::Fine => {
            format!("{WARNING}refused, but ignored{WARNING:#}")
        }
        Status::Fine => format!("{VALID}accepted{VALID:#}"),
        _ => format!("{ERROR}refused{ERROR:#}"),
    };
    let mut out = String::new();
    report::title(&mut out, &outcome.place, &outcome.identity, &verdict);
    out.push_str(&findings::text(findings));
    out
}

/// The errors and warnings, each once, and advice.
pub(super) fn found(outcome: &Outcome) -> Vec<Finding> {
    let about = About::new(&outcome.place, &outcome.identity);
    let checked = match &outcome.result {
        Ok(checked) => checked,
        Err(problem) => return about.problem(problem),
    };
    let mut seen = IndexSet::new();
    let errors = checked.errors.iter().filter(|error| seen.insert(error.to_string()));
    let mut found = about.each(errors, |error| about.definition_error(error));
    found.extend(about.each(&checked.warnings, |warning| about.warning(warning)));
    found.extend(checked.lints.iter().map(|lint| about.advice(lint)));
    found
}

/// Advice about several documents, each named by kind and name.
fn together(lints: &[Advice]) -> Vec<Finding> {
    let (place, identity) = (Place::file(""), Identity::default());
    let about = About::new(&place, &identity);
    let found = lints.iter().map(|lint| {
        let (kind, name) = (lint.kind.to_owned(), lint.name.clone());
        let mut found = about.advice(lint);
        found.text = format!("{kind} {name}: {}", found.text);
        found.object = ObjectName { kind, name, ..ObjectName::default() };
        found
    });
    found.collect()
}

fn lint(lint: &Advice) -> Value {
    let mut fields = Fields::default();
    fields.text("code", Some(lint.code.clone()));
    fields.text("rule", Some(lint.rule.to_owned()));
    let severity = if lint.severity == Severity::Warning { "warning" } else { "note" };
    fields.text("severity", Some(severity.to_owned()));
    fields.text("configuration", Some(lint.name.clone()));
    fields.text("configurationKind", Some(lint.kind.to_owned()));
    fields.text("field", Some(lint.field.to_string()));
    fields.text("pointer", Some(lint.field.to_json_pointer()));
    fields.text("message", Some(lint.message.clone()));
    fields.text("help", lint.help.map(str::to_owned));
    fields.into_value()
}

fn rule_cost(rule: &RuleCost) -> Value {
    let mut fields = Fields::default();
    fields.text("field", Some(rule.path.to_string()));
    fields.value("cost", rule.cost.into());
    fields.value("limit", RuleCost::LIMIT.into());
    fields.into_value()
}

fn item(outcome: Outcome) -> Fields {
    let mut item = Fields::of_object(outcome.place, outcome.identity);
    let (findings, problem) = match outcome.result {
        Ok(findings) => (findings, None),
        Err(problem) => (Findings::default(), Some(problem)),
    };
    let verdict = match &problem {
        Some(problem) => (problem.status == Status::Refused).then_some("refused"),
        None if !findings.errors.is_empty() => Some("refused"),
        None => Some("accepted"),
    };
    item.text("verdict", verdict.map(str::to_owned));
    item.value("errors", findings.errors.iter().map(error).collect());
    item.value("warnings", Value::from(findings.warnings));
    item.text("message", findings.answer.map(|answer| answer.message));
    if !findings.lints.is_empty() {
        item.value("lints", findings.lints.iter().map(lint).collect());
    }
    if !findings.rule_costs.is_empty() {
        item.value("ruleCosts", findings.rule_costs.iter().map(rule_cost).collect());
    }
    if let Some(problem) = problem {
        item.value("error", json::error(*problem));
    }
    item
}
