//! Where the server keeps its objects: one sequence of revisions over everything, writes that are
//! guarded by the revision they were made for, lists and watches from a revision. A [`Storage`] is in
//! memory; a [`Backend`] below it makes it last.

mod backend;
mod changes;
mod consistency;
mod durable;
#[cfg(feature = "redb")]
mod file;
mod form;
mod history;
mod objects;
mod shared;
mod store;
mod text;
mod watch;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

pub use self::backend::{
    Advance, Backend, BackendError, Change, Commit, CommitError, Loaded, PastObjects,
};
pub use self::changes::{Batch, Changes};
#[cfg(feature = "redb")]
#[cfg_attr(docsrs, doc(cfg(feature = "redb")))]
pub use self::file::{FileReport, Redb};
#[cfg(feature = "etcd")]
pub(crate) use self::form::text_as;
pub(crate) use self::form::{StorageForm, stored_as};
pub use self::history::HistoryLimits;
pub(crate) use self::history::Snapshot;
pub(crate) use self::shared::Observer;
pub use self::store::Storage;
pub(crate) use self::text::{push_revision, revision_member, with_revision};
pub use self::watch::Watch;

/// The number of a write. Every write of a storage, whatever it writes to, has a greater one than all
/// before; 0 stands before all writes. A resource version is a revision in decimal.
pub type Revision = u64;

/// The place of a change in the history: its revision, and its number among those of the revision.
type Position = (Revision, u32);

/// The position after all changes of a revision.
fn end_of(revision: Revision) -> Position {
    (revision, u32::MAX)
}

/// The name of a set of objects that are listed and watched together: those of one resource of a
/// group, in all versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Collection(Arc<str>);

impl Collection {
    /// Names the objects of a resource, by its plural.
    pub fn new(group: &str, resource: &str) -> Self {
        Collection(format!("{group}/{resource}").into())
    }

    /// Returns the name: the group and the resource, with a slash between them.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the group and the resource.
    pub fn parts(&self) -> (&str, &str) {
        self.0.split_once('/').unwrap_or_default()
    }
}

impl fmt::Display for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An object as it is stored. Clones share the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// `<namespace>/<name>`, or the name of an object of the cluster.
    pub key: Arc<str>,
    /// The text, as it was written.
    pub text: Bytes,
    /// The revision that created it.
    pub created: Revision,
    /// The revision that last changed it.
    pub modified: Revision,
    pub(crate) remembered: Remembered,
}

impl Object {
    /// Returns the object that a change has left; `None` if it has deleted it.
    fn of_change(change: Change) -> Option<Self> {
        let Change { revision: modified, created, key, text, .. } = change;
        let (key, remembered) = (key.into(), Remembered::default());
        Some(Object { key, text: text?, created, modified, remembered })
    }
}

/// A number that one reader of an object caches. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remembered(Arc<AtomicU64>);

impl Remembered {
    /// Returns the number that a reader has remembered, or remembers what it finds out. Another
    /// reader takes the place of the one before it.
    pub(crate) fn get_or_find(&self, reader: NonZeroU32, find: impl FnOnce() -> u32) -> u32 {
        let reader = u64::from(reader.get()) << 32;
        let known = self.0.load(Ordering::Relaxed) ^ reader;
        u32::try_from(known).unwrap_or_else(|_| {
            let found = find();
            self.0.store(reader | u64::from(found), Ordering::Relaxed);
            found
        })
    }
}

impl PartialEq for Remembered {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Remembered {}

/// A change of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The revision of the change.
    pub revision: Revision,
    /// The object before it; `None` if it was created.
    pub before: Option<Object>,
    /// The object after it; `None` if it was deleted.
    pub after: Option<Object>,
}

impl Event {
    /// Returns the key of the object.
    pub fn key(&self) -> &str {
        self.after.as_ref().or(self.before.as_ref()).map_or("", |object| &object.key)
    }
}

/// A write of one object, all or nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Write {
    /// The revision of the object that the write replaces; `None` if there must not be any.
    pub expected: Option<Revision>,
    /// The new text; `None` deletes the object.
    pub text: Option<Bytes>,
}

impl Write {
    /// Creates an object.
    pub fn create(text: impl Into<Bytes>) -> Self {
        Write { expected: None, text: Some(text.into()) }
    }

    /// Replaces the object that was last changed by a revision.
    pub fn replace(expected: Revision, text: impl Into<Bytes>) -> Self {
        Write { expected: Some(expected), text: Some(text.into()) }
    }

    /// Deletes the object that was last changed by a revision.
    pub fn delete(expected: Revision) -> Self {
        Write { expected: Some(expected), text: None }
    }
}

/// The part of a collection that is listed.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Range<'a> {
    /// The beginning of the keys; empty for all.
    pub prefix: &'a str,
    /// The key before the first one; empty to begin at the beginning.
    pub after: &'a str,
    /// How many objects to list at most.
    pub limit: Option<usize>,
    /// Whether those that the limit leaves out need not be counted, which takes time.
    pub skips_count: bool,
}

impl<'a> Range<'a> {
    /// Lists the objects whose keys begin with a text.
    pub fn of_prefix(prefix: &'a str) -> Self {
        Range { prefix, ..Range::default() }
    }

    /// Begins after a key.
    #[must_use]
    pub fn after(mut self, key: &'a str) -> Self {
        self.after = key;
        self
    }

    /// Does not count the objects that the limit leaves out.
    #[must_use]
    pub fn without_count(mut self) -> Self {
        self.skips_count = true;
        self
    }

    /// Lists so many objects at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// The objects of a collection at a revision, ordered by key, bytewise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The revision.
    pub revision: Revision,
    /// The objects.
    pub objects: Vec<Object>,
    /// How many objects of the range the limit left out; 1 if there are any and they are not
    /// counted.
    pub remaining: usize,
}

/// Why a past or future revision cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RevisionError {
    /// The history does not reach back so far.
    #[error("the history begins at revision {oldest}")]
    Compacted {
        /// The oldest revision that can be read.
        oldest: Revision,
    },
    /// There was no such write yet.
    #[error("the newest revision is {current}")]
    Future {
        /// The newest revision.
        current: Revision,
    },
    /// The storage is gone.
    #[error("the storage is closed")]
    Closed,
}

/// The text of a write of more than etcd takes (RE-140).
pub(crate) const TOO_LARGE: &str = "etcdserver: request is too large";

/// Why a collection cannot be listed as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PastError {
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// The backend has failed.
    #[error("{0}")]
    Failed(String),
}

/// Something else is stored than a write expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored object is not the expected one")]
#[non_exhaustive]
pub struct Mismatch {
    /// The stored object; `None` if absent.
    pub found: Option<Object>,
}

/// Why a write is not visible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Something else is stored than the write expects. Nothing was written.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The backend failed. Nothing was written.
    #[error("{0}")]
    Failed(String),
    /// The backend does not take so large an object. Nothing was written.
    #[error("{0}")]
    TooLarge(String),
    /// The backend failed, or took too long. The write may have been made, and is visible as soon as
    /// that is known.
    #[error("{0}")]
    Unknown(String),
}
