//! The findings of a validation on standard output: as text grouped by object, or as one JSON
//! document.

use std::fmt::Write as _;
use std::io;

use anstyle::{AnsiColor, Style};
use billhook::{FieldError, Verdict};
use billhook_apimachinery::value::deep_clone;
use billhook_findings::Finding;
use serde_json::Value;

use super::outcome::{Checked, Outcome};
use crate::args::Validate;
use crate::crds::Used;
use crate::findings;
use crate::form::Form;
use crate::json::{self, Fields};
use crate::problem::Status;
use crate::report::{self, ERROR, WARNING, visible, write};
use crate::summary::Summary;
use crate::work::{Done, Event};

pub(crate) const VALID: Style = AnsiColor::Green.on_default().bold();

/// Prints outcomes as they come.
#[derive(Debug)]
pub(crate) struct Printer {
    quiet: bool,
    used: Used,
    form: Form<()>,
}

impl Printer {
    pub(crate) fn new(command: &Validate) -> Self {
        let Validate { findings, report, quiet, .. } = *command;
        let form = Form::new(findings.or_ci(report), report, "ValidateReport", ());
        Printer { quiet, used: Used::default(), form }
    }

    pub(crate) fn add(&mut self, event: Event<Outcome<'_>>) -> io::Result<()> {
        let done = match event {
            Event::Done(done) => done,
            Event::Findings(findings) => return self.add_findings(findings),
        };
        let is_ignored = done.status() == Status::Fine;
        let Done { outcome, findings, is_reported } = done;
        let used = outcome.used.iter();
        let notes = used.flat_map(|(crd, version)| self.used.notes(crd, version, true));
        notes.for_each(|note| report::warning(&note));
        let is_valid = matches!(
            &outcome.result,
            Ok(checked) if checked.validation.verdict() == Verdict::Valid
        );
        match &mut self.form {
            Form::Findings(collector) => {
                collector.add(&outcome.place, &outcome.identity, findings, is_reported)
            }
            Form::Status => print_answer(&outcome, is_reported),
            _ if self.quiet && is_valid => Ok(()),
            Form::Json(items) => items.add(item(outcome, is_reported)),
            Form::Text(()) if is_reported => Ok(()),
            Form::Text(()) => print_text(&outcome, &findings, is_ignored),
        }
    }

    fn add_findings(&mut self, findings: Vec<Finding>) -> io::Result<()> {
        match &mut self.form {
            Form::Text(()) => write(&findings::text(&findings)),
            form => form.remarks(findings),
        }
    }

    /// Prints what has not been printed, and the summary for people.
    pub(crate) fn finish(self, summary: &Summary) -> io::Result<()> {
        if self.form.finish()? && !self.quiet {
            summary.print("object");
        }
        Ok(())
    }
}

/// The word for the outcome of an object that could be validated.
fn word(verdict: Verdict) -> (&'static str, Style) {
    match verdict {
        Verdict::Valid => ("valid", VALID),
        Verdict::Invalid => ("invalid", ERROR),
    }
}

fn print_answer(outcome: &Outcome<'_>, is_reported: bool) -> io::Result<()> {
    match &outcome.result {
        Ok(checked) => {
            report::client_warnings(&checked.warnings);
            report::answer(checked.validation.status().as_ref())
        }
        Err(problem) => report::answer_of(Some(&**problem).filter(|_| !is_reported)),
    }
}

fn print_text(outcome: &Outcome<'_>, findings: &[Finding], is_ignored: bool) -> io::Result<()> {
    let (word, style) = match &outcome.result {
        Ok(checked) if checked.validation.verdict() == Verdict::Invalid && is_ignored => {
            ("invalid, but ignored", WARNING)
        }
        Ok(checked) => word(checked.validation.verdict()),
        Err(problem) if problem.status == Status::Refused && is_ignored => {
            ("refused, but ignored", WARNING)
        }
        Err(problem) if problem.status == Status::Refused => ("refused", ERROR),
        Err(problem) => {
            report::problem(problem);
            return Ok(());
        }
    };
    let mut text = String::new();
    let title = format!("{style}{word}{style:#}");
    report::title(&mut text, &outcome.place, &outcome.identity, &title);
    text.push_str(&findings::text(findings));
    write(&text)
}

pub(crate) fn line(out: &mut String, label: &str, style: Style, text: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "  {style}{label}:{style:#} {}", visible(text));
}

fn item(outcome: Outcome<'_>, is_reported: bool) -> Fields {
    let mut item = Fields::of_object(outcome.place, outcome.identity);
    match outcome.result {
        Ok(Checked { warnings, validation }) => {
            let (word, _) = word(validation.verdict());
            item.text("verdict", Some(word.to_owned()));
            item.value("errors", validation.errors().iter().map(error).collect());
            item.value("warnings", Value::from(warnings));
            item.text("message", validation.status_message());
        }
        Err(problem) => {
            if !is_reported {
                report::problem(&problem);
            }
            let refused = problem.status == Status::Refused;
            item.text("verdict", refused.then(|| "refused".to_owned()));
            item.value("errors", Value::Array(Vec::new()));
            item.value("warnings", Value::Array(Vec::new()));
            item.value("error", json::error(*problem));
        }
    }
    item
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
