//! The way of files through a command: each is read, its documents become outcomes, safe edits are
//! made if that is wanted, and the outcomes are handed on in the order of the files.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use billhook_findings::{Finding, Source, fix};
use serde_json::Value;

use crate::findings::{is_of_requests, is_of_suites};
use crate::fixing::{Change, Fixing};
use crate::input::{self, Document, Input};
use crate::parallel;
use crate::policy::{Config, Policy};
use crate::problem::{Problem, Status};
use crate::progress::Progress;
use crate::report;
use crate::summary::Summary;

/// How often a file is read again after edits: those inside a field come after that of its name.
const MAX_ROUNDS: usize = 100;

/// The work of a command on each document.
pub(crate) trait Work: Sync {
    type Outcome: Outcome + Send;

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
    /// Whether its problem was reported before.
    pub(crate) is_reported: bool,
}

impl<O: Outcome> Done<O> {
    fn new(outcome: O) -> Self {
        let findings = outcome.findings();
        Done { outcome, findings, is_reported: false }
    }

    pub(crate) fn failed(problem: Box<Problem>) -> Self {
        Done::new(O::failed(problem))
    }

    pub(crate) fn status(&self) -> Status {
        let problem = self.outcome.problem().map(|problem| problem.counted(&self.findings));
        problem.unwrap_or_else(|| Status::of(&self.findings))
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
    /// How many threads work.
    pub(crate) threads: usize,
    /// Whether no progress is shown.
    pub(crate) quiet: bool,
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct End {
    /// The worst status.
    pub(crate) status: Status,
    pub(crate) others: Others,
    pub(crate) summary: Summary,
}

/// Something to report.
#[derive(Debug)]
pub(crate) enum Event<O> {
    Done(Done<O>),
    /// Findings that are not about an object.
    Findings(Vec<Finding>),
}

/// Goes through the documents below the paths and hands on their outcomes, in order.
pub(crate) fn run<W: Work>(
    work: &W,
    paths: &[PathBuf],
    pass: Pass<'_>,
    emit: impl FnMut(Event<W::Outcome>) -> io::Result<()>,
) -> io::Result<End> {
    let others = Others { is_all: true, kinds: Vec::new() };
    let end = End { status: Status::Fine, others, summary: Summary::default() };
    let Pass { fixing, policy, threads, quiet } = pass;
    let inputs = input::inputs_without(paths, |file| policy.config().excludes(file));
    let mut progress = Progress::new(inputs.len(), quiet);
    let reader = Reader { work, fixing, config: policy.config() };
    let mut run = Run { fixing, policy, end, reported: BTreeSet::new(), emit };
    // The edits in a file are those that are left when its turn comes.
    let threads = if fixing.is_wanted() { 1 } else { threads };
    let read = |input: &Result<Input, Box<Problem>>| reader.read(input);
    parallel::in_order(&inputs, threads, read, Read::weight, |read| {
        progress.step();
        run.file(read)
    })?;
    drop(progress);
    run.finish()
}

/// Reads files and works on their documents.
struct Reader<'r, W> {
    work: &'r W,
    fixing: Fixing,
    config: &'r Config,
}

/// A file that was read.
struct Read<O> {
    source: Result<Arc<Source>, Box<Problem>>,
    /// The safe edits, if there are any.
    change: Option<Change>,
    done: Vec<Done<O>>,
    /// Findings about comments that ignore nothing.
    unused: Vec<Finding>,
    /// The kinds of the documents that were not taken.
    kinds: Vec<String>,
}

impl<O> Read<O> {
    fn new(source: Result<Arc<Source>, Box<Problem>>) -> Self {
        let (change, kinds) = (None, Vec::new());
        Read { source, change, done: Vec::new(), unused: Vec::new(), kinds }
    }

    /// Returns about how much memory it takes.
    fn weight(&self) -> usize {
        self.source.as_ref().map_or(0, |source| source.bytes().len())
    }
}

impl<W: Work> Reader<'_, W> {
    fn read(&self, input: &Result<Input, Box<Problem>>) -> Read<W::Outcome> {
        let source = input.as_ref().map_err(Clone::clone).and_then(Input::source);
        let source = match source {
            Ok(source) => source,
            Err(problem) => return Read::new(Err(problem)),
        };
        let (source, change) = match self.fixing.is_wanted() {
            true => self.fixed(source),
            false => (source, None),
        };
        Read { change, ..self.documents(&source) }
    }

