//! A backend as a newcomer writes it, with what ARCHITECTURE.md says: a list of changes.

use std::sync::{Mutex, PoisonError};

use billhook_apiserver::BoxFuture;
use billhook_apiserver::storage::{
    Advance, Backend, BackendError, Change, Commit, CommitError, Loaded, Revision,
};
use tokio::sync::watch;

/// Keeps all changes; the revision of each is its place, counted from 1.
#[derive(Debug)]
pub(crate) struct Log {
    changes: Mutex<Vec<Change>>,
    newest: watch::Sender<Revision>,
}

impl Log {
    /// Begins with changes that were made before.
    pub(crate) fn of(changes: Vec<Change>) -> Self {
        let newest = watch::channel(changes.len() as Revision).0;
        Log { changes: Mutex::new(changes), newest }
    }

    pub(crate) fn changes_after(&self, revision: Revision) -> Vec<Change> {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.get(revision as usize..).unwrap_or_default().to_vec()
    }

    fn write(&self, commit: Commit) -> Result<Revision, CommitError> {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let Commit { collection, key, expected, text } = commit;
        let is_same = |change: &&Change| change.collection == collection && change.key == key;
        let stored = changes.iter().rev().find(is_same).filter(|change| change.text.is_some());
        let newest = changes.len() as Revision;
        if stored.map(|change| change.revision) != expected || (stored.is_none() && text.is_none())
        {
            return Err(CommitError::Mismatch { revision: newest });
        }
        let revision = newest + 1;
        let created = stored.map_or(revision, |change| change.created);
        changes.push(Change { revision, created, collection, key, text });
        self.newest.send_replace(revision);
        Ok(revision)
    }
}

impl Backend for Log {
    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        let changes = self.changes_after(0);
        let loaded = Loaded { revision: changes.len() as Revision, compacted: 0, changes };
        Box::pin(async { Ok(loaded) })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>> {
        Box::pin(async { self.write(commit) })
    }

    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>> {
        Box::pin(async move {
            let mut newest = self.newest.subscribe();
            let waited = newest.wait_for(|newest| *newest > after).await.map(drop);
            waited.map_err(|error| BackendError::Failed(error.to_string()))?;
            Ok(Advance::to_last(self.changes_after(after)))
        })
    }
}
