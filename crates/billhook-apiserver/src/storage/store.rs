//! The storage: objects in memory, over a backend if they are to last.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::Instant;

#[cfg(feature = "redb")]
use super::backend::Loaded;
use super::backend::{Backend, BackendError, Commit, PastObjects};
use super::changes::Changes;
use super::consistency::{difference, run};
use super::durable::Durable;
use super::history::{HistoryLimits, Snapshot};
use super::shared::{Observer, Shared, State};
use super::watch::Watch;
use super::{
    Collection, Event, Listing, Object, PastError, Range, Revision, RevisionError, Write,
    WriteError, end_of,
};

/// How long a read waits for a revision that it asks for, and how often it looks meanwhile (ES-33, ES-44).
const FRESHNESS: Duration = Duration::from_secs(3);
const LOOKS: Duration = Duration::from_millis(100);

/// Keeps objects, with the semantics of etcd: in memory, and in a [`Backend`] if there is one.
/// Clones are the same storage; [`Storage::fork`] makes another one.
///
/// Reads never wait for writes, cannot fail, and each sees one consistent state.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use billhook_apiserver::storage::{Collection, Range, Storage, Write};
///
/// let storage = Storage::default();
/// let foos = Collection::new("example.com", "foos");
/// let created = storage.write(&foos, "default/a", Write::create("{}")).await?;
///
/// let fork = storage.fork();
/// fork.write(&foos, "default/a", Write::delete(created)).await?;
/// assert_eq!(fork.list(&foos, Range::default()).objects.len(), 0);
/// assert_eq!(fork.list_at(&foos, Range::default(), created)?.objects.len(), 1);
/// assert_eq!(storage.list(&foos, Range::default()).objects.len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Storage {
    shared: Arc<Shared>,
    durable: Option<Arc<Durable>>,
}

impl Storage {
    /// Creates an empty storage in memory that remembers so much of the past.
    pub fn with_history(limits: HistoryLimits) -> Self {
        Storage { shared: Arc::new(Shared::new(limits, Arc::default())), durable: None }
    }

    /// Opens a storage over a backend. It takes over changes in the runtime in which it is opened.
    ///
    /// # Errors
    ///
    /// If the backend cannot be loaded, or outside of a runtime of tokio.
    pub async fn open(backend: impl Backend, limits: HistoryLimits) -> Result<Self, BackendError> {
        let storage = Storage::load(backend, limits).await?;
        storage.start();
        Ok(storage)
    }

    /// [`Storage::open`], without taking over changes yet.
    pub(crate) async fn load(
        backend: impl Backend,
        limits: HistoryLimits,
    ) -> Result<Self, BackendError> {
        let runtime =
            Handle::try_current().map_err(|error| BackendError::Failed(error.to_string()))?;
        let state = State::load(backend.load().await?, &limits)?;
        let durable = Durable::new(Arc::new(backend), runtime, state.revision);
        let shared = Arc::new(Shared::new(limits, Arc::new(state)));
        Ok(Storage { shared, durable: Some(Arc::new(durable)) })
    }

    /// Returns a storage in memory of what a backend has stored.
    #[cfg(feature = "redb")]
    pub(super) fn of_loaded(loaded: Loaded) -> Result<Self, BackendError> {
        let limits = HistoryLimits::default();
        let state = State::load(loaded, &limits)?;
        Ok(Storage { shared: Arc::new(Shared::new(limits, Arc::new(state))), durable: None })
    }

    /// Begins to take over the changes of the backend, if there is one.
    pub(crate) fn start(&self) {
        if let Some(durable) = &self.durable {
            durable.start(&self.shared);
            if cfg!(debug_assertions) {
                let compare = run(Arc::downgrade(&self.shared), Arc::downgrade(durable));
                durable.runtime().spawn(compare);
            }
        }
    }

    /// Compares the objects in memory with those that the backend lists at the same revision. Returns the
    /// first difference; `None` if there is none, or no backend (ES-35).
    ///
    /// # Errors
    ///
    /// If the backend cannot list them.
    pub async fn difference_from_backend(&self) -> Result<Option<String>, BackendError> {
        match &self.durable {
            Some(durable) => difference(durable.backend(), &self.shared.state()).await,
            None => Ok(None),
        }
    }

    /// Names the one that acts upon changes, once.
    pub(crate) fn observe(&self, observer: Weak<dyn Observer>) {
        self.shared.observe(observer);
    }

