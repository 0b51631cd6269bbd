//! The way of files through a command: each is read, its documents become outcomes, safe edits are
//! made if that is wanted, and the outcomes are handed on in the order of the files.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use billhook_findings::{Finding, Severity, Source, fix};
use serde_json::Value;

use crate::fixing::{Change, Fixing};
use crate::input::{self, Document};
use crate::problem::{Problem, Status};
use crate::report;

/// How often a file is read again after edits: those inside a field come after that of its name.
const MAX_ROUNDS: usize = 100;

/// The work of a command on each document.
pub(crate) trait Work {
    type Outcome: Outcome;

    /// Whether a document is one for the command.
    fn takes(&self, value: &Value) -> bool;

    fn outcome(&self, document: Document) -> Self::Outcome;
}

/// The outcome of a document.
pub(crate) trait Outcome {
    /// The outcome of what could not be read.
    fn failed(problem: Box<Problem>) -> Self;

    /// The problem that left no other outcome.
    fn problem(&self) -> Option<&Problem>;

    fn findings(&self) -> Vec<Finding>;
}

/// An outcome and what was found.
#[derive(Debug)]
pub(crate) struct Done<O> {
    pub(crate) outcome: O,
    pub(crate) findings: Vec<Finding>,
}

impl<O: Outcome> Done<O> {
    fn new(outcome: O) -> Self {
        let findings = outcome.findings();
        Done { outcome, findings }
    }

    pub(crate) fn failed(problem: Box<Problem>) -> Self {
        Done::new(O::failed(problem))
    }

    pub(crate) fn status(&self) -> Status {
        let has_error = || self.findings.iter().any(|found| found.severity == Severity::Error);
        match self.outcome.problem() {
            Some(problem) => problem.status,
            None if has_error() => Status::Refused,
            None => Status::Fine,
        }
    }
}

/// The documents that a command did not take.
#[derive(Debug, Default)]
pub(crate) struct Others {
    /// Whether it took no document at all.
    pub(crate) is_all: bool,
    /// Their kinds.
    pub(crate) kinds: Vec<String>,
}

/// Goes through the documents below the paths and hands on their outcomes. Returns the worst
/// status beside that of what was left out.
pub(crate) fn run<W: Work>(
    work: &W,
    paths: &[PathBuf],
    fixing: Fixing,
    mut emit: impl FnMut(Done<W::Outcome>) -> io::Result<()>,
) -> io::Result<(Status, Others)> {
    let mut status = Status::Fine;
    let mut others = Others { is_all: true, kinds: Vec::new() };
    let mut emit = |done: Done<W::Outcome>, others: &mut Others| {
        others.is_all = false;
        status = status.max(done.status());
        match done.outcome.problem() {
            Some(problem) if fixing.diff => report::problem(problem),
            _ if fixing.diff => {}
            _ => return emit(done),
        }
        Ok(())
    };
    let mut changed = Status::Fine;
    for found in input::sources(paths) {
        let source = match found {
            Ok(source) if fixing.is_wanted() => {
                let (source, change) = fixed(work, source);
                if let Some(change) = change {
                    changed = changed.max(fixing.finish(&change)?);
                }
                source
            }
            Ok(source) => source,
            Err(problem) => {
                emit(Done::failed(problem), &mut others)?;
                continue;
            }
        };
        each_document(work, &source, &mut others, &mut emit)?;
    }
    let status = status.max(changed);
    Ok((status, others))
}

/// Hands on the outcomes of a file.
fn each_document<W: Work>(
    work: &W,
    source: &Arc<Source>,
    others: &mut Others,
    emit: &mut impl FnMut(Done<W::Outcome>, &mut Others) -> io::Result<()>,
) -> io::Result<()> {
    let documents = match input::documents_of(source) {
        Ok(documents) => documents,
        Err(problem) => return emit(Done::failed(problem), others),
    };
    for document in documents {
        if work.takes(&document.value) {
            emit(Done::new(work.outcome(document)), others)?;
        } else if let Some(kind) = document.value.get("kind").and_then(Value::as_str)
            && !others.kinds.iter().any(|known| known == kind)
        {
            others.kinds.push(kind.to_owned());
        }
    }
    Ok(())
}

/// Makes the safe edits of a file, until there are no more.
fn fixed<W: Work>(work: &W, source: Arc<Source>) -> (Arc<Source>, Option<Change>) {
    let (mut now, mut edits) = (source.clone(), 0);
    for _ in 0..MAX_ROUNDS {
        let documents = input::documents_of(&now).unwrap_or_default().into_iter();
        let documents = documents.filter(|document| work.takes(&document.value));
        let findings: Vec<Finding> =
            documents.flat_map(|document| work.outcome(document).findings()).collect();
        let Some(fixed) = fix(&now, &findings) else { break };
        edits += fixed.edits.len();
        now = Arc::new(Source::new(source.name(), fixed.text));
    }
    let change = (edits > 0).then(|| Change { before: source, after: now.clone(), edits });
    (now, change)
}
