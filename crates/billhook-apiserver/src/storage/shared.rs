//! The state that a storage in memory, its watches and its forks share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rpds::RedBlackTreeMapSync;
use tokio::sync::watch;

use super::history::{History, HistoryLimits};
use super::{Collection, Revision};

#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) limits: HistoryLimits,
    /// Held while a write is made; readers do not ask for it.
    writing: Mutex<()>,
    /// The newest state. The lock is held only to copy or replace the pointer.
    state: RwLock<Arc<State>>,
    /// Wakes the watches of a collection.
    wakers: Mutex<HashMap<Collection, watch::Sender<Revision>>>,
}

/// Everything at one revision.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) revision: Revision,
    /// The revision before which all is forgotten.
    pub(super) compacted: Revision,
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

    /// Takes over a collection with a new change, which keeps some bytes, and forgets others.
    pub(super) fn log(
        &mut self,
        name: &Collection,
        history: History,
        bytes: usize,
        limits: &HistoryLimits,
    ) {
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
            self.log.remove_mut(&revision);
            self.log_bytes = self.log_bytes.saturating_sub(bytes);
        }
        self.collections.insert_mut(name.clone(), history);
    }

    /// Forgets the changes of a collection up to a revision.
    pub(super) fn compact(&mut self, name: &Collection, revision: Revision) {
        let Some(mut history) = self.collections.get(name).cloned() else { return };
        while history.first().is_some_and(|first| first <= revision) {
            let Some((first, bytes)) = history.drop_first() else { break };
            self.log.remove_mut(&first);
            self.log_bytes = self.log_bytes.saturating_sub(bytes);
        }
        history.begin_at(revision);
        self.collections.insert_mut(name.clone(), history);
    }
}

impl Shared {
    pub(super) fn new(limits: HistoryLimits, state: Arc<State>) -> Self {
        Shared { limits, state: RwLock::new(state), ..Shared::default() }
    }

    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
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
}
