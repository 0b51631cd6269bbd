//! One collection: its objects, and how they came to be so.

use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use rpds::RedBlackTreeMapSync;

use super::objects::Objects;
use super::{Event, Listing, Object, Position, Range, Remembered, Revision, RevisionError, end_of};

/// How much of the past is remembered; what is older is forgotten, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryLimits {
    /// How many changes of each collection.
    pub events: usize,
    /// How many bytes of replaced and deleted objects, of all collections together.
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

/// A collection at one revision, with the changes that led to it. A clone costs nothing.
#[derive(Clone, Debug)]
pub(super) struct History {
    objects: Objects,
    log: RedBlackTreeMapSync<Position, Logged>,
    /// The position before the first one of the log.
    oldest: Position,
    /// The objects at the oldest position.
    oldest_objects: Objects,
    /// The newest position of the log, and the one before it: most watches have seen all but the
    /// newest change.
    newest: [Position; 2],
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
            objects: Objects::default(),
            log: RedBlackTreeMapSync::new_sync(),
            oldest: (0, 0),
            oldest_objects: Objects::default(),
            newest: [(0, 0); 2],
        }
    }

    /// Begins a collection at a revision with the objects that were there before.
    pub(super) fn of(objects: Vec<Object>, revision: Revision) -> Self {
        let mut history = History { objects: Objects::of(objects), ..History::new() };
        history.begin_at(revision);
        history
    }

    pub(super) fn get(&self, key: &str) -> Option<&Object> {
        self.objects.get(key)
    }

    /// Changes the object `before`, or creates it. Returns the bytes that only the log keeps now.
    pub(super) fn put(
        &mut self,
        key: &str,
        before: Option<Object>,
        text: Option<Bytes>,
        position: Position,
    ) -> usize {
        let (revision, _) = position;
        let key = before.as_ref().map_or_else(|| key.into(), |object| Arc::clone(&object.key));
        let created = before.as_ref().map_or(revision, |object| object.created);
        let remembered = Remembered::default();
        let object = |text| Object { key, text, created, modified: revision, remembered };
        let after = text.map(object);
        match (&before, &after) {
            (_, Some(object)) => self.objects.insert(object.clone()),
            (Some(object), None) => self.objects.remove(&object.key),
            (None, None) => {}
        }
        let event = Event { revision, before, after };
        let bytes = bytes(&event);
        self.log.insert_mut(position, Logged { event, objects: self.objects.clone() });
        let [newest, _] = self.newest;
        self.newest = [position, newest];
        bytes
    }

    /// Returns how many changes are remembered.
    pub(super) fn events(&self) -> usize {
        self.log.size()
    }

    /// Returns the position of the first change that is remembered.
    pub(super) fn first(&self) -> Option<Position> {
        self.log.first().map(|(position, _)| *position)
    }

    /// Forgets the first change. Returns its position, and the bytes that only the log kept of it.
    pub(super) fn drop_first(&mut self) -> Option<(Position, usize)> {
        let (position, logged) = self.log.first()?;
        let (position, bytes) = (*position, bytes(&logged.event));
        self.oldest_objects = logged.objects.clone();
        self.oldest = position;
        self.log.remove_mut(&position);
        Some((position, bytes))
    }

    /// Says that all before a revision is forgotten.
    pub(super) fn begin_at(&mut self, revision: Revision) {
        self.oldest = self.oldest.max(end_of(revision));
        if self.log.is_empty() {
            self.oldest_objects = self.objects.clone();
        }
    }

    /// Fails if changes after a position are forgotten.
    pub(super) fn check_kept(&self, position: Position) -> Result<(), RevisionError> {
        if position < self.oldest {
            return Err(RevisionError::Compacted { oldest: self.oldest.0 });
        }
        Ok(())
    }

    /// Returns the first change after a position, and its own.
    pub(super) fn next_after(&self, position: Position) -> Option<(Position, &Event)> {
        let [newest, before] = self.newest;
        let (position, logged) = if position >= newest {
            return None;
        } else if position >= before {
            (newest, self.log.get(&newest)?)
        } else {
            let later = (Bound::Excluded(position), Bound::Unbounded);
            self.log.range(later).next().map(|(position, logged)| (*position, logged))?
        };
        Some((position, &logged.event))
    }

    /// Returns the change at a position.
    pub(super) fn at(&self, position: Position) -> Option<&Event> {
        self.log.get(&position).map(|logged| &logged.event)
    }

    /// Lists the newest objects.
    pub(super) fn list(&self, range: Range<'_>) -> (Vec<Object>, usize) {
        select(&self.objects, range)
    }

    /// Lists the objects at a revision that is kept.
    pub(super) fn list_at(
        &self,
        range: Range<'_>,
        at: Revision,
    ) -> Result<(Vec<Object>, usize), RevisionError> {
        Ok(select(self.objects_at(at)?, range))
    }

    /// Returns the objects at a revision that is kept.
    pub(super) fn snapshot(&self, at: Revision) -> Option<Snapshot> {
        self.objects_at(at).ok().cloned().map(Snapshot)
    }

    fn objects_at(&self, revision: Revision) -> Result<&Objects, RevisionError> {
        self.check_kept(end_of(revision))?;
        let mut earlier = self.log.range(..=end_of(revision));
        Ok(earlier.next_back().map_or(&self.oldest_objects, |(_, logged)| &logged.objects))
    }
}

/// The objects of a collection at a revision. It shares them with the collection.
#[derive(Clone)]
pub(crate) struct Snapshot(Objects);

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Returns so many of the objects after a key whose keys begin with a prefix.
    pub(crate) fn following(&self, prefix: &str, after: &str, count: usize) -> Vec<Object> {
        let following = self.0.skip_while(|key| is_before(key, prefix, after));
        following.take_while(|object| object.key.starts_with(prefix)).take(count).cloned().collect()
    }
}

/// Whether a key comes before those of a prefix that are after a key.
fn is_before(key: &str, prefix: &str, after: &str) -> bool {
    if after > prefix { key <= after } else { key < prefix }
}

/// Returns the objects of a range, and how many more there are.
fn select(objects: &Objects, range: Range<'_>) -> (Vec<Object>, usize) {
    let Range { prefix, after, limit, skips_count } = range;
    let end = objects.count_while(|key| key < prefix || key.starts_with(prefix));
    let count = end.saturating_sub(objects.count_while(|key| is_before(key, prefix, after)));
    let listed = count.min(limit.unwrap_or(usize::MAX));
    let remaining = count - listed;
    let found = objects.skip_while(|key| is_before(key, prefix, after)).take(listed).cloned();
    (found.collect(), if skips_count { remaining.min(1) } else { remaining })
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
