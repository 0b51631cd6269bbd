//! The changes of all collections, for those who keep a copy of everything.

use std::sync::Weak;

use tokio::sync::watch;

use super::shared::Shared;
use super::{Collection, Event, Object, Revision, RevisionError};

/// The objects of all collections, then their changes in the order of their revisions.
///
/// Like a [`Watch`](super::Watch) it reads the history by itself. Where the history is cut before it,
/// it begins again with all objects. A clone goes on from where it is made.
#[derive(Clone, Debug)]
pub struct Changes {
    /// It does not keep its storage alive.
    storage: Weak<Shared>,
    /// The revision up to which everything was returned; `None` before the objects were.
    seen: Option<Revision>,
    woken: watch::Receiver<Revision>,
}

/// A part of [`Changes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// All objects. What was returned before counts no more.
    Objects(Vec<(Collection, Vec<Object>)>),
    /// The changes since the last part.
    Events(Vec<(Collection, Event)>),
}

impl Changes {
    pub(super) fn new(storage: Weak<Shared>, woken: watch::Receiver<Revision>) -> Self {
        Changes { storage, seen: None, woken }
    }

    /// Returns what has happened up to now: all objects at first, or the events since, which are none
    /// if nothing has changed.
    ///
    /// # Errors
    ///
    /// If the storage is gone.
    pub fn read(&mut self) -> Result<Batch, RevisionError> {
        // What is written from here on wakes.
        self.woken.mark_unchanged();
        let state = self.storage.upgrade().ok_or(RevisionError::Closed)?.state();
        let seen = self.seen.replace(state.revision);
        let events = seen.and_then(|seen| state.events_after(seen));
        Ok(events.map_or_else(|| Batch::Objects(state.objects()), Batch::Events))
    }

    /// Waits until something has changed since the last part. A future that is dropped loses nothing.
    ///
    /// # Errors
    ///
    /// If the storage is gone.
    pub async fn changed(&mut self) -> Result<(), RevisionError> {
        self.woken.changed().await.map_err(|_| RevisionError::Closed)?;
        // The next read has not been made yet.
        self.woken.mark_changed();
        Ok(())
    }
}
