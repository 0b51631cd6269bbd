//! The findings of a validation on standard output: as text grouped by object, or as one JSON
//! document.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use billhook::{FieldError, Verdict};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use indexmap::IndexSet;
use serde_json::Value;

use super::finding::{Checked, Finding};
use crate::args::Validate;
use crate::json::{self, Fields};
use crate::options::Report;
use crate::problem::Status;
use crate::report::{self, ERROR, WARNING, visible};

pub(crate) const VALID: Style = AnsiColor::Green.on_default().bold();

/// Where findings go.
#[derive(Debug)]
pub(crate) struct Printer {
    quiet: bool,
    /// The items of the document, if it is for programs.
    items: Option<Vec<DeepValue>>,
}

impl Printer {
    pub(crate) fn new(command: &Validate) -> Self {
        let items = (command.report == Report::Json).then(Vec::new);
        Printer { quiet: command.quiet, items }
    }

    pub(crate) fn add(&mut self, finding: Finding) -> io::Result<()> {
        finding.notes.iter().for_each(|note| report::warning(note));
        let is_valid = matches!(
            &finding.result,
            Ok(checked) if checked.validation.verdict() == Verdict::Valid
        );
        if self.quiet && is_valid {
            return Ok(());
        }
        match &mut self.items {
            Some(items) => {
                items.push(item(finding));
                Ok(())
            }
            None => print_text(&finding),
        }
    }

    /// Prints the document.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.items {
            Some(items) => json::print_document("ValidateReport", items),
            None => Ok(()),
        }
    }
}

/// The word for the outcome of an object that could be validated.
fn word(verdict: Verdict) -> (&'static str, Style) {
    match verdict {
        Verdict::Valid => ("valid", VALID),
        Verdict::Invalid => ("invalid", ERROR),
    }
}

fn print_text(finding: &Finding) -> io::Result<()> {
    let mut text = String::new();
    let checked = match &finding.result {
        Ok(checked) => checked,
        Err(problem) if problem.status == Status::Refused => {
            let (place, identity) = (&finding.place, &finding.identity);
            report::title(&mut text, place, identity, &format!("{ERROR}refused{ERROR:#}"));
            line(&mut text, "error", ERROR, &problem.message);
            return write(&text);
        }
        Err(problem) => {
            report::problem(problem);
            return Ok(());
        }
    };
    let (word, style) = word(checked.validation.verdict());
    let title = format!("{style}{word}{style:#}");
    report::title(&mut text, &finding.place, &finding.identity, &title);
    let errors = checked.validation.errors().iter().map(ToString::to_string);
    for error in errors.collect::<IndexSet<_>>() {
        line(&mut text, "error", ERROR, &error);
    }
    for warning in &checked.warnings {
        line(&mut text, "warning", WARNING, warning);
    }
    write(&text)
}

pub(crate) fn line(out: &mut String, label: &str, style: Style, text: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "  {style}{label}:{style:#} {}", visible(text));
}

pub(crate) fn write(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn item(finding: Finding) -> DeepValue {
    let mut item = Fields::of_object(finding.place, finding.identity);
    match finding.result {
        Ok(Checked { warnings, validation }) => {
            let (word, _) = word(validation.verdict());
            item.text("verdict", Some(word.to_owned()));
            item.value("errors", validation.errors().iter().map(error).collect());
            item.value("warnings", Value::from(warnings));
            item.text("message", validation.status_message());
        }
        Err(problem) => {
            report::problem(&problem);
            let refused = problem.status == Status::Refused;
            item.text("verdict", refused.then(|| "refused".to_owned()));
            item.value("errors", Value::Array(Vec::new()));
            item.value("warnings", Value::Array(Vec::new()));
            item.value("error", json::error(*problem));
        }
    }
    DeepValue::from(item.into_value())
}

pub(crate) fn error(error: &FieldError) -> Value {
    let mut fields = Fields::default();
    fields.text("text", Some(error.to_string()));
    fields.text("type", Some(error.error_type().reason().to_owned()));
    fields.text("field", Some(error.field().to_string()));
    fields.text("pointer", Some(error.field().to_json_pointer()));
    fields.text("detail", (!error.detail().is_empty()).then(|| error.detail().to_owned()));
    if let Some(value) = error.bad_value() {
        fields.value("badValue", deep_clone(value));
    }
    fields.into_value()
}
