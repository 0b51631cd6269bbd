//! A watch of a storage.

use std::sync::Weak;

use tokio::sync::watch;

use super::shared::Shared;
use super::{Collection, Event, Position, Revision, RevisionError, end_of};

/// The changes of a collection, in the order of their revisions, none left out and none twice.
///
/// A watch reads the history by itself, so that one that is read slowly costs nothing; if the
/// history is cut before it, it fails with [`RevisionError::Compacted`].
#[derive(Debug)]
pub struct Watch {
    /// A watch does not keep its storage alive.
    storage: Weak<Shared>,
    collection: Collection,
    prefix: Box<str>,
    /// The position up to which everything was returned.
    seen: Position,
    woken: watch::Receiver<Revision>,
}

impl Watch {
    pub(super) fn new(
        storage: Weak<Shared>,
        collection: Collection,
        prefix: &str,
        seen: Revision,
        woken: watch::Receiver<Revision>,
    ) -> Self {
        Watch { storage, collection, prefix: prefix.into(), seen: end_of(seen), woken }
    }

    /// Returns the next change, if it has happened already.
    ///
    /// # Errors
    ///
    /// If changes are forgotten that were not read, or the storage is gone.
    pub fn try_next(&mut self) -> Result<Option<Event>, RevisionError> {
        // What is written from here on wakes.
        self.woken.mark_unchanged();
        let state = self.storage.upgrade().ok_or(RevisionError::Closed)?.state();
        let Some(history) = state.collection(&self.collection) else { return Ok(None) };
        history.check_kept(self.seen)?;
        while let Some((position, event)) = history.next_after(self.seen) {
            self.seen = position;
            if event.key().starts_with(&*self.prefix) {
                return Ok(Some(event.clone()));
            }
        }
        Ok(None)
    }

    /// Waits for the next change. A future that is dropped loses nothing.
    ///
    /// # Errors
    ///
    /// As [`Watch::try_next`].
    pub async fn next(&mut self) -> Result<Event, RevisionError> {
        loop {
            if let Some(event) = self.try_next()? {
                return Ok(event);
            }
            self.woken.changed().await.map_err(|_| RevisionError::Closed)?;
        }
    }
}
