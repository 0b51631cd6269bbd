//! The state that a storage, its watches and its forks share.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

use bytes::Bytes;
use rpds::RedBlackTreeMapSync;
use tokio::sync::watch;

use super::backend::{BackendError, Change, Loaded};
use super::history::{History, HistoryLimits};
use super::{Collection, Event, Mismatch, Object, Range, Revision, Write};

/// Acts upon the changes of a storage.
pub(crate) trait Observer: Send + Sync {
    /// An object has changed, and `before` was stored until then. It must not wait. Changes that are made
    /// in memory may come here in any order.
    fn changed(&self, collection: &Collection, key: &str, before: Option<&Object>);

    /// A write has failed, or may have: what follows from it may not have been done.
    fn write_failed(self: Arc<Self>);
}

#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) limits: HistoryLimits,
    observer: OnceLock<Weak<dyn Observer>>,
    /// Held while a write is made; readers do not ask for it.
    writing: Mutex<()>,
    /// The newest state. The lock is held only to copy or replace the pointer.
    state: RwLock<Arc<State>>,
    /// Wakes the watches of a collection.
    wakers: Mutex<HashMap<Collection, watch::Sender<Revision>>>,
    /// Wakes those who follow all collections.
    waker: watch::Sender<Revision>,
}

/// Everything at one revision.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) revision: Revision,
    /// The revision before which all is forgotten.
    pub(super) compacted: Revision,
    /// The newest change of any collection that is forgotten.
    forgotten: Revision,
    pub(super) collections: RedBlackTreeMapSync<Collection, History>,
    /// The collections of all changes that are remembered.
    log: RedBlackTreeMapSync<Revision, Collection>,
    /// The bytes that only the logs of the collections keep.
    log_bytes: usize,
}

/// How many changes of all collections are remembered at most.
const MAX_EVENTS: usize = 100_000;

impl Default for State {
    fn default() -> Self {
        State {
            revision: 0,
            compacted: 0,
            forgotten: 0,
            collections: RedBlackTreeMapSync::new_sync(),
            log: RedBlackTreeMapSync::new_sync(),
            log_bytes: 0,
        }
    }
}

impl State {
    pub(super) fn collection(&self, name: &Collection) -> Option<&History> {
        self.collections.get(name)
    }

    /// Takes over what a backend has stored. Fails if it is out of order.
    pub(super) fn load(loaded: Loaded, limits: &HistoryLimits) -> Result<Self, BackendError> {
        loaded.check()?;
        let Loaded { revision, compacted, changes } = loaded;
        let mut changes = changes.into_iter().peekable();
        let mut collections = BTreeMap::<Collection, History>::new();
        while let Some(change) = changes.next_if(|change| change.revision <= compacted) {
            let history = collections.entry(change.collection).or_insert_with(History::new);
            if let Some(text) = change.text {
                history.load(&change.key, text, change.created, change.revision);
            }
        }
        let mut state = State { compacted, ..State::default() };
        for (name, mut history) in collections {
            history.begin_at(compacted);
            state.collections.insert_mut(name, history);
        }
        for Change { revision, collection, key, text, .. } in changes {
            let known = state.collection(&collection);
            let before = known.and_then(|history| history.get(&key)).cloned();
            state.revision = revision;
            state.put(&collection, &key, before, text, limits);
        }
        state.revision = revision;
        Ok(state)
    }

    /// Changes an object, at the newest revision.
    pub(super) fn put(
        &mut self,
        collection: &Collection,
        key: &str,
        before: Option<Object>,
        text: Option<Bytes>,
        limits: &HistoryLimits,
    ) {
        let mut history = self.collection(collection).cloned().unwrap_or_else(History::new);
        let bytes = history.put(key, before, text, self.revision);
        self.log(collection, history, bytes, limits);
    }

    /// Takes over a collection with a new change, which keeps some bytes, and forgets others.
    fn log(&mut self, name: &Collection, history: History, bytes: usize, limits: &HistoryLimits) {
        let is_long = history.events() > limits.events;
        self.collections.insert_mut(name.clone(), history);
        self.log.insert_mut(self.revision, name.clone());
        self.log_bytes = self.log_bytes.saturating_add(bytes);
        if is_long {
            self.drop_first(name);
        }
        while self.log_bytes > limits.bytes || self.log.size() > MAX_EVENTS {
            let Some((_, oldest)) = self.log.first() else { break };
            let oldest = oldest.clone();
            self.drop_first(&oldest);
        }
    }

    /// Forgets the first change of a collection.
    fn drop_first(&mut self, name: &Collection) {
        let Some(mut history) = self.collections.get(name).cloned() else { return };
        if let Some((revision, bytes)) = history.drop_first() {
            self.forget(revision, bytes);
        }
        self.collections.insert_mut(name.clone(), history);
    }

