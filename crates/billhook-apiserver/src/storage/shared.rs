//! The state that a storage, its watches and its forks share.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

use bytes::Bytes;
use rpds::RedBlackTreeMapSync;
use tokio::sync::watch;

use super::backend::{BackendError, Change, Loaded};
use super::history::{History, HistoryLimits};
use super::{Collection, Event, Mismatch, Object, Position, Range, Revision, Write, end_of};

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
    log: RedBlackTreeMapSync<Position, Collection>,
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
        let mut collections = BTreeMap::<Collection, Vec<Object>>::new();
        while let Some(change) = changes.next_if(|change| change.revision <= compacted) {
            let objects = collections.entry(change.collection.clone()).or_default();
            objects.extend(Object::of_change(change));
        }
        let mut state = State { compacted, ..State::default() };
        for (name, objects) in collections {
            state.collections.insert_mut(name, History::of(objects, compacted));
        }
        let changes: Vec<Change> = changes.collect();
        for changes in changes.chunk_by(|a, b| a.revision == b.revision) {
            state.apply(changes, limits);
        }
        state.revision = revision;
        Ok(state)
    }

    /// Takes over the changes of one revision. Returns those that change something, each with the object
    /// before it.
    fn apply<'c>(
        &mut self,
        changes: &'c [Change],
        limits: &HistoryLimits,
    ) -> Vec<(&'c Change, Option<Object>)> {
        let mut applied = Vec::new();
        for (number, change) in (0..).zip(changes) {
            let Change { revision, collection, key, text, .. } = change;
            self.revision = *revision;
            let known = self.collection(collection);
            let before = known.and_then(|history| history.get(key)).cloned();
            if before.is_some() || text.is_some() {
                self.put(collection, key, before.clone(), text.clone(), number, limits);
                applied.push((change, before));
            }
        }
        applied
    }

    /// Changes an object, at the newest revision, whose changes are numbered.
    pub(super) fn put(
        &mut self,
        collection: &Collection,
        key: &str,
        before: Option<Object>,
        text: Option<Bytes>,
        number: u32,
        limits: &HistoryLimits,
    ) {
        let mut history = self.collection(collection).cloned().unwrap_or_else(History::new);
        let position = (self.revision, number);
        let bytes = history.put(key, before, text, position);
        let is_long = history.events() > limits.events;
        self.collections.insert_mut(collection.clone(), history);
        self.log.insert_mut(position, collection.clone());
        self.log_bytes = self.log_bytes.saturating_add(bytes);
        if is_long {
            self.drop_first(collection);
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
        if let Some((position, bytes)) = history.drop_first() {
            self.forget(position, bytes);
        }
        self.collections.insert_mut(name.clone(), history);
    }

    /// Forgets that a change of a collection is remembered.
    fn forget(&mut self, position: Position, bytes: usize) {
        self.log.remove_mut(&position);
        self.log_bytes = self.log_bytes.saturating_sub(bytes);
        self.forgotten = self.forgotten.max(position.0);
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
        let later = self.log.range((Bound::Excluded(end_of(seen)), Bound::Unbounded));
        let event = |(position, name): (&Position, &Collection)| {
            Some((name.clone(), self.collection(name)?.at(*position)?.clone()))
        };
        later.map(event).collect()
    }

    /// Returns the keys whose objects are others in a later state, with those of this one.
    fn differences(&self, later: &State) -> Vec<(Collection, Arc<str>, Option<Object>)> {
        let object = |state: &State, name: &Collection, key: &str| {
            state.collection(name).and_then(|history| history.get(key)).cloned()
        };
        let mut differences = Vec::new();
        for (name, objects) in self.objects() {
            for before in objects {
                if object(later, &name, &before.key).as_ref() != Some(&before) {
                    differences.push((name.clone(), Arc::clone(&before.key), Some(before)));
                }
            }
        }
        for (name, objects) in later.objects() {
            for after in objects {
                if object(self, &name, &after.key).is_none() {
                    differences.push((name.clone(), after.key, None));
                }
            }
        }
        differences
    }

    /// Forgets the changes of a collection up to a revision.
    pub(super) fn compact(&mut self, name: &Collection, revision: Revision) {
        let Some(mut history) = self.collections.get(name).cloned() else { return };
        while history.first().is_some_and(|first| first <= end_of(revision)) {
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
        state.put(collection, key, before.clone(), write.text, 0, &self.limits);
        self.publish(state);
        drop(writing);
        self.changed(collection, key, before.as_ref(), revision);
        Ok(revision)
    }

    /// Takes over the changes of one revision of the backend.
    pub(super) fn apply(&self, changes: &[Change]) {
        let writing = self.begin_write();
        let mut state = State::clone(&self.state());
        let applied = state.apply(changes, &self.limits);
        self.publish(state);
        drop(writing);
        for (change, before) in applied {
            self.changed(&change.collection, &change.key, before.as_ref(), change.revision);
        }
    }

    /// Takes over that nothing has changed up to a revision.
    pub(super) fn advance(&self, revision: Revision) {
        let writing = self.begin_write();
        let mut state = State::clone(&self.state());
        state.revision = state.revision.max(revision);
        self.publish(state);
        drop(writing);
    }

    /// Takes over what a backend has stored in place of everything, where changes were missed: the past is
    /// forgotten.
    pub(super) fn reload(&self, loaded: Loaded) -> Result<(), BackendError> {
        let state = State::load(loaded, &self.limits)?;
        let writing = self.begin_write();
        let before = self.state();
        let revision = state.revision;
        self.publish(state);
        drop(writing);
        let after = self.state();
        for (collection, key, before) in before.differences(&after) {
            self.changed(&collection, &key, before.as_ref(), revision);
        }
        Ok(())
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
