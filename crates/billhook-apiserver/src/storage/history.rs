//! One collection: its objects, and how they came to be so.

use std::ops::Bound;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::{Event, Listing, Mismatch, Object, Range, Remembered, Revision, RevisionError, Write};

/// How much of the past a collection remembers; what is older is forgotten, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryLimits {
    /// How many changes.
    pub events: usize,
    /// How many bytes of replaced and deleted objects.
    pub bytes: usize,
}

impl HistoryLimits {
    /// Remembers so many changes and bytes.
    pub fn new(events: usize, bytes: usize) -> Self {
        HistoryLimits { events, bytes }
    }
}

impl Default for HistoryLimits {
    fn default() -> Self {
        HistoryLimits { events: 10_000, bytes: 64 << 20 }
    }
}

/// Objects by key. A clone costs nothing: versions of a map share what is equal.
type Objects = RedBlackTreeMapSync<Arc<str>, Object>;

/// A collection at one revision, with the changes that led to it. A clone costs nothing.
#[derive(Clone, Debug)]
pub(super) struct History {
    objects: Objects,
    log: RedBlackTreeMapSync<Revision, Logged>,
    /// The bytes of text that the log keeps.
    log_bytes: usize,
    /// The revision before the first one of the log.
    oldest: Revision,
    /// The objects at the oldest revision.
    oldest_objects: Objects,
}

/// A change, and the objects after it.
#[derive(Clone, Debug)]
struct Logged {
    event: Event,
    objects: Objects,
}

impl History {
    /// Begins an empty collection at a revision.
    pub(super) fn new() -> Self {
        History {
            objects: Objects::new_sync(),
            log: RedBlackTreeMapSync::new_sync(),
            log_bytes: 0,
            oldest: 0,
            oldest_objects: Objects::new_sync(),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Object> {
        self.objects.get(key)
    }

    /// Makes a write that has a revision.
    pub(super) fn write(
        &mut self,
        key: &str,
        write: Write,
        revision: Revision,
        limits: &HistoryLimits,
    ) -> Result<(), Mismatch> {
        let before = self.objects.get(key).cloned();
        let is_expected = before.as_ref().map(|object| object.modified) == write.expected;
        if !is_expected || (before.is_none() && write.text.is_none()) {
            return Err(Mismatch { found: before });
        }
        let key = before.as_ref().map_or_else(|| key.into(), |object| Arc::clone(&object.key));
        let created = before.as_ref().map_or(revision, |object| object.created);
        let remembered = Remembered::default();
        let object = |text| Object { key, text, created, modified: revision, remembered };
        let after = write.text.map(object);
        match (&before, &after) {
            (_, Some(object)) => self.objects.insert_mut(Arc::clone(&object.key), object.clone()),
            (Some(object), None) => {
                self.objects.remove_mut(&object.key);
            }
            (None, None) => {}
        }
        self.push(Event { revision, before, after });
        while self.log.size() > limits.events || self.log_bytes > limits.bytes {
            self.drop_first();
        }
        Ok(())
    }

    fn push(&mut self, event: Event) {
        self.log_bytes = self.log_bytes.saturating_add(bytes(&event));
        self.log.insert_mut(event.revision, Logged { event, objects: self.objects.clone() });
    }

    fn drop_first(&mut self) {
        let Some((revision, logged)) = self.log.first() else {
            self.log_bytes = 0;
            return;
        };
        let (revision, bytes) = (*revision, bytes(&logged.event));
        self.oldest_objects = logged.objects.clone();
        self.oldest = revision;
        self.log_bytes = self.log_bytes.saturating_sub(bytes);
        self.log.remove_mut(&revision);
    }

    /// Forgets what was before a revision.
    pub(super) fn compact(&mut self, revision: Revision) {
        while self.log.first().is_some_and(|(first, _)| *first <= revision) {
            self.drop_first();
        }
        self.oldest = self.oldest.max(revision);
    }

    /// Fails if changes after a revision are forgotten.
    pub(super) fn check_kept(&self, revision: Revision) -> Result<(), RevisionError> {
        if revision < self.oldest {
            return Err(RevisionError::Compacted { oldest: self.oldest });
        }
        Ok(())
    }

    /// Returns the first change after a revision.
    pub(super) fn next_after(&self, revision: Revision) -> Option<&Event> {
        let later = (Bound::Excluded(revision), Bound::Unbounded);
        self.log.range(later).next().map(|(_, logged)| &logged.event)
    }

    /// Lists the objects at a revision that is kept, or the newest ones.
    pub(super) fn list(
        &self,
        range: Range<'_>,
        at: Option<Revision>,
    ) -> Result<(Vec<Object>, usize), RevisionError> {
        let objects = match at {
            None => &self.objects,
            Some(revision) => self.objects_at(revision)?,
        };
        Ok(select(objects, range))
    }

    fn objects_at(&self, revision: Revision) -> Result<&Objects, RevisionError> {
        self.check_kept(revision)?;
        let mut earlier = self.log.range(..=revision);
        Ok(earlier.next_back().map_or(&self.oldest_objects, |(_, logged)| &logged.objects))
    }
}

/// Returns the objects of a range, and how many more there are.
fn select(objects: &Objects, range: Range<'_>) -> (Vec<Object>, usize) {
    let start = if range.after > range.prefix {
        Bound::Excluded(range.after)
    } else {
        Bound::Included(range.prefix)
    };
    let mut found = objects
        .range::<str, _>((start, Bound::Unbounded))
        .map(|(_, object)| object)
        .take_while(|object| object.key.starts_with(range.prefix));
    let listed = found.by_ref().take(range.limit.unwrap_or(usize::MAX)).cloned().collect();
    let remaining = if range.skips_count { found.next().iter().count() } else { found.count() };
    (listed, remaining)
}

/// Returns the bytes that only the log keeps of a change: the text that it replaced.
fn bytes(event: &Event) -> usize {
    event.before.as_ref().map_or(0, |object| object.text.len())
}

impl Listing {
    pub(super) fn new(revision: Revision, (objects, remaining): (Vec<Object>, usize)) -> Self {
        Listing { revision, objects, remaining }
    }
}
