//! Which versions of Kubernetes accept a document: a line for each document, a column for each
//! version, and what decides between them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use billhook::{FieldError, KubernetesVersion, Segment};
use billhook_findings::Finding;
use indexmap::IndexMap;
use serde_json::Value;

use super::{Findings, Outcome, Run, Subject, nothing_taken};
use crate::args::Check;
use crate::fixing::Fixing;
use crate::input::Document;
use crate::json::{Fields, Items};
use crate::options::Report;
use crate::policy::Policy;
use crate::problem::{Problem, Status};
use crate::report::{self, ERROR, HEADER, WARNING};
use crate::validate::report::{self as findings, VALID, line};
use crate::work::{self, Event, Pass, Work};

/// The width of a column.
const WIDTH: usize = 10;

/// Checks all documents for several versions.
pub(super) fn run(
    arguments: &Check,
    versions: &[KubernetesVersion],
    run: &Run<'_>,
    policy: Policy<'_>,
) -> io::Result<Status> {
    let mut printer = Printer::new(arguments.report, versions);
    let work = AllVersions { run, versions };
    let print = |event: Event<Result<Row, Box<Problem>>>| match event {
        Event::Done(done) => match &done.outcome {
            Ok(row) => printer.add(row),
            Err(problem) => {
                report::problem(problem);
                Ok(())
            }
        },
        Event::Findings(_) => Ok(()),
    };
    let (threads, quiet) = (arguments.jobs.threads(), arguments.quiet);
    let pass = Pass { fixing: Fixing::default(), policy, threads, quiet };
    let end = work::run(&work, &arguments.documents, pass, print)?;
    printer.finish()?;
    Ok(end.status.max(nothing_taken(arguments, &end.others)))
}

/// Checks for several versions of the server.
struct AllVersions<'r> {
    run: &'r Run<'r>,
    versions: &'r [KubernetesVersion],
}

impl Work for AllVersions<'_> {
    type Outcome = Result<Row, Box<Problem>>;

    fn takes(&self, value: &Value) -> bool {
        Subject::is_known(value)
    }

    fn outcome(&self, document: Document) -> Self::Outcome {
        let of = |version: &KubernetesVersion| (*version, self.run.outcome(&document, *version));
        Ok(Row { outcomes: self.versions.iter().map(of).collect() })
    }
}

impl work::Outcome for Result<Row, Box<Problem>> {
    fn failed(problem: Box<Problem>) -> Self {
        Err(problem)
    }

    fn problem(&self) -> Option<&Problem> {
        match self {
            Ok(row) => row
                .outcomes
                .iter()
                .filter_map(|(_, outcome)| problem(outcome))
                .max_by_key(|problem| problem.status),
            Err(problem) => Some(problem),
        }
    }

    /// Returns the errors for all versions.
    fn findings(&self) -> Vec<Finding> {
        let outcomes = self.iter().flat_map(|row| &row.outcomes);
        outcomes.flat_map(|(_, outcome)| outcome.findings()).collect()
    }
}

/// The outcomes of one document, oldest version first.
struct Row {
    outcomes: Vec<(KubernetesVersion, Outcome)>,
}

/// A difference between a version and the one before it.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    /// A keyword, or a name in an expression.
    subject: String,
    since: KubernetesVersion,
    /// Whether it is accepted since that version, and not refused.
    is_accepted: bool,
}

impl Change {
    fn text(&self) -> String {
        match self.is_accepted {
            true => format!("`{}` needs {}", self.subject, self.since),
            false => format!("`{}` is refused since {}", self.subject, self.since),
        }
    }
}

impl Row {
    fn status(&self) -> Status {
        let worst = self.outcomes.iter().map(|(_, outcome)| outcome.status()).max();
        worst.unwrap_or(Status::Fine)
    }

    /// The verdicts in words.
    fn summary(&self) -> String {
        let is_fine = |(_, outcome): &(_, Outcome)| outcome.status() == Status::Fine;
        let verdict = |is_fine| if is_fine { "accepted" } else { "refused" };
        let last = self.outcomes.last().is_some_and(is_fine);
        let since = self.outcomes.iter().rev().take_while(|outcome| is_fine(outcome) == last);
        match since.last() {
            Some((since, _)) if self.outcomes.iter().any(|outcome| is_fine(outcome) != last) => {
                format!("{} since {since}", verdict(last))
            }
            _ => verdict(last).to_owned(),
        }
    }

    /// The problem that keeps all servers from looking at the document.
    fn unusable(&self) -> Option<&Problem> {
        let mut problems = self.outcomes.iter().filter_map(|(_, outcome)| problem(outcome));
        problems.find(|problem| problem.status == Status::Unusable)
    }

    /// Returns the differences between neighboring versions. An error counts as the same if it is
    /// about the same thing at the same place, with any text.
    fn changes(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut add = |subject: &str, since, is_accepted| {
            let change = Change { subject: subject.to_owned(), since, is_accepted };
            if !changes.contains(&change) {
                changes.push(change);
            }
        };
        for pair in self.outcomes.windows(2) {
            let [(_, before), (since, after)] = pair else { continue };
            let (before_warnings, after_warnings) = (formats(before), formats(after));
            let (before, after) = (faults(before), faults(after));
            for (_, subject) in before.iter().filter(|(fault, _)| !after.contains_key(*fault)) {
                add(subject, *since, true);
            }
            for (_, subject) in after.iter().filter(|(fault, _)| !before.contains_key(*fault)) {
                add(subject, *since, false);
            }
            for format in before_warnings.difference(&after_warnings) {
                add(format, *since, true);
            }
        }
        changes
    }

