//! A storage with a backend: its writes, and the changes that come back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::backend::{Advance, Backend, BackendError, Change, Commit, CommitError};
use super::shared::Shared;
use super::{Collection, Event, Mismatch, Object, Range, Revision, WriteError};

/// How long a write waits for its backend, and to come back from it. What takes longer may have been
/// made.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// How long to wait before a backend that has failed is asked again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));

/// The text of a write whose outcome is unknown, as the server has it (ES-60).
const TIMED_OUT: &str = "etcdserver: request timed out";

/// The backend of a storage.
#[derive(Debug)]
pub(super) struct Durable {
    backend: Arc<dyn Backend>,
    runtime: Handle,
    /// The revision up to which all changes have come back and were taken over.
    arrived: watch::Sender<Revision>,
    /// How many writes have failed, or may have.
    failures: AtomicU64,
    /// Whether a write was given up that may still come back.
    is_open: AtomicBool,
    /// Why the changes do not come any more.
    broken: OnceLock<String>,
    feed: OnceLock<AbortHandle>,
}

impl Drop for Durable {
    fn drop(&mut self) {
        if let Some(feed) = self.feed.get() {
            feed.abort();
        }
    }
}

impl Durable {
    pub(super) fn new(backend: Arc<dyn Backend>, runtime: Handle, arrived: Revision) -> Self {
        Durable {
            backend,
            runtime,
            arrived: watch::channel(arrived).0,
            failures: AtomicU64::new(0),
            is_open: AtomicBool::new(false),
            broken: OnceLock::new(),
            feed: OnceLock::new(),
        }
    }

