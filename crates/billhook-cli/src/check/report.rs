//! Verdicts for people, on standard output as they come, and for programs, as one JSON document.

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use billhook::FieldError;
use billhook::webhook::{Lint, Severity};
use billhook_schema::value::{DeepValue, deep_clone};
use serde_json::Value;

use super::{Findings, Outcome};
use crate::args::Report;
use crate::json::{Fields, error, print_document};
use crate::problem::Status;
use crate::report::visible;

const ACCEPTED: Style = AnsiColor::Green.on_default().bold();
const REFUSED: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().dimmed();
const HEADER: Style = Style::new().bold();

/// Longer errors are cut where they show a value.
const MAX_ERROR: usize = 800;

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

    pub(super) fn add(&mut self, outcome: &Outcome) -> io::Result<()> {
        // That nothing could be found out is no verdict.
        let no_verdict = outcome.result.as_ref().err().filter(|p| p.status != Status::Refused);
        if let Some(problem) = no_verdict {
            crate::report::problem(problem);
        }
        match self {
            Printer::Json(items) => items.push(DeepValue::from(item(outcome))),
            Printer::Text if no_verdict.is_none() => {
                let mut out = anstream::stdout().lock();
                out.write_all(text(outcome).as_bytes())?;
                out.flush()?;
            }
            Printer::Text => {}
        }
        Ok(())
    }

    /// Adds what several configurations together give rise to.
    pub(super) fn add_together(&mut self, lints: &[Lint]) -> io::Result<()> {
        if lints.is_empty() {
            return Ok(());
        }
        match self {
            Printer::Json(items) => {
                let mut item = Fields::default();
                item.value("lints", Value::from_iter(lints.iter().map(lint)));
                items.push(DeepValue::from(item.into_value()));
            }
            Printer::Text => {
                let mut text = format!("{HEADER}all webhook configurations together:{HEADER:#}\n");
                let name = |lint: &Lint| format!("{} {}: ", lint.kind(), lint.configuration());
                advice(&mut text, lints, name);
                let mut out = anstream::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Printer::Text => Ok(()),
            Printer::Json(items) => print_document("CheckReport", items),
        }
    }
}

fn text(outcome: &Outcome) -> String {
    let none = Findings::default();
    let (findings, errors) = match &outcome.result {
        Ok(findings) => (findings, distinct(&findings.errors)),
        Err(problem) => (&none, vec![problem.message.clone()]),
    };
    let identity = &outcome.identity;
    let mut title = outcome.place.to_string();
    for part in [&identity.kind, &identity.name].into_iter().flatten() {
        title.push(' ');
        title.push_str(part);
    }
    let title = visible(&title).replace('\n', "\\n");
    let verdict = match errors.len() {
        0 => format!("{ACCEPTED}accepted{ACCEPTED:#}"),
        1 => format!("{REFUSED}refused{REFUSED:#}, 1 error"),
        more => format!("{REFUSED}refused{REFUSED:#}, {more} errors"),
    };
    let mut out = format!("{HEADER}{title}:{HEADER:#} {verdict}\n");
    let mut line = |style: Style, label: &str, text: &str| {
        let text = visible(text).replace('\n', "\n    ");
        out.push_str(&format!("  {style}{label}:{style:#} {text}\n"));
    };
    for error in errors {
        line(REFUSED, "error", &error);
    }
    for warning in &findings.warnings {
        line(WARNING, "warning", warning);
    }
    match findings.not_evaluated.as_slice() {
        [] => {}
        [place] => line(NOTE, "not evaluated", &format!("rules in CEL at {place}")),
        [first, ..] => {
            let count = findings.not_evaluated.len();
            let text = format!("rules in CEL at {count} places, the first is {first}");
            line(NOTE, "not evaluated", &text);
        }
    }
    advice(&mut out, &findings.lints, |_| String::new());
    out
}

/// A line for each lint, with its help behind the first of its kind.
fn advice(out: &mut String, lints: &[Lint], place: impl Fn(&Lint) -> String) {
    let mut explained = BTreeSet::new();
    for lint in lints {
        let (style, label) = match lint.severity() {
            Severity::Warning => (WARNING, "lint"),
            Severity::Note => (NOTE, "note"),
        };
        let text = visible(&format!("{}{lint}", place(lint))).replace('\n', "\\n");
        out.push_str(&format!("  {style}{label}:{style:#} {text}\n"));
        if explained.insert(lint.code()) {
            out.push_str(&format!("    {HELP}help:{HELP:#} {}\n", lint.help()));
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
    fields.text("message", Some(lint.message().to_owned()));
    fields.text("help", Some(lint.help().to_owned()));
    fields.into_value()
}

/// The texts of errors; one that comes again counts once.
fn distinct(errors: &[FieldError]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let errors = errors.iter().filter(|error| seen.insert(error.to_string()));
    errors.map(shortened).collect()
}

/// An error of which a long value is left out in part.
fn shortened(error: &FieldError) -> String {
    let text = error.to_string();
    if text.len() <= MAX_ERROR || error.bad_value().is_none() {
        return text;
    }
    let start: String = text.chars().take(MAX_ERROR / 2).collect();
    format!("{start} […]: {}", error.detail())
}

fn item(outcome: &Outcome) -> Value {
    let (place, identity) = (&outcome.place, &outcome.identity);
    let mut item = Fields::default();
    item.text("file", Some(place.file.clone()));
    item.number("document", place.document);
    item.number("item", place.item);
    item.text("apiVersion", identity.api_version.clone());
    item.text("kind", identity.kind.clone());
    item.text("name", identity.name.clone());
    let none = Findings::default();
    let findings = outcome.result.as_ref().unwrap_or(&none);
    let is_accepted = outcome.result.is_ok() && findings.errors.is_empty();
    item.value("accepted", Value::from(is_accepted));
    item.value("errors", Value::from_iter(findings.errors.iter().map(field_error)));
    item.value("warnings", Value::from(findings.warnings.as_slice()));
    item.value("notEvaluated", Value::from(findings.not_evaluated.as_slice()));
    if !findings.lints.is_empty() {
        item.value("lints", Value::from_iter(findings.lints.iter().map(lint)));
    }
    if let Err(problem) = &outcome.result {
        item.value("error", error(problem));
    }
    item.into_value()
}

fn field_error(error: &FieldError) -> Value {
    let mut fields = Fields::default();
    fields.text("type", Some(error.error_type().reason().to_owned()));
    fields.text("field", Some(error.field().to_string()));
    fields.text("detail", Some(error.detail().to_owned()));
    if let Some(value) = error.bad_value() {
        fields.value("badValue", deep_clone(value));
    }
    fields.text("message", Some(error.to_string()));
    fields.into_value()
}
