//! Verdicts for people, on standard output as they come, and for programs, as one JSON document.

use std::collections::BTreeSet;
use std::io;

use billhook::webhook::{Lint, Severity};
use billhook_findings::Finding;
use indexmap::IndexSet;
use serde_json::Value;

use super::{Findings, Outcome};
use crate::args::Check;
use crate::findings::{self, About, Collector};
use crate::identity::Identity;
use crate::json::{self, Fields, Items};
use crate::options::Report;
use crate::problem::{Place, Status};
use crate::report::{self, ERROR, HEADER, HELP, WARNING, write};
use crate::validate::report::{VALID, error, line};

/// Where verdicts go.
pub(super) enum Printer {
    Text,
    Json(Items),
    Findings(Collector),
}

impl Printer {
    pub(super) fn new(command: &Check) -> Self {
        match (command.findings.given_or_ci(command.report), command.report) {
            (Some(format), _) => Printer::Findings(Collector::new(format)),
            (None, Report::Text) => Printer::Text,
            (None, Report::Json) => Printer::Json(Items::new("CheckReport")),
        }
    }

    pub(super) fn add(&mut self, outcome: Outcome) -> io::Result<()> {
        if let Printer::Findings(collector) = self {
            let mut found = found(&outcome);
            found.extend(advice_findings(&outcome));
            return collector.add(&outcome.place, &outcome.identity, found);
        }
        // A document that cannot be checked has no verdict.
        let no_verdict = outcome.result.as_ref().err().filter(|p| p.status != Status::Refused);
        if let Some(problem) = no_verdict {
            report::problem(problem);
        }
        match self {
            Printer::Text if no_verdict.is_some() => Ok(()),
            Printer::Text => write(&text(&outcome)),
            Printer::Json(items) => items.add(item(outcome)),
            Printer::Findings(_) => Ok(()),
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
                write(&text)
            }
            Printer::Json(items) => {
                let mut item = Fields::default();
                item.value("lints", lints.iter().map(lint).collect());
                items.add(item)
            }
            Printer::Findings(collector) => {
                let (place, identity) = (Place::file(""), Identity::default());
                let about = About { place: &place, identity: &identity, schema: None };
                let found = lints.iter().map(|lint| {
                    let mut found = about.lint(lint);
                    found.object.kind = lint.kind().to_string();
                    found.object.name = lint.configuration().to_owned();
                    found
                });
                collector.add(&place, &identity, found.collect())
            }
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Printer::Text => Ok(()),
            Printer::Json(items) => items.finish(),
            Printer::Findings(collector) => collector.finish(),
        }
    }
}

fn text(outcome: &Outcome) -> String {
    let verdict = match outcome.status() {
        Status::Fine => format!("{VALID}accepted{VALID:#}"),
        _ => format!("{ERROR}refused{ERROR:#}"),
    };
    let mut out = String::new();
    report::title(&mut out, &outcome.place, &outcome.identity, &verdict);
    out.push_str(&findings::text(&found(outcome)));
    if let Ok(checked) = &outcome.result {
        advice(&mut out, &checked.lints, |_| String::new());
    }
    out
}

/// The errors and warnings, each once.
fn found(outcome: &Outcome) -> Vec<Finding> {
    let about = About { place: &outcome.place, identity: &outcome.identity, schema: None };
    let checked = match &outcome.result {
        Ok(checked) => checked,
        Err(problem) => return vec![findings::problem(problem)],
    };
    let mut seen = IndexSet::new();
    let errors = checked.errors.iter().filter(|error| seen.insert(error.to_string()));
    let mut found: Vec<Finding> = errors.map(|error| about.definition_error(error)).collect();
    found.extend(checked.warnings.iter().map(|warning| about.warning(warning)));
    found
}

fn advice_findings(outcome: &Outcome) -> Vec<Finding> {
    let about = About { place: &outcome.place, identity: &outcome.identity, schema: None };
    let lints = outcome.result.iter().flat_map(|checked| &checked.lints);
    lints.map(|lint| about.lint(lint)).collect()
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
    item.text("message", findings.message);
    if !findings.lints.is_empty() {
        item.value("lints", findings.lints.iter().map(lint).collect());
    }
    if let Some(problem) = problem {
        item.value("error", json::error(*problem));
    }
    item
}