    pub(super) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.get().map(String::as_str)
    }

    /// Says why nothing can be served any more.
    pub(super) fn give_up(&self, why: String) {
        self.broken.get_or_init(|| why);
    }

    /// Begins to take over changes.
    pub(super) fn start(self: &Arc<Self>, shared: &Arc<Shared>) {
        self.feed.get_or_init(|| {
            let feed = feed(Arc::downgrade(shared), Arc::downgrade(self));
            self.runtime.spawn(feed).abort_handle()
        });
    }

    /// Makes a write and waits until it has come back.
    pub(super) async fn write(
        &self,
        shared: &Shared,
        commit: Commit,
    ) -> Result<Revision, WriteError> {
        let written = tokio::time::timeout(MAX_WAIT, self.commit(shared, commit)).await;
        let written = written.unwrap_or_else(|_| Err(WriteError::Unknown(TIMED_OUT.to_owned())));
        if let Err(WriteError::Failed(_) | WriteError::Unknown(_)) = &written {
            self.failures.fetch_add(1, Ordering::Relaxed);
            self.is_open.store(true, Ordering::Release);
            shared.write_failed();
        }
        written
    }

    async fn commit(&self, shared: &Shared, commit: Commit) -> Result<Revision, WriteError> {
        if let Some(why) = self.broken() {
            return Err(WriteError::Failed(why.to_owned()));
        }
        let (collection, key) = (commit.collection.clone(), commit.key.clone());
        let (expected, begun) = (commit.expected, shared.state().revision);
        match self.backend.commit(commit).await {
            Ok(revision) if revision <= begun => {
                let why = format!("the backend gives a write revision {revision} again");
                Err(WriteError::Unknown(why))
            }
            Ok(revision) => {
                self.wait_for(revision).await?;
                Ok(revision)
            }
            Err(CommitError::Mismatch { revision }) => {
                self.wait_for(revision).await?;
                let found = shared.get(&collection, &key);
                // What was in the way of a creation may have gone since.
                if expected.is_some() && found.as_ref().map(|found| found.modified) == expected {
                    let why = "the backend refuses a write for the revision that is stored";
                    return Err(WriteError::Failed(why.to_owned()));
                }
                Err(Mismatch { found }.into())
            }
            Err(CommitError::Failed(why)) => Err(WriteError::Failed(why)),
            Err(CommitError::TooLarge(why)) => Err(WriteError::TooLarge(why)),
            Err(CommitError::Unknown(why)) => Err(WriteError::Unknown(why)),
        }
    }

    /// Takes over changes after a revision. Fails if they are out of order.
    fn take_over(
        &self,
        shared: &Shared,
        after: &mut Revision,
        advance: Advance,
    ) -> Result<(), String> {
        let Advance { revision, changes } = advance;
        for changes in changes.chunk_by(|a, b| a.revision == b.revision) {
            let revision = changes.first().map_or(0, |change| change.revision);
            if revision <= *after {
                return Err(format!("revision {revision} is out of order"));
            }
            *after = revision;
            shared.apply(changes);
        }
        if revision > *after {
            *after = revision;
            shared.advance(revision);
        }
        self.has_arrived(shared, *after);
        Ok(())
    }

    /// Loads everything, after changes that are forgotten.
    async fn reload(&self, shared: &Shared, after: &mut Revision) -> Result<(), BackendError> {
        let loaded = self.backend.load().await?;
        let revision = loaded.revision;
        if revision < *after {
            let why = format!("the backend is at revision {revision}, and was at {after}");
            return Err(BackendError::Failed(why));
        }
        shared.reload(loaded)?;
        *after = revision;
        self.has_arrived(shared, revision);
        Ok(())
    }

    fn has_arrived(&self, shared: &Shared, revision: Revision) {
        self.arrived.send_replace(revision);
        if self.is_open.swap(false, Ordering::AcqRel) {
            shared.write_failed();
        }
    }

    /// Waits until all has arrived that any writer has written by now. Returns whether there are others.
    pub(super) async fn catch_up(&self) -> Result<bool, BackendError> {
        let timed_out = || BackendError::Failed(TIMED_OUT.to_owned());
        let caught_up = async {
            let Some(newest) = self.backend.current_revision().await? else { return Ok(false) };
            self.wait_for(newest).await.map_err(|_| timed_out())?;
            Ok(true)
        };
        tokio::time::timeout(MAX_WAIT, caught_up).await.unwrap_or_else(|_| Err(timed_out()))
    }

    /// Returns the events of a collection after a revision, up to another one, from the objects that there
    /// were and the changes since then.
    pub(super) async fn events_of(
        &self,
        collection: &Collection,
        after: Revision,
        until: Revision,
    ) -> Result<Vec<Event>, BackendError> {
        let read = async {
            let past = self.backend.list_at(collection, Range::default(), after).await?;
            let objects = past.objects.into_iter().filter_map(Object::of_change);
            let mut objects: BTreeMap<_, _> =
                objects.map(|object| (Arc::clone(&object.key), object)).collect();
            let changes = self.backend.changes_of(collection, after, until).await?;
            let event = |change: Change| {
                let (revision, key) = (change.revision, Arc::from(change.key.as_str()));
                let after = Object::of_change(change);
                let before = match after.clone() {
                    Some(object) => objects.insert(key, object),
                    None => objects.remove(&key),
                };
                Event { revision, before, after }
            };
            Ok(changes.into_iter().map(event).collect())
        };
        let timed_out = || BackendError::Failed(TIMED_OUT.to_owned());
        tokio::time::timeout(MAX_WAIT, read).await.unwrap_or_else(|_| Err(timed_out()))
    }

    async fn wait_for(&self, revision: Revision) -> Result<(), WriteError> {
        let arrived =
            self.arrived.subscribe().wait_for(|arrived| *arrived >= revision).await.is_ok();
        if arrived { Ok(()) } else { Err(WriteError::Unknown(TIMED_OUT.to_owned())) }
    }
}

/// Takes over the changes of a backend, as long as its storage is there.
async fn feed(shared: Weak<Shared>, durable: Weak<Durable>) {
    let open = || Some((shared.upgrade()?, durable.upgrade()?));
    let Some((mut after, backend)) =
        open().map(|(shared, durable)| (shared.state().revision, Arc::clone(&durable.backend)))
    else {
        return;
    };
    let mut pause = PAUSES.0;
    loop {
        let changes = backend.changes(after).await;
        let Some((shared, durable)) = open() else { return };
        match changes {
            Ok(advance) if advance.revision > after => {
                if let Err(why) = durable.take_over(&shared, &mut after, advance) {
                    durable.give_up(why);
                    return;
                }
                pause = PAUSES.0;
                continue;
            }
            Err(BackendError::Compacted(_))
                if durable.reload(&shared, &mut after).await.is_ok() =>
            {
                pause = PAUSES.0;
                continue;
            }
            Ok(_) | Err(_) => {}
        }
        drop((shared, durable));
        tokio::time::sleep(pause).await;
        pause = PAUSES.1.min(pause * 2);
    }
}
