//! Making writes last: the seam below the storage.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::{Collection, Range, Revision};
use crate::future::BoxFuture;

/// Makes writes last. Reads never come here: they are answered from the objects in memory, which
/// are exactly what a backend has reported, in the order of its revisions. New methods will have
/// defaults.
///
/// A backend decides which writes are made and gives each its revision; all changes, those of these
/// commits too, then come back by [`Backend::changes`], and only then are they visible. Therefore
/// nothing is seen that was not written, and a future that is dropped (a client that goes away, a
/// deadline) leaves nothing apart: its write was made, and comes back, or it was not.
///
/// ARCHITECTURE.md says how to add one; `tests/it/backends` runs the same tests over all.
pub trait Backend: fmt::Debug + Send + Sync + 'static {
    /// Returns all that is stored. It is asked for once, before anything else.
    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>>;

    /// Makes a write that lasts, if the object is still at the revision that is expected; returns
    /// its revision, which is greater than all before. Commits may wait at the same time; they may
    /// be made together.
    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>>;

    /// Waits until something has happened after a revision, by any writer, and returns it. After a
    /// failure it is asked again, a little later; where changes are forgotten, all is loaded anew.
    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>>;

    /// Returns the revision of the newest write, if there are other writers than this process: reads
    /// wait until they have seen it. By default there are none.
    fn current_revision(&self) -> BoxFuture<'_, Result<Option<Revision>, BackendError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Returns the revision before which any writer has forgotten the history, if known:
    /// nothing is listed as it was before. By default it is the one that this process has named.
    fn compacted(&self) -> Revision {
        0
    }

    /// Lists a part of a collection as it was at a revision that is forgotten in memory. By default it
    /// is forgotten here, too.
    fn list_at<'b>(
        &'b self,
        _collection: &'b Collection,
        _range: Range<'b>,
        at: Revision,
    ) -> BoxFuture<'b, Result<PastObjects, BackendError>> {
        Box::pin(std::future::ready(Err(BackendError::Compacted(at))))
    }

    /// Returns the changes of a collection after a revision that is forgotten in memory, up to another
    /// one. By default they are forgotten here, too.
    fn changes_of<'b>(
        &'b self,
        _collection: &'b Collection,
        after: Revision,
        _until: Revision,
    ) -> BoxFuture<'b, Result<Vec<Change>, BackendError>> {
        Box::pin(std::future::ready(Err(BackendError::Compacted(after))))
    }

    /// Returns the name of its check in the health of the server.
    fn name(&self) -> &'static str {
        "backend"
    }

    /// Returns how many of its requests to another program were made again after a failure. By default
    /// there are none.
    fn retries(&self) -> u64 {
        0
    }

    /// Fails if the backend cannot be reached. By default it always can.
    fn check(&self) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Forgets the changes before a revision, but not the objects; by default nothing is forgotten.
    fn compact(&self, _revision: Revision) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Ends in good order. What was committed is there in any case.
    fn close(&self) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl<B: Backend + ?Sized> Backend for Arc<B> {
    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        (**self).load()
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>> {
        (**self).commit(commit)
    }

    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>> {
        (**self).changes(after)
    }

    fn current_revision(&self) -> BoxFuture<'_, Result<Option<Revision>, BackendError>> {
        (**self).current_revision()
    }

    fn compacted(&self) -> Revision {
        (**self).compacted()
    }

    fn list_at<'b>(
        &'b self,
        collection: &'b Collection,
        range: Range<'b>,
        at: Revision,
    ) -> BoxFuture<'b, Result<PastObjects, BackendError>> {
        (**self).list_at(collection, range, at)
    }

    fn changes_of<'b>(
        &'b self,
        collection: &'b Collection,
        after: Revision,
        until: Revision,
    ) -> BoxFuture<'b, Result<Vec<Change>, BackendError>> {
        (**self).changes_of(collection, after, until)
    }

    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn retries(&self) -> u64 {
        (**self).retries()
    }

    fn check(&self) -> BoxFuture<'_, Result<(), BackendError>> {
        (**self).check()
    }

    fn compact(&self, revision: Revision) -> BoxFuture<'_, Result<(), BackendError>> {
        (**self).compact(revision)
    }

    fn close(&self) -> BoxFuture<'_, Result<(), BackendError>> {
        (**self).close()
    }
}

/// Everything that a backend has stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The revision of the newest write; 0 before the first one.
    pub revision: Revision,
    /// The revision before which the history is forgotten.
    pub compacted: Revision,
    /// The last change of each object up to `compacted`, without deletions, and all changes after
    /// it; in the order of their revisions. Changes that were made together share one.
    pub changes: Vec<Change>,
}

impl Loaded {
    /// Fails if the changes are not in order.
    pub(super) fn check(&self) -> Result<(), BackendError> {
        let mut last = 0;
        for change in &self.changes {
            if change.revision < last.max(1) || change.revision > self.revision {
                let why = format!("revision {} is out of order", change.revision);
                return Err(BackendError::Failed(why));
            }
            last = change.revision;
        }
        match self.compacted <= self.revision {
            true => Ok(()),
            false => Err(BackendError::Failed("the history begins after its end".to_owned())),
        }
    }
}

/// The progress of a backend after a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advance {
    /// The revision up to which `changes` are all; at least that of the last one.
    pub revision: Revision,
    /// The changes in the order of their revisions. Those that were made together share one.
    pub changes: Vec<Change>,
}

impl Advance {
    /// All changes up to the last one of them.
    pub fn to_last(changes: Vec<Change>) -> Self {
        let revision = changes.last().map_or(0, |change| change.revision);
        Advance { revision, changes }
    }
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The revision of the change.
    pub revision: Revision,
    /// The revision that created the object; of no meaning for a deletion.
    pub created: Revision,
    /// The collection of the object.
    pub collection: Collection,
    /// `<namespace>/<name>`, or the name of an object of the cluster.
    pub key: String,
    /// The new text; `None` if the object was deleted.
    pub text: Option<Bytes>,
}

/// The objects of a range as they were at a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastObjects {
    /// The last change of each object until then, in the order of the keys.
    pub objects: Vec<Change>,
    /// How many objects of the range the limit left out.
    pub remaining: usize,
}

/// A write of one object, all or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The collection of the object.
    pub collection: Collection,
    /// `<namespace>/<name>`, or the name of an object of the cluster.
    pub key: String,
    /// The revision that last changed the object; `None` if there must not be any.
    pub expected: Option<Revision>,
    /// The new text; `None` deletes the object.
    pub text: Option<Bytes>,
}

/// Why a commit was not made, or not known to be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Something else is stored than is expected. Nothing was written.
    #[error("the stored object is not the expected one")]
    Mismatch {
        /// A revision by which that was so.
        revision: Revision,
    },
    /// The backend failed, and nothing was written.
    #[error("{0}")]
    Failed(String),
    /// The backend does not take so large an object. Nothing was written.
    #[error("{0}")]
    TooLarge(String),
    /// The backend failed, and the write may have been made.
    #[error("{0}")]
    Unknown(String),
}

/// Why a backend cannot be read or kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// It failed; it may work later.
    #[error("{0}")]
    Failed(String),
    /// The changes that are asked for are forgotten.
    #[error("the changes after revision {0} are forgotten")]
    Compacted(Revision),
}
