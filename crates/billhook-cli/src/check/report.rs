//! Verdicts for people, on standard output as they come, and for programs, as one JSON document.

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use billhook::FieldError;
use billhook_schema::value::{DeepValue, deep_clone};
use serde_json::Value;

use super::{Findings, Outcome};
use crate::args::Report;
use crate::json::{Fields, error, print_report};
use crate::problem::Status;
use crate::report::visible;

const ACCEPTED: Style = AnsiColor::Green.on_default().bold();
const REFUSED: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();
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

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Printer::Text => Ok(()),
            Printer::Json(items) => print_report("CheckReport", items),
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
    out
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
