//! A backend that fails, blocks, and loses its tail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use billhook_apiserver::BoxFuture;
use billhook_apiserver::storage::{
    Advance, Backend, BackendError, Change, Commit, CommitError, Loaded, Revision,
};
use tokio::sync::watch;

use super::log::Log;

/// How a [`Faulty`] treats commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Works,
    /// Writes nothing.
    Fails,
    /// Writes every second commit only, the second one first.
    FailsEverySecond,
    /// Writes, but the answer is lost.
    LosesAnswers,
    /// Waits for another mode, then writes.
    Blocks,
    /// Acknowledges, and writes nothing: no backend may do so.
    LosesWrites,
}

/// A [`Log`] with faults.
#[derive(Debug)]
pub(crate) struct Faulty {
    log: Log,
    mode: watch::Sender<Mode>,
    /// Whether changes come back.
    pub(crate) tells: watch::Sender<bool>,
    commits: AtomicUsize,
}

impl Faulty {
    pub(crate) fn new() -> Arc<Self> {
        Faulty::of(Vec::new())
    }

    fn of(changes: Vec<Change>) -> Arc<Self> {
        let (mode, tells) = (watch::channel(Mode::Works).0, watch::channel(true).0);
        Arc::new(Faulty { log: Log::of(changes), mode, tells, commits: AtomicUsize::new(0) })
    }

    /// The backend as it is found after it has lost all changes after a revision.
    pub(crate) fn without_tail(&self, revision: Revision) -> Arc<Self> {
        let mut changes = self.log.changes_after(0);
        changes.truncate(revision as usize);
        Faulty::of(changes)
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// How many commits were asked for.
    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    pub(crate) fn newest(&self) -> Revision {
        self.log.changes_after(0).len() as Revision
    }
}

impl Backend for Faulty {
    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        match *self.mode.borrow() {
            Mode::Fails => {
                Box::pin(async { Err(BackendError::Failed("the disk is gone".to_owned())) })
            }
            _ => self.log.load(),
        }
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>> {
        Box::pin(async move {
            let commits = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
            let mut modes = self.mode.subscribe();
            let mode = *modes.wait_for(|mode| *mode != Mode::Blocks).await.expect("a mode");
            match mode {
                Mode::Works | Mode::Blocks => self.log.commit(commit).await,
                Mode::FailsEverySecond if commits.is_multiple_of(2) => {
                    self.log.commit(commit).await
                }
                Mode::Fails | Mode::FailsEverySecond => {
                    Err(CommitError::Failed("the disk is full".to_owned()))
                }
                Mode::LosesAnswers => {
                    self.log.commit(commit).await?;
                    Err(CommitError::Unknown("etcdserver: request timed out".to_owned()))
                }
                Mode::LosesWrites => Ok(self.newest()),
            }
        })
    }

    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>> {
        Box::pin(async move {
            let changes = self.log.changes(after).await?;
            self.tells.subscribe().wait_for(|tells| *tells).await.expect("the backend is there");
            match *self.mode.borrow() {
                Mode::Fails => Err(BackendError::Failed("the disk is gone".to_owned())),
                _ => Ok(changes),
            }
        })
    }
}