    fn documents(&self, source: &Arc<Source>) -> Read<W::Outcome> {
        let documents = match input::documents_of(source) {
            Ok(documents) => documents,
            Err(problem) => return Read::new(Err(problem)),
        };
        let mut read = Read::new(Ok(source.clone()));
        let mut file = Policy::file(self.config, source);
        let mut takes_all = self.work.finds_all();
        for document in documents {
            if self.work.takes(&document.value) {
                let mut done = Done::new(self.work.outcome(document));
                done.findings = file.apply(done.findings);
                read.done.push(done);
                continue;
            }
            takes_all = false;
            let kind = document.value.get("kind").and_then(Value::as_str);
            read.kinds.extend(kind.map(str::to_owned));
        }
        // Other commands may find what is ignored in other documents.
        if takes_all {
            read.unused = file.unused(|rule| !is_of_requests(rule) && !is_of_suites(rule));
        }
        read
    }

    /// Makes the safe edits of a file, until there are no more.
    fn fixed(&self, source: Arc<Source>) -> (Arc<Source>, Option<Change>) {
        let (mut now, mut edits) = (source.clone(), 0);
        for _ in 0..MAX_ROUNDS {
            let documents = input::documents_of(&now).unwrap_or_default().into_iter();
            let documents = documents.filter(|document| self.work.takes(&document.value));
            let findings = documents.flat_map(|document| self.work.outcome(document).findings());
            let mut file = Policy::file(self.config, &now);
            let Some(fixed) = fix(&now, &file.apply(findings.collect())) else { break };
            edits += fixed.edits.len();
            now = Arc::new(source.with_text(fixed.text));
        }
        let change = (edits > 0).then(|| Change { before: source, after: now.clone(), edits });
        (now, change)
    }
}

/// A run under way.
struct Run<'r, E> {
    fixing: Fixing,
    policy: Policy<'r>,
    end: End,
    /// The things that are reported only once.
    reported: BTreeSet<String>,
    emit: E,
}

impl<E> Run<'_, E> {
    fn file<O: Outcome>(&mut self, file: Read<O>) -> io::Result<()>
    where
        E: FnMut(Event<O>) -> io::Result<()>,
    {
        self.end.summary.files += 1;
        if let Some(change) = file.change {
            match self.fixing.finish(&change)? {
                Ok(status) => self.end.status = self.end.status.max(status),
                Err(problem) => return self.done(Done::failed(problem)),
            }
        }
        match file.source {
            Ok(source) => self.policy.read(source.name()),
            Err(problem) => return self.done(Done::failed(problem)),
        }
        for kind in file.kinds {
            if !self.end.others.kinds.contains(&kind) {
                self.end.others.kinds.push(kind);
            }
        }
        for done in file.done {
            self.end.summary.objects += 1;
            self.done(done)?;
        }
        self.findings(file.unused)
    }

    fn done<O: Outcome>(&mut self, mut done: Done<O>) -> io::Result<()>
    where
        E: FnMut(Event<O>) -> io::Result<()>,
    {
        self.end.others.is_all = false;
        if let Some(thing) = done.outcome.problem().and_then(|problem| problem.once.clone()) {
            done.is_reported = !self.reported.insert(thing);
        }
        self.policy.leave_new(&mut done.findings);
        self.end.status = self.end.status.max(done.status());
        if !done.is_reported {
            self.end.summary.add(&done.findings);
        }
        if !self.fixing.diff {
            return (self.emit)(Event::Done(done));
        }
        if let Some(problem) = done.outcome.problem().filter(|_| !done.is_reported) {
            report::problem(problem);
        }
        Ok(())
    }

    fn findings<O>(&mut self, mut findings: Vec<Finding>) -> io::Result<()>
    where
        E: FnMut(Event<O>) -> io::Result<()>,
    {
        self.policy.leave_new(&mut findings);
        if self.fixing.diff || findings.is_empty() {
            return Ok(());
        }
        self.end.summary.add(&findings);
        (self.emit)(Event::Findings(findings))
    }

    fn finish<O>(self) -> io::Result<End>
    where
        E: FnMut(Event<O>) -> io::Result<()>,
    {
        let Run { policy, fixing, mut end, mut emit, .. } = self;
        let (gone, status) = policy.finish();
        end.status = end.status.max(status);
        if !gone.is_empty() && !fixing.diff {
            end.summary.add(&gone);
            emit(Event::Findings(gone))?;
        }
        Ok(end)
    }
}
