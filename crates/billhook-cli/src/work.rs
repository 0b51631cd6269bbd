//! The way of files through a command: each is read, its documents become outcomes, safe edits are
//! made if that is wanted, and the outcomes are handed on in the order of the files.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use billhook_findings::{Finding, Severity, Source, fix};
use serde_json::Value;

use crate::fixing::{Change, Fixing};
use crate::input::{self, Document};
use crate::policy::Policy;
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

    /// Whether all is found that any command finds in such documents.
    fn finds_all(&self) -> bool {
        false
    }
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
    /// Whether its problem was told before.
    pub(crate) is_told: bool,
}

impl<O: Outcome> Done<O> {
    fn new(outcome: O) -> Self {
        let findings = outcome.findings();
        Done { outcome, findings, is_told: false }
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

/// The options of a run.
#[derive(Debug)]
pub(crate) struct Pass<'p> {
    pub(crate) fixing: Fixing,
    pub(crate) policy: Policy<'p>,
}

/// Something to be told.
#[derive(Debug)]
pub(crate) enum Event<O> {
    Done(Done<O>),
    /// Findings that are not about an object.
    Findings(Vec<Finding>),
}

/// Goes through the documents below the paths and hands on their outcomes. Returns the worst
/// status.
pub(crate) fn run<W: Work>(
    work: &W,
    paths: &[PathBuf],
    pass: Pass<'_>,
    emit: impl FnMut(Event<W::Outcome>) -> io::Result<()>,
) -> io::Result<(Status, Others)> {
    let others = Others { is_all: true, kinds: Vec::new() };
    let Pass { fixing, policy } = pass;
    let told = BTreeSet::new();
    let mut run = Run { work, fixing, policy, status: Status::Fine, others, told, emit };
    for found in input::sources(paths) {
        match found {
            Ok(source) => run.file(source)?,
            Err(problem) => run.done(Done::failed(problem))?,
        }
    }
    run.finish()
}

/// A run under way.
struct Run<'r, W, E> {
    work: &'r W,
    fixing: Fixing,
    policy: Policy<'r>,
    status: Status,
    others: Others,
    /// The things that are told only once.
    told: BTreeSet<String>,
    emit: E,
}

impl<W: Work, E: FnMut(Event<W::Outcome>) -> io::Result<()>> Run<'_, W, E> {
    fn file(&mut self, source: Arc<Source>) -> io::Result<()> {
        if !self.fixing.is_wanted() {
            return self.documents(&source);
        }
        let (source, change) = self.fixed(source);
        if let Some(change) = change {
            self.status = self.status.max(self.fixing.finish(&change)?);
        }
        self.documents(&source)
    }

    fn documents(&mut self, source: &Arc<Source>) -> io::Result<()> {
        let documents = match input::documents_of(source) {
            Ok(documents) => documents,
            Err(problem) => return self.done(Done::failed(problem)),
        };
        self.policy.read(source.name());
        let mut file = Policy::file(self.policy.config(), source);
        let mut takes_all = self.work.finds_all();
        for document in documents {
            if self.work.takes(&document.value) {
                let mut done = Done::new(self.work.outcome(document));
                done.findings = file.apply(done.findings);
                self.done(done)?;
                continue;
            }
            takes_all = false;
            if let Some(kind) = document.value.get("kind").and_then(Value::as_str)
                && !self.others.kinds.iter().any(|known| known == kind)
            {
                self.others.kinds.push(kind.to_owned());
            }
        }
        // Other commands may find what is ignored in other documents.
        if takes_all { self.findings(file.unused()) } else { Ok(()) }
    }

    fn done(&mut self, mut done: Done<W::Outcome>) -> io::Result<()> {
        self.others.is_all = false;
        if let Some(thing) = done.outcome.problem().and_then(|problem| problem.once.clone()) {
            done.is_told = !self.told.insert(thing);
        }
        self.policy.leave_new(&mut done.findings);
        self.status = self.status.max(done.status());
        match done.outcome.problem() {
            Some(problem) if self.fixing.diff && !done.is_told => report::problem(problem),
            _ if self.fixing.diff => {}
            _ => return (self.emit)(Event::Done(done)),
        }
        Ok(())
    }

    fn findings(&mut self, mut findings: Vec<Finding>) -> io::Result<()> {
        self.policy.leave_new(&mut findings);
        if self.fixing.diff || findings.is_empty() {
            return Ok(());
        }
        (self.emit)(Event::Findings(findings))
    }

    /// Makes the safe edits of a file, until there are no more.
    fn fixed(&self, source: Arc<Source>) -> (Arc<Source>, Option<Change>) {
        let (mut now, mut edits) = (source.clone(), 0);
        for _ in 0..MAX_ROUNDS {
            let documents = input::documents_of(&now).unwrap_or_default().into_iter();
            let documents = documents.filter(|document| self.work.takes(&document.value));
            let findings = documents.flat_map(|document| self.work.outcome(document).findings());
            let mut file = Policy::file(self.policy.config(), &now);
            let Some(fixed) = fix(&now, &file.apply(findings.collect())) else { break };
            edits += fixed.edits.len();
            now = Arc::new(Source::new(source.name(), fixed.text));
        }
        let change = (edits > 0).then(|| Change { before: source, after: now.clone(), edits });
        (now, change)
    }

    fn finish(self) -> io::Result<(Status, Others)> {
        let Run { policy, fixing, status, others, mut emit, .. } = self;
        match policy.finish() {
            Ok(findings) if findings.is_empty() || fixing.diff => {}
            Ok(findings) => emit(Event::Findings(findings))?,
            Err(problem) => {
                report::problem(&problem);
                return Ok((status.max(problem.status), others));
            }
        }
        Ok((status, others))
    }
}
