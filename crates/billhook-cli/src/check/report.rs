//! Verdicts for people, on standard output as they come, and for programs, as one JSON document.

use std::collections::BTreeSet;
use std::io;

use billhook::webhook::{Lint, Severity};
use billhook_apimachinery::value::DeepValue;
use indexmap::IndexSet;
use serde_json::Value;

use super::{Findings, Outcome};
use crate::json::{self, Fields};
use crate::options::Report;
use crate::problem::Status;
use crate::report::{self, ERROR, HEADER, HELP, WARNING};
use crate::validate::report::{self as findings, VALID, line};

/// Where verdicts go.
pub(super) enum Printer {
    Text,
    Json(Vec<DeepValue>),
}

impl Printer {
    pub(super) fn new(report: Report) -> Self {
        match report {
            Report::Text => Printer::Text,
            Report::Json => Printer::Json(Vec::new()),
        }
    }

    pub(super) fn add(&mut self, outcome: Outcome) -> io::Result<()> {
        // A document that cannot be checked has no verdict.
        let no_verdict = outcome.result.as_ref().err().filter(|p| p.status != Status::Refused);
        if let Some(problem) = no_verdict {
            report::problem(problem);
        }
        match self {
            Printer::Text if no_verdict.is_some() => Ok(()),
            Printer::Text => findings::write(&text(&outcome)),
            Printer::Json(items) => {
                items.push(item(outcome));
                Ok(())
            }
        }
    }

    /// Adds what several configurations together give rise to.
    pub(super) fn add_together(&mut self, lints: &[Lint]) -> io::Result<()> {
        if lints.is_empty() {
            return Ok(());
        }
        match self {
            Printer::Text => {
                let mut text = format!("{HEADER}all webhook configurations together:{HEADER:#}\n");
                let name = |lint: &Lint| format!("{} {}: ", lint.kind(), lint.configuration());
                advice(&mut text, lints, name);
                findings::write(&text)
            }
            Printer::Json(items) => {
                let mut item = Fields::default();
                item.value("lints", lints.iter().map(lint).collect());
                items.push(DeepValue::from(item.into_value()));
                Ok(())
            }
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Printer::Text => Ok(()),
            Printer::Json(items) => json::print_document("CheckReport", items),
        }
    }
}

fn text(outcome: &Outcome) -> String {
    let none = Findings::default();
    let (findings, errors) = match &outcome.result {
        Ok(findings) => (findings, findings.errors.iter().map(report::error_text).collect()),
        Err(problem) => (&none, IndexSet::from([problem.message.clone()])),
    };
    let verdict = if !errors.is_empty() {
        format!("{ERROR}refused{ERROR:#}")
    } else {
        format!("{VALID}accepted{VALID:#}")
    };
    let mut out = String::new();
    report::title(&mut out, &outcome.place, &outcome.identity, &verdict);
    errors.iter().for_each(|error| line(&mut out, "error", ERROR, error));
    findings.warnings.iter().for_each(|warning| line(&mut out, "warning", WARNING, warning));
    advice(&mut out, &findings.lints, |_| String::new());
    out
}

/// A line for each lint, with its help after the first of its kind.
fn advice(out: &mut String, lints: &[Lint], place: impl Fn(&Lint) -> String) {
    let mut explained = BTreeSet::new();
    for lint in lints {
        let (style, label) = match lint.severity() {
            Severity::Warning => (WARNING, "lint"),
            _ => (HELP, "note"),
        };
        line(out, label, style, &format!("{}{lint}", place(lint)));
        if explained.insert(lint.code()) {
            line(out, "  help", HELP, lint.help());
        }
    }
}

fn lint(lint: &Lint) -> Value {
    let mut fields = Fields::default();
    fields.text("code", Some(lint.code().code().to_owned()));
    fields.text("rule", Some(lint.code().rule().to_owned()));
    let severity = if lint.severity() == Severity::Warning { "warning" } else { "note" };
    fields.text("severity", Some(severity.to_owned()));
    fields.text("configuration", Some(lint.configuration().to_owned()));
    fields.text("configurationKind", Some(lint.kind().name().to_owned()));
    fields.text("field", Some(lint.field().to_string()));
    fields.text("pointer", Some(lint.field().to_json_pointer()));
    fields.text("message", Some(lint.message().to_owned()));
    fields.text("help", Some(lint.help().to_owned()));
    fields.into_value()
}

fn item(outcome: Outcome) -> DeepValue {
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
    item.value("errors", findings.errors.iter().map(findings::error).collect());
    item.value("warnings", Value::from(findings.warnings));
    item.text("message", findings.message);
    if !findings.lints.is_empty() {
        item.value("lints", findings.lints.iter().map(lint).collect());
    }
    if let Some(problem) = problem {
        item.value("error", json::error(*problem));
    }
    DeepValue::from(item.into_value())
}
