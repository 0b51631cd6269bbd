//! A storage in memory.

use std::sync::Arc;

use tokio::sync::watch;

use super::history::{History, HistoryLimits, Snapshot};
use super::shared::{Shared, State};
use super::watch::MemoryWatch;
use super::{
    Collection, Listing, Mismatch, Object, Range, Revision, RevisionError, Storage, Watch, Write,
};

/// A storage in memory. Clones are the same storage; [`MemoryStorage::fork`] makes another one.
///
/// ```
/// use billhook_apiserver::storage::{Collection, MemoryStorage, Range, Storage, Write};
///
/// let storage = MemoryStorage::default();
/// let foos = Collection::new("example.com", "foos");
/// let created = storage.write(&foos, "default/a", Write::create("{}"))?;
///
/// let fork = storage.fork();
/// fork.write(&foos, "default/a", Write::delete(created))?;
/// assert_eq!(fork.list(&foos, Range::default()).objects.len(), 0);
/// assert_eq!(fork.list_at(&foos, Range::default(), created)?.objects.len(), 1);
/// assert_eq!(storage.list(&foos, Range::default()).objects.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryStorage {
    shared: Arc<Shared>,
}

impl MemoryStorage {
    /// Creates an empty storage that remembers so much of the past.
    pub fn with_history(limits: HistoryLimits) -> Self {
        MemoryStorage { shared: Arc::new(Shared::new(limits, Arc::default())) }
    }

    /// Creates another storage with the same content and history, in no time whatever its size.
    /// Neither notices later writes to the other.
    pub fn fork(&self) -> Self {
        let shared = Shared::new(self.shared.limits, self.shared.state());
        MemoryStorage { shared: Arc::new(shared) }
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
}

impl Storage for MemoryStorage {
    fn revision(&self) -> Revision {
        self.shared.state().revision
    }

    fn get(&self, collection: &Collection, key: &str) -> Option<Object> {
        self.shared.state().collection(collection)?.get(key).cloned()
    }

    fn list(&self, collection: &Collection, range: Range<'_>) -> Listing {
        let state = self.shared.state();
        let listed = state.collection(collection).map(|history| history.list(range));
        Listing::new(state.revision, listed.unwrap_or_default())
    }

    fn list_at(
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

    fn write(
        &self,
        collection: &Collection,
        key: &str,
        write: Write,
    ) -> Result<Revision, Mismatch> {
        let writing = self.shared.begin_write();
        let mut state = State::clone(&self.shared.state());
        state.revision = state.revision.saturating_add(1);
        let mut history = state.collection(collection).cloned().unwrap_or_else(History::new);
        let revision = state.revision;
        let bytes = history.write(key, write, revision)?;
        state.log(collection, history, bytes, &self.shared.limits);
        self.shared.publish(state);
        drop(writing);
        if let Some(waker) = self.shared.wakers().get(collection) {
            waker.send_replace(revision);
        }
        Ok(revision)
    }

    fn watch(
        &self,
        collection: &Collection,
        prefix: &str,
        after: Revision,
    ) -> Result<Box<dyn Watch>, RevisionError> {
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
            history.check_kept(after)?;
        }
        let storage = Arc::downgrade(&self.shared);
        Ok(Box::new(MemoryWatch::new(storage, collection.clone(), prefix, after, woken)))
    }

    fn compact(&self, revision: Revision) {
        let writing = self.shared.begin_write();
        let mut state = State::clone(&self.shared.state());
        let revision = revision.min(state.revision);
        state.compacted = state.compacted.max(revision);
        let names: Vec<Collection> = state.collections.keys().cloned().collect();
        for name in names {
            state.compact(&name, revision);
        }
        self.shared.publish(state);
        drop(writing);
    }
}