    /// Returns the runtime in which changes are taken over, if there is a backend.
    pub(crate) fn runtime(&self) -> Option<&Handle> {
        self.durable.as_deref().map(Durable::runtime)
    }

    /// Returns how many writes the backend has failed to make.
    pub(crate) fn failures(&self) -> u64 {
        self.durable.as_deref().map_or(0, Durable::failures)
    }

    /// Returns why the storage can no longer follow its backend, if it cannot.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.durable.as_deref()?.broken()
    }

    /// Returns the newest state of all collections, in the order of their names.
    pub fn objects(&self) -> Vec<(Collection, Vec<Object>)> {
        self.shared.state().objects()
    }

    /// Creates another storage with the same content and history, in constant time.
    /// Neither notices later writes to the other. The new one is in memory only.
    #[must_use]
    pub fn fork(&self) -> Self {
        let shared = Shared::new(self.shared.limits, self.shared.state());
        Storage { shared: Arc::new(shared), durable: None }
    }

    /// Forgets the history of a collection that is not used any more, unless it is watched: then it
    /// goes when there is too much of it.
    pub(crate) fn forget(&self, collection: &Collection) {
        let writing = self.shared.begin_write();
        let mut wakers = self.shared.wakers();
        if wakers.get(collection).is_some_and(|waker| waker.receiver_count() > 0) {
            return;
        }
        wakers.remove(collection);
        drop(wakers);
        let mut state = State::clone(&self.shared.state());
        let revision = state.revision;
        state.compact(collection, revision);
        self.shared.publish(state);
        drop(writing);
    }

    /// Returns a collection as it was at a revision, without a copy of it; `None` if that is
    /// forgotten, or nothing was ever written to it.
    pub(crate) fn snapshot(&self, collection: &Collection, at: Revision) -> Option<Snapshot> {
        self.shared.state().collection(collection)?.snapshot(at)
    }

    /// Returns the revision of the newest write.
    pub fn revision(&self) -> Revision {
        self.shared.state().revision
    }

    /// Returns the newest state of an object.
    pub fn get(&self, collection: &Collection, key: &str) -> Option<Object> {
        self.shared.get(collection, key)
    }

    /// Waits until everything is visible that was written by now, by other processes too. Returns
    /// whether the backend has other writers (ES-33).
    ///
    /// # Errors
    ///
    /// If the backend fails, or what was written does not come.
    pub async fn catch_up(&self) -> Result<bool, BackendError> {
        match &self.durable {
            Some(durable) => durable.catch_up().await,
            None => Ok(false),
        }
    }

    /// Fails if the backend cannot be reached; without one never.
    ///
    /// # Errors
    ///
    /// The failure of the backend.
    pub async fn check(&self) -> Result<(), BackendError> {
        match &self.durable {
            Some(durable) => durable.backend().check().await,
            None => Ok(()),
        }
    }

    /// Returns the name of the backend, if there is one.
    pub(crate) fn backend_name(&self) -> Option<&'static str> {
        self.durable.as_deref().map(|durable| durable.backend().name())
    }

    /// Lists the newest state of a collection. It is always there, so that no caller has to decide what
    /// a failure means for the server's own work.
    pub fn list(&self, collection: &Collection, range: Range<'_>) -> Listing {
        let state = self.shared.state();
        let listed = state.collection(collection).map(|history| history.list(range));
        Listing::new(state.revision, listed.unwrap_or_default())
    }

    /// Lists a collection as it was at a revision.
    ///
    /// # Errors
    ///
    /// If the revision is forgotten, or in the future.
    pub fn list_at(
        &self,
        collection: &Collection,
        range: Range<'_>,
        at: Revision,
    ) -> Result<Listing, RevisionError> {
        let state = self.shared.state();
        if at > state.revision {
            return Err(RevisionError::Future { current: state.revision });
        }
        if at < state.compacted {
            return Err(RevisionError::Compacted { oldest: state.compacted });
        }
        let listed = match state.collection(collection) {
            Some(history) => history.list_at(range, at)?,
            None => (Vec::new(), 0),
        };
        Ok(Listing::new(at, listed))
    }

    /// [`Storage::list_at`] of all that any writer has kept: what is forgotten in memory is asked of the
    /// backend, and what is forgotten there is not listed, even if it is still known here (ES-33, ES-50).
    pub(crate) async fn list_past(
        &self,
        collection: &Collection,
        range: Range<'_>,
        at: Revision,
    ) -> Result<Listing, PastError> {
        let backend = self.durable.as_deref().map(Durable::backend);
        let oldest = backend.map_or(0, Backend::compacted);
        if at < oldest {
            return Err(RevisionError::Compacted { oldest }.into());
        }
        let listed = self.list_at(collection, range, at);
        let (Err(forgotten @ RevisionError::Compacted { .. }), Some(backend)) = (&listed, backend)
        else {
            return Ok(listed?);
        };
        match backend.list_at(collection, range, at).await {
            Ok(PastObjects { objects, remaining }) => {
                let objects = objects.into_iter().filter_map(Object::of_change).collect();
                Ok(Listing::new(at, (objects, remaining)))
            }
            Err(BackendError::Compacted(_)) => Err((*forgotten).into()),
            Err(BackendError::Failed(why)) => Err(PastError::Failed(why)),
        }
    }

    /// [`Storage::watch`], with the changes before it that are forgotten in memory and not by the backend.
    pub(crate) async fn watch_past(
        &self,
        collection: &Collection,
        prefix: &str,
        after: Revision,
    ) -> Result<(Vec<Event>, Watch), PastError> {
        let watched = self.watch(collection, prefix, after);
        let (Err(forgotten), Some(durable)) = (&watched, &self.durable) else {
            return Ok((Vec::new(), watched?));
        };
        let newest = self.revision();
        let watch = self.watch(collection, prefix, newest)?;
        let events = durable.events_of(collection, after, newest).await;
        match events {
            Ok(mut events) => {
                events.retain(|event| event.key().starts_with(prefix));
                Ok((events, watch))
            }
            Err(BackendError::Compacted(_)) => Err((*forgotten).into()),
            Err(BackendError::Failed(why)) => Err(PastError::Failed(why)),
        }
    }

    /// Waits until a revision has come that another process may write, or be about to. Returns at once if
    /// there are none.
    ///
    /// # Errors
    ///
    /// As [`Storage::catch_up`].
    pub(crate) async fn reach(&self, revision: Revision) -> Result<(), BackendError> {
        let end = Instant::now() + FRESHNESS;
        while self.catch_up().await? && self.revision() < revision && Instant::now() < end {
            tokio::time::sleep(LOOKS).await;
        }
        Ok(())
    }

    /// Makes a write, if what it expects is stored. Returns its revision, when it is visible. In
    /// memory this never waits.
    ///
    /// # Errors
    ///
    /// If something else is stored, or the backend fails; see [`WriteError`] for what is stored then.
    pub async fn write(
        &self,
        collection: &Collection,
        key: &str,
        write: Write,
    ) -> Result<Revision, WriteError> {
        let Some(durable) = &self.durable else {
            return Ok(self.shared.write(collection, key, write)?);
        };
        let Write { expected, text } = write;
        let commit = Commit { collection: collection.clone(), key: key.to_owned(), expected, text };
        durable.write(&self.shared, commit).await
    }

    /// Watches the objects whose keys begin with `prefix`, from the first change after a revision,
    /// which may be in the future.
    ///
    /// # Errors
    ///
    /// If the changes after the revision are forgotten.
    pub fn watch(
        &self,
        collection: &Collection,
        prefix: &str,
        after: Revision,
    ) -> Result<Watch, RevisionError> {
        let woken = {
            let mut wakers = self.shared.wakers();
            let waker = wakers.entry(collection.clone()).or_insert_with(|| watch::channel(0).0);
            waker.subscribe()
        };
        let state = self.shared.state();
        if after < state.compacted {
            return Err(RevisionError::Compacted { oldest: state.compacted });
        }
        if let Some(history) = state.collection(collection) {
            history.check_kept(end_of(after))?;
        }
        let storage = Arc::downgrade(&self.shared);
        Ok(Watch::new(storage, collection.clone(), prefix, after, woken))
    }

    /// Follows all collections.
    pub fn changes(&self) -> Changes {
        Changes::new(Arc::downgrade(&self.shared), self.shared.subscribe())
    }

    /// Forgets the history before a revision, here and in the backend.
    ///
    /// # Errors
    ///
    /// If the backend fails; then nothing is forgotten here.
    pub async fn compact(&self, revision: Revision) -> Result<(), BackendError> {
        if let Some(durable) = &self.durable {
            durable.backend().compact(revision.min(self.revision())).await?;
        }
        self.shared.compact(revision);
        Ok(())
    }

    /// Closes the backend, if there is one. What was written is there in any case.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn close(&self) -> Result<(), BackendError> {
        match &self.durable {
            Some(durable) => durable.backend().close().await,
            None => Ok(()),
        }
    }
}
