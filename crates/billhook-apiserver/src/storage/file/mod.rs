//! A backend in a file, of redb.

mod sums;
mod tables;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use self::tables::File;
use self::writer::{Job, Tail, work};
use super::backend::{Advance, Backend, BackendError, Commit, CommitError, Loaded};
use super::{Collection, Object, Revision, Storage};
use crate::future::BoxFuture;

/// Keeps objects in a file, a database of redb. Every write that is acknowledged is on the disk; all
/// writes that wait share one sync. One process at a time can open a file, for one storage.
///
/// While a file is closed, the sums of its pages are beside it, in one whose name ends with `.sums`. With them
/// it is opened sooner: they are compared, where otherwise the database checks all pages, as it
/// does after a process was killed. They may be left out of a copy, or removed.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("billhook-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("data");
/// use billhook_apiserver::Server;
/// use billhook_apiserver::storage::Redb;
///
/// let server = Server::builder().backend(Redb::open(&file)?).build().await?;
/// server.load_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}").await?;
/// server.close().await?;
///
/// let server = Server::builder().backend(Redb::open(&file)?).build().await?;
/// assert!(server.dump().await?.contains("name: a"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(()) }
/// ```
pub struct Redb {
    jobs: mpsc::Sender<Job>,
    tail: Arc<Tail>,
    writer: Option<JoinHandle<()>>,
}

impl fmt::Debug for Redb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redb").finish_non_exhaustive()
    }
}

impl Drop for Redb {
    fn drop(&mut self) {
        // Without a sender the writer ends, and closes the file.
        self.jobs = mpsc::channel().0;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// How many changes a file remembers, beside its objects.
const MAX_HISTORY: u64 = 100_000;

/// The state of a file, as it was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReport {
    /// The version of the format.
    pub format: u64,
    /// The revision of the newest write.
    pub revision: Revision,
    /// The revision before which the history is forgotten.
    pub compacted: Revision,
    /// How many objects there are.
    pub objects: u64,
    /// How many changes are kept, those that objects are at included.
    pub changes: u64,
}

impl Redb {
    /// Opens a file, or creates it. It remembers the last 100,000 changes.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written, is open in another process, is damaged, or of a newer
    /// release.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, BackendError> {
        Redb::with_history(path, MAX_HISTORY)
    }

    /// [`Redb::open`] with a history of so many changes.
    ///
    /// # Errors
    ///
    /// As [`Redb::open`].
    pub fn with_history(path: impl AsRef<Path>, changes: u64) -> Result<Self, BackendError> {
        let file = tables::guard(|| File::open_or_create(path.as_ref()))?;
        let tail = Arc::new(Tail::new(file.newest()));
        let (jobs, queue) = mpsc::channel();
        let of_writer = Arc::clone(&tail);
        let writer = thread::Builder::new()
            .name("billhook-data".to_owned())
            .spawn(move || work(file, &queue, &of_writer, changes))
            .map_err(|error| BackendError::Failed(error.to_string()))?;
        Ok(Redb { jobs, tail, writer: Some(writer) })
    }

    /// Checks a file: every page, and that objects and changes fit each other.
    ///
    /// # Errors
    ///
    /// As [`Redb::open`], but a file that is not there is not created.
    pub fn check(path: impl AsRef<Path>) -> Result<FileReport, BackendError> {
        tables::guard(|| File::open(path.as_ref())?.check())
    }

    /// Makes a file as small as its content. Returns whether it has changed.
    ///
    /// # Errors
    ///
    /// As [`Redb::check`].
    pub fn compact_file(path: impl AsRef<Path>) -> Result<bool, BackendError> {
        tables::guard(|| File::open(path.as_ref())?.give_back())
    }

    /// Removes a file, and its sums.
    ///
    /// # Errors
    ///
    /// If the file cannot be removed.
    pub fn remove_file(path: impl AsRef<Path>) -> Result<(), BackendError> {
        let _ = std::fs::remove_file(sums::path_of_sums(path.as_ref()));
        std::fs::remove_file(path).map_err(|error| BackendError::Failed(error.to_string()))
    }

    /// Returns the objects of a file, by collection and key.
    ///
    /// # Errors
    ///
    /// As [`Redb::check`].
    pub fn export(path: impl AsRef<Path>) -> Result<Vec<(Collection, Vec<Object>)>, BackendError> {
        let loaded = tables::guard(|| File::open(path.as_ref())?.load())?;
        Storage::of_loaded(loaded).map(|storage| storage.objects())
    }

    /// Hands a job to the writer, and waits for its answer.
    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.jobs.send(job(answer)).ok()?;
        answered.await.ok()
    }
}

/// The text of a writer that is gone.
const CLOSED: &str = "the data file is closed";

fn closed() -> BackendError {
    BackendError::Failed(CLOSED.to_owned())
}

impl Backend for Redb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        Box::pin(async { self.ask(Job::Load).await.unwrap_or_else(|| Err(closed())) })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>> {
        Box::pin(async {
            let committed = self.ask(|answer| Job::Commit(commit, answer)).await;
            committed.unwrap_or_else(|| Err(CommitError::Unknown(CLOSED.to_owned())))
        })
    }

    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>> {
        Box::pin(async move { self.tail.after(after).await.map(Advance::to_last) })
    }

    fn compact(&self, revision: Revision) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            let compacted = self.ask(|answer| Job::Compact(revision, answer)).await;
            compacted.unwrap_or_else(|| Err(closed()))
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async { self.ask(Job::Close).await.unwrap_or_else(|| Err(closed())) })
    }
}

/// A lock that is taken whatever became of those who had it.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
