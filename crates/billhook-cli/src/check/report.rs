//! Verdicts for people, on standard output as they come, and for programs, as one JSON document.

use std::collections::BTreeSet;
use std::io;

use billhook::FieldError;
use billhook_schema::value::DeepValue;
use serde_json::Value;

use super::{Findings, Outcome};
use crate::args::Report;
use crate::findings::{self, VALID, line};
use crate::json::{self, Fields};
use crate::problem::Status;
use crate::report::{self, ERROR, WARNING};

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

    pub(super) fn add(&mut self, outcome: Outcome) -> io::Result<()> {
        // That nothing could be found out is no verdict.
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
        Ok(findings) => (findings, distinct(&findings.errors)),
        Err(problem) => (&none, vec![problem.message.clone()]),
    };
    let verdict = if !errors.is_empty() {
        format!("{ERROR}refused{ERROR:#}")
    } else if findings.not_evaluated.is_empty() {
        format!("{VALID}accepted{VALID:#}")
    } else {
        format!("{VALID}accepted{VALID:#} but for rules in CEL")
    };
    let mut out = String::new();
    report::title(&mut out, &outcome.place, &outcome.identity, &verdict);
    errors.iter().for_each(|error| line(&mut out, "error", ERROR, error));
    findings.warnings.iter().for_each(|warning| line(&mut out, "warning", WARNING, warning));
    let text = match findings.not_evaluated.as_slice() {
        [] => return out,
        [place] => place.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    line(&mut out, "not evaluated", WARNING, &text);
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

fn item(outcome: Outcome) -> DeepValue {
    let mut item = Fields::of_object(outcome.place, outcome.identity);
    let (findings, problem) = match outcome.result {
        Ok(findings) => (findings, None),
        Err(problem) => (Findings::default(), Some(problem)),
    };
    let verdict = match &problem {
        Some(problem) => (problem.status == Status::Refused).then_some("refused"),
        None if !findings.errors.is_empty() => Some("refused"),
        None if findings.not_evaluated.is_empty() => Some("accepted"),
        None => Some("undecided"),
    };
    item.text("verdict", verdict.map(str::to_owned));
    item.value("errors", findings.errors.iter().map(findings::error).collect());
    item.value("warnings", Value::from(findings.warnings));
    item.value("notEvaluated", Value::from(findings.not_evaluated));
    item.text("message", findings.message);
    if let Some(problem) = problem {
        item.value("error", json::error(*problem));
    }
    DeepValue::from(item.into_value())
}
