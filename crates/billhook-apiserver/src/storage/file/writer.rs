//! The thread that writes a file: all commits that wait become one transaction.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use super::lock;
use super::tables::{BatchError, File, guard};
use crate::storage::Revision;
use crate::storage::backend::{BackendError, Change, Commit, CommitError, Loaded};

type Answer<T> = oneshot::Sender<T>;

/// A job of the writer, and where its answer goes.
pub(super) enum Job {
    Load(Answer<Result<Loaded, BackendError>>),
    Commit(Commit, Answer<Result<Revision, CommitError>>),
    Compact(Revision, Answer<Result<(), BackendError>>),
    Close(Answer<Result<(), BackendError>>),
}

/// The changes that were written and not yet asked for.
pub(super) struct Tail {
    changes: Mutex<VecDeque<Change>>,
    newest: watch::Sender<Revision>,
}

impl Tail {
    pub(super) fn new(newest: Revision) -> Self {
        Tail { changes: Mutex::default(), newest: watch::channel(newest).0 }
    }

    fn push(&self, changes: Vec<Change>) {
        if let Some(newest) = changes.last().map(|change| change.revision) {
            lock(&self.changes).extend(changes);
            self.newest.send_replace(newest);
        }
    }

    /// Waits for changes after a revision. Those before it are not asked for again.
    pub(super) async fn after(&self, after: Revision) -> Result<Vec<Change>, BackendError> {
        let waited = self.newest.subscribe().wait_for(|newest| *newest > after).await.map(drop);
        waited.map_err(|error| BackendError::Failed(error.to_string()))?;
        let mut changes = lock(&self.changes);
        while changes.front().is_some_and(|change| change.revision <= after) {
            changes.pop_front();
        }
        match changes.front() {
            Some(first) if first.revision == after + 1 => Ok(changes.iter().cloned().collect()),
            _ => Err(BackendError::Compacted(after)),
        }
    }
}

/// How many commits become one transaction, and how many bytes, at most.
const MAX_BATCH: (usize, usize) = (4096, 16 << 20);

/// Does all jobs, until no more can come.
pub(super) fn work(file: File, jobs: &Receiver<Job>, tail: &Tail, history: u64) {
    let mut writer =
        Writer { path: file.path().to_owned(), newest: file.newest(), file: Some(file) };
    let mut next = jobs.recv().ok();
    let mut last = (1, Duration::ZERO);
    while let Some(job) = next.take() {
        match job {
            Job::Commit(commit, answer) => {
                let (commits, answers, other) = batch(jobs, commit, answer, last);
                let (count, begin) = (commits.len(), Instant::now());
                writer.commit(commits, answers, tail, history);
                last = (count, begin.elapsed());
                next = other;
            }
            Job::Load(answer) => {
                let loaded = writer.with_file(tail, File::load);
                let _ = answer.send(loaded);
            }
            Job::Compact(revision, answer) => {
                let compacted = writer.with_file(tail, |file| file.compact(revision));
                let _ = answer.send(compacted);
            }
            Job::Close(answer) => {
                let _ = answer.send(writer.close());
                return;
            }
        }
        if next.is_none() {
            next = jobs.recv().ok();
        }
    }
    drop(writer.close());
}

type Answers = Vec<Answer<Result<Revision, CommitError>>>;

/// Which part of the time of a transaction is spent waiting for more commits.
const WAIT: u32 = 4;

/// Takes the commits that wait, up to the first other job. Those who were answered together are likely to
/// commit again: as many as there were in the last transaction are waited for, a part of the time that
/// it took, lest they miss this one and wait for all of it.
fn batch(
    jobs: &Receiver<Job>,
    first: Commit,
    answer: Answer<Result<Revision, CommitError>>,
    (count, took): (usize, Duration),
) -> (Vec<Commit>, Answers, Option<Job>) {
    let size = |commit: &Commit| commit.text.as_ref().map_or(0, bytes::Bytes::len);
    let deadline = Instant::now() + took / WAIT;
    let mut bytes = size(&first);
    let (mut commits, mut answers) = (vec![first], vec![answer]);
    while commits.len() < MAX_BATCH.0 && bytes < MAX_BATCH.1 {
        let job = match commits.len() < count {
            true => jobs.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
            false => jobs.try_recv().ok(),
        };
        match job {
            Some(Job::Commit(commit, answer)) => {
                bytes += size(&commit);
                commits.push(commit);
                answers.push(answer);
            }
            other => return (commits, answers, other),
        }
    }
    (commits, answers, None)
}

/// A file that is opened again after it has failed.
struct Writer {
    path: std::path::PathBuf,
    /// The revision up to which changes were handed on.
    newest: Revision,
    file: Option<File>,
}

impl Writer {
    fn commit(&mut self, commits: Vec<Commit>, answers: Answers, tail: &Tail, history: u64) {
        let failure = match self.file(tail) {
            Err(error) => CommitError::Failed(error.to_string()),
            Ok(file) => match guard(|| Ok(file.commit(commits, history))) {
                Ok(Ok(batch)) => {
                    let newest = batch.changes.last().map(|change| change.revision);
                    self.newest = newest.unwrap_or(self.newest);
                    tail.push(batch.changes);
                    for (answer, result) in answers.into_iter().zip(batch.results) {
                        let _ = answer.send(result);
                    }
                    return;
                }
                Ok(Err(BatchError::Failed(why))) => CommitError::Failed(why),
                Ok(Err(BatchError::Unknown(why))) => CommitError::Unknown(why),
                Err(error) => CommitError::Unknown(error.to_string()),
            },
        };
        if let Some(file) = self.file.take() {
            file.distrust();
        }
        for answer in answers {
            let _ = answer.send(Err(failure.clone()));
        }
        // What was written all the same is handed on as soon as the file can be read.
        drop(self.file(tail));
    }

    /// Closes the file. What was acknowledged is in it in any case.
    fn close(&mut self) -> Result<(), BackendError> {
        let file = self.file.take();
        guard(|| {
            drop(file);
            Ok(())
        })
    }

    /// Returns the file, which is opened again if it was given up.
    fn file(&mut self, tail: &Tail) -> Result<&mut File, BackendError> {
        let opened = match self.file.take() {
            Some(file) => file,
            None => {
                let opened = guard(|| File::open(&self.path))?;
                tail.push(guard(|| opened.changes_after(self.newest))?);
                self.newest = opened.newest();
                opened
            }
        };
        Ok(self.file.insert(opened))
    }

    /// Works with the file. A panic is a failure.
    fn with_file<T>(
        &mut self,
        tail: &Tail,
        work: impl FnOnce(&mut File) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        let file = self.file(tail)?;
        let done = guard(|| work(file));
        if done.is_err() {
            file.distrust();
        }
        done
    }
}