    /// Forgets that a change of a collection is remembered.
    fn forget(&mut self, revision: Revision, bytes: usize) {
        self.log.remove_mut(&revision);
        self.log_bytes = self.log_bytes.saturating_sub(bytes);
        self.forgotten = self.forgotten.max(revision);
    }

    /// Returns the objects of all collections.
    pub(super) fn objects(&self) -> Vec<(Collection, Vec<Object>)> {
        let collections = self.collections.iter();
        let all =
            collections.map(|(name, history)| (name.clone(), history.list(Range::default()).0));
        all.collect()
    }

    /// Returns the changes of all collections after a revision; `None` if some are forgotten.
    pub(super) fn events_after(&self, seen: Revision) -> Option<Vec<(Collection, Event)>> {
        if seen < self.forgotten.max(self.compacted) {
            return None;
        }
        let later = self.log.range((Bound::Excluded(seen), Bound::Unbounded));
        let event = |(revision, name): (&Revision, &Collection)| {
            let event = self.collection(name)?.next_after(revision.saturating_sub(1))?;
            Some((name.clone(), event.clone()))
        };
        later.map(event).collect()
    }

    /// Forgets the changes of a collection up to a revision.
    pub(super) fn compact(&mut self, name: &Collection, revision: Revision) {
        let Some(mut history) = self.collections.get(name).cloned() else { return };
        while history.first().is_some_and(|first| first <= revision) {
            let Some((first, bytes)) = history.drop_first() else { break };
            self.forget(first, bytes);
        }
        history.begin_at(revision);
        self.collections.insert_mut(name.clone(), history);
    }
}

impl Shared {
    pub(super) fn new(limits: HistoryLimits, state: Arc<State>) -> Self {
        Shared { limits, state: RwLock::new(state), ..Shared::default() }
    }

    pub(super) fn observe(&self, observer: Weak<dyn Observer>) {
        self.observer.get_or_init(|| observer);
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Revision> {
        self.waker.subscribe()
    }

    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn get(&self, collection: &Collection, key: &str) -> Option<Object> {
        self.state().collection(collection)?.get(key).cloned()
    }

    pub(super) fn publish(&self, state: State) {
        let state = Arc::new(state);
        let mut newest = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let replaced = std::mem::replace(&mut *newest, state);
        drop(newest);
        drop(replaced);
    }

    pub(super) fn begin_write(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wakers(&self) -> MutexGuard<'_, HashMap<Collection, watch::Sender<Revision>>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a write in memory, if what it expects is stored.
    pub(super) fn write(
        &self,
        collection: &Collection,
        key: &str,
        write: Write,
    ) -> Result<Revision, Mismatch> {
        let writing = self.begin_write();
        let mut state = State::clone(&self.state());
        let before = state.collection(collection).and_then(|history| history.get(key)).cloned();
        let is_expected = before.as_ref().map(|object| object.modified) == write.expected;
        if !is_expected || (before.is_none() && write.text.is_none()) {
            return Err(Mismatch { found: before });
        }
        state.revision = state.revision.saturating_add(1);
        let revision = state.revision;
        state.put(collection, key, before.clone(), write.text, &self.limits);
        self.publish(state);
        drop(writing);
        self.changed(collection, key, before.as_ref(), revision);
        Ok(revision)
    }

    /// Takes over a change of the backend.
    pub(super) fn apply(&self, change: Change) {
        let Change { revision, collection, key, text, .. } = change;
        let writing = self.begin_write();
        let mut state = State::clone(&self.state());
        let before = state.collection(&collection).and_then(|history| history.get(&key)).cloned();
        state.revision = revision;
        if before.is_some() || text.is_some() {
            state.put(&collection, &key, before.clone(), text, &self.limits);
        }
        self.publish(state);
        drop(writing);
        self.changed(&collection, &key, before.as_ref(), revision);
    }

    /// Lets those know who wait for a change.
    fn changed(&self, of: &Collection, key: &str, before: Option<&Object>, revision: Revision) {
        if let Some(waker) = self.wakers().get(of) {
            waker.send_replace(revision);
        }
        self.waker.send_replace(revision);
        if let Some(observer) = self.observer.get().and_then(Weak::upgrade) {
            observer.changed(of, key, before);
        }
    }

    pub(super) fn write_failed(&self) {
        if let Some(observer) = self.observer.get().and_then(Weak::upgrade) {
            observer.write_failed();
        }
    }

    /// Forgets the history before a revision.
    pub(super) fn compact(&self, revision: Revision) {
        let writing = self.begin_write();
        let mut state = State::clone(&self.state());
        let revision = revision.min(state.revision);
        state.compacted = state.compacted.max(revision);
        let names: Vec<Collection> = state.collections.keys().cloned().collect();
        for name in names {
            state.compact(&name, revision);
        }
        self.publish(state);
        drop(writing);
    }
}
