//! The objects of changes, read and printed once for all watches that see them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use billhook_apimachinery::Status;
use billhook_apimachinery::value::DeepValue;
use bytes::Bytes;
use tokio::sync::OnceCell;

use crate::storage::{Object, Revision};

/// How many bytes of stored objects are remembered: those of the newest changes, which most watches
/// ask for.
const MAX_BYTES: usize = 1 << 20;
/// The cost of an object beside its text, so that the number of small ones is bounded.
const OVERHEAD: usize = 512;

/// The newest readings of a resource.
#[derive(Debug, Default)]
pub(crate) struct EventCache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    readings: BTreeMap<Place, Arc<Reading>>,
    bytes: usize,
}

/// Where an object belongs: in a change, and in a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) revision: Revision,
    pub(crate) key: Arc<str>,
    /// Whether it is the object before the change.
    pub(crate) is_before: bool,
    pub(crate) version: Arc<str>,
}

impl EventCache {
    /// Returns the reading of a place, a new one if there is none.
    pub(crate) fn get(&self, place: Place, object: &Object) -> Arc<Reading> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reading) = kept.readings.get(&place) {
            return Arc::clone(reading);
        }
        let reading = Arc::new(Reading::new(object.clone(), place.revision));
        kept.bytes += reading.size();
        kept.readings.insert(place, Arc::clone(&reading));
        // The newest one is worth its bytes, however large it is.
        while kept.bytes > MAX_BYTES
            && kept.readings.len() > 1
            && let Some((_, oldest)) = kept.readings.pop_first()
        {
            kept.bytes = kept.bytes.saturating_sub(oldest.size());
        }
        reading
    }
}

/// An object as of a change.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) stored: Object,
    /// The revision that it is shown at.
    pub(crate) revision: Revision,
    pub(crate) object: OnceCell<Result<DeepValue, Status>>,
    added: Printed,
    modified: Printed,
    deleted: Printed,
}

/// An event that shows a whole object, as all watches send it that have the same form.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    /// A line of JSON.
    pub(crate) line: OnceLock<Bytes>,
    /// A frame of protobuf; `None` if the object has no message.
    pub(crate) frame: OnceLock<Option<Bytes>>,
}

/// The type of an event about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Modified,
    Deleted,
}

impl Change {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Change::Added => "ADDED",
            Change::Modified => "MODIFIED",
            Change::Deleted => "DELETED",
        }
    }
}

impl Reading {
    pub(crate) fn new(stored: Object, revision: Revision) -> Self {
        let (added, modified, deleted) = Default::default();
        Reading { stored, revision, object: OnceCell::new(), added, modified, deleted }
    }

    fn size(&self) -> usize {
        self.stored.text.len() + OVERHEAD
    }

    /// The event that is printed about it.
    pub(crate) fn printed(&self, change: Change) -> &Printed {
        match change {
            Change::Added => &self.added,
            Change::Modified => &self.modified,
            Change::Deleted => &self.deleted,
        }
    }
}

/// Prints an event about an object (WA-20).
pub(crate) fn event_line(kind: &str, object: &[u8]) -> Bytes {
    [br#"{"type":""#, kind.as_bytes(), br#"","object":"#, object, b"}\n"].concat().into()
}
