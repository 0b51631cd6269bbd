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
}

impl Default for State {
    fn default() -> Self {
        let collections = RedBlackTreeMapSync::new_sync();
        State { revision: 0, compacted: 0, collections }
    }
}

impl State {
    pub(super) fn collection(&self, name: &Collection) -> Option<&History> {
        self.collections.get(name)
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
