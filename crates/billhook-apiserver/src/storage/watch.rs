//! A watch of a storage in memory.

use std::sync::Weak;

use tokio::sync::watch;

use super::shared::Shared;
use super::{Collection, Event, Revision, RevisionError, Watch};
use crate::future::BoxFuture;

#[derive(Debug)]
pub(super) struct MemoryWatch {
    /// A watch does not keep its storage alive.
    storage: Weak<Shared>,
    collection: Collection,
    prefix: Box<str>,
    /// The revision up to which everything was returned.
    seen: Revision,
    woken: watch::Receiver<Revision>,
}

impl MemoryWatch {
    pub(super) fn new(
        storage: Weak<Shared>,
        collection: Collection,
        prefix: &str,
        seen: Revision,
        woken: watch::Receiver<Revision>,
    ) -> Self {
        MemoryWatch { storage, collection, prefix: prefix.into(), seen, woken }
    }
}

impl Watch for MemoryWatch {
    fn try_next(&mut self) -> Result<Option<Event>, RevisionError> {
        // What is written from here on wakes.
        self.woken.mark_unchanged();
        let state = self.storage.upgrade().ok_or(RevisionError::Closed)?.state();
        let Some(history) = state.collection(&self.collection) else { return Ok(None) };
        history.check_kept(self.seen)?;
        while let Some(event) = history.next_after(self.seen) {
            self.seen = event.revision;
            if event.key().starts_with(&*self.prefix) {
                return Ok(Some(event.clone()));
            }
        }
        Ok(None)
    }

    fn next(&mut self) -> BoxFuture<'_, Result<Event, RevisionError>> {
        Box::pin(async {
            loop {
                if let Some(event) = self.try_next()? {
                    return Ok(event);
                }
                self.woken.changed().await.map_err(|_| RevisionError::Closed)?;
            }
        })
    }
}