    /// Returns the first error, or the warnings, with the versions that say so.
    fn remarks(&self) -> IndexMap<Remark, Vec<KubernetesVersion>> {
        let mut remarks: IndexMap<Remark, Vec<KubernetesVersion>> = IndexMap::new();
        for (version, outcome) in &self.outcomes {
            for remark in remarks_of(outcome) {
                remarks.entry(remark).or_default().push(*version);
            }
        }
        remarks
    }
}

#[derive(PartialEq, Eq, Hash)]
enum Remark {
    Error(String),
    Warning(String),
}

fn problem(outcome: &Outcome) -> Option<&Problem> {
    outcome.result.as_ref().err().map(|problem| &**problem)
}

fn remarks_of(outcome: &Outcome) -> Vec<Remark> {
    match &outcome.result {
        Err(problem) => vec![Remark::Error(problem.message.clone())],
        Ok(Findings { errors, warnings, .. }) => match errors.first() {
            Some(error) => vec![Remark::Error(report::error_text(error))],
            None => warnings.iter().cloned().map(Remark::Warning).collect(),
        },
    }
}

/// Returns the subjects of the errors by place and subject.
fn faults(outcome: &Outcome) -> BTreeMap<String, String> {
    let errors = outcome.result.as_ref().map_or(&[][..], |findings| findings.errors.as_slice());
    let fault = |error: &FieldError| {
        let subject = subject(error);
        (format!("{} {subject}", error.field()), subject)
    };
    errors.iter().map(fault).collect()
}

/// The formats that a server does not know (CV-90).
fn formats(outcome: &Outcome) -> BTreeSet<String> {
    let warnings = outcome.result.as_ref().map_or(&[][..], |findings| findings.warnings.as_slice());
    let format = |warning: &String| {
        let format = warning.strip_prefix("unrecognized format ")?;
        Some(format!("format: {}", format.trim_matches('"')))
    };
    warnings.iter().filter_map(format).collect()
}

/// Returns the subject of an error: a name that an expression may not use, or the last field of its
/// path.
fn subject(error: &FieldError) -> String {
    let undeclared = error.detail().split_once("undeclared reference to '");
    if let Some((name, _)) = undeclared.and_then(|(_, rest)| rest.split_once('\'')) {
        return name.to_owned();
    }
    let names = error.field().segments().filter_map(|segment| match segment {
        Segment::Name(name) => Some(name.to_owned()),
        _ => None,
    });
    names.last().unwrap_or_else(|| error.field().to_string())
}

/// Where rows go.
enum Printer {
    /// With the text of the head until it is printed.
    Text(String),
    Json(Items),
}

impl Printer {
    fn new(report: Report, versions: &[KubernetesVersion]) -> Self {
        match report {
            Report::Json => Printer::Json(Items::new("CheckReport")),
            Report::Text => {
                let columns = versions.iter().map(|version| format!("{version:WIDTH$}"));
                let columns: String = columns.collect();
                Printer::Text(format!("{HEADER}{}{HEADER:#}\n", columns.trim_end()))
            }
        }
    }

    fn add(&mut self, row: &Row) -> io::Result<()> {
        if let Some(problem) = row.unusable() {
            report::problem(problem);
        }
        match self {
            Printer::Text(_) if row.unusable().is_some() => Ok(()),
            Printer::Text(head) => report::write(&(std::mem::take(head) + &text(row))),
            Printer::Json(items) => items.add(item(row)),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Printer::Text(_) => Ok(()),
            Printer::Json(items) => items.finish(),
        }
    }
}

fn word(status: Status) -> &'static str {
    if status == Status::Fine { "accepted" } else { "refused" }
}

fn text(row: &Row) -> String {
    let mut out = String::new();
    for (_, outcome) in &row.outcomes {
        let verdict = word(outcome.status());
        let style = if outcome.status() == Status::Fine { VALID } else { ERROR };
        out.push_str(&format!("{style}{verdict:WIDTH$}{style:#}"));
    }
    let Some((_, first)) = row.outcomes.first() else { return out };
    let changes: Vec<String> = row.changes().iter().map(Change::text).collect();
    let summary = match changes.as_slice() {
        [] => row.summary(),
        changes => format!("{}: {}", row.summary(), changes.join(", ")),
    };
    report::title(&mut out, &first.place, &first.identity, &summary);
    for (remark, versions) in row.remarks() {
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        let versions = versions.join(", ");
        match remark {
            Remark::Error(text) => line(&mut out, "error", ERROR, &format!("{versions}: {text}")),
            Remark::Warning(text) => {
                line(&mut out, "warning", WARNING, &format!("{versions}: {text}"));
            }
        }
    }
    out
}

fn item(row: &Row) -> Fields {
    let mut item = match row.outcomes.first() {
        Some((_, first)) => Fields::of_object(first.place.clone(), first.identity.clone()),
        None => Fields::default(),
    };
    let version = |(version, outcome): &(KubernetesVersion, Outcome)| {
        let mut fields = Fields::default();
        fields.text("kubernetes", Some(version.to_string()));
        fields.text("verdict", Some(word(outcome.status()).to_owned()));
        match &outcome.result {
            Ok(found) => {
                fields.value("errors", found.errors.iter().map(findings::error).collect());
                fields.value("warnings", Value::from(found.warnings.clone()));
            }
            Err(problem) => fields.text("message", Some(problem.message.clone())),
        }
        fields.into_value()
    };
    let change = |change: Change| {
        let mut fields = Fields::default();
        fields.text("subject", Some(change.subject));
        let name = if change.is_accepted { "acceptedSince" } else { "refusedSince" };
        fields.text(name, Some(change.since.to_string()));
        fields.into_value()
    };
    item.text("verdict", Some(word(row.status()).to_owned()));
    item.value("versions", row.outcomes.iter().map(version).collect());
    item.value("changes", row.changes().into_iter().map(change).collect());
    item
}
