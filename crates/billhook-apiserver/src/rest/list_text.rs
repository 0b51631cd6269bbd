//! A large list of custom resources, printed while it is sent: it holds the state that it shows and
//! the place that it has come to, but none of the text.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::answer::Parts;
use crate::budget::SMALL;
use crate::resources::Resource;
use crate::storage::{Object, Snapshot, push_revision, revision_member};

/// How long a text is at least that is sent by itself, without a copy.
const LONG: usize = 16 << 10;
/// How many objects are looked up at a time.
const AHEAD: usize = 64;

/// The text of a list, part by part.
pub(super) struct ListText {
    resource: Arc<Resource>,
    version: String,
    snapshot: Snapshot,
    prefix: String,
    /// The next items.
    objects: VecDeque<Object>,
    /// The key of the last of them, or else of the last item.
    after: String,
    /// How many items come after them.
    items: usize,
    is_first: bool,
    /// The texts to send before the next item.
    texts: VecDeque<Bytes>,
    end: Bytes,
    remaining: u64,
}

impl fmt::Debug for ListText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListText").field("items", &self.items).finish_non_exhaustive()
    }
}

/// The objects of a list: in a state, so many after a key.
pub(super) struct Items {
    pub(super) objects: Snapshot,
    pub(super) prefix: String,
    pub(super) after: String,
    pub(super) count: usize,
}

/// Returns how long the text of an object is in a list, if it is its stored text with its revision.
pub(super) fn length(resource: &Resource, version: &str, object: &Object) -> Option<usize> {
    resource.revision_place(version, object)?;
    let digits = object.modified.checked_ilog10().unwrap_or_default() as usize + 1;
    let (start, rest) = resource.item_start();
    let text = start.len() + object.text.len() - rest;
    Some(text + revision_member("").map(str::len).iter().sum::<usize>() + digits)
}

impl ListText {
    /// The list of items whose texts together have a length, with what is before and after them.
    pub(super) fn new(
        resource: &Arc<Resource>,
        version: &str,
        items: Items,
        length: usize,
        (begin, end): (String, String),
    ) -> Self {
        let Items { objects: snapshot, prefix, after, count } = items;
        let commas = count.saturating_sub(1);
        ListText {
            resource: Arc::clone(resource),
            version: version.to_owned(),
            snapshot,
            prefix,
            objects: VecDeque::new(),
            after,
            items: count,
            is_first: true,
            remaining: (begin.len() + length + commas + end.len()) as u64,
            texts: VecDeque::from([Bytes::from(begin)]),
            end: Bytes::from(end),
        }
    }

    /// Begins the next item: adds it to a part, or leaves a long one to be sent by itself. Returns
    /// whether there was something to add, the end included.
    fn begin_item(&mut self, part: &mut Vec<u8>) -> bool {
        let Some(object) = self.next_object() else {
            let end = std::mem::take(&mut self.end);
            part.extend_from_slice(&end);
            return !end.is_empty();
        };
        if !std::mem::take(&mut self.is_first) {
            part.push(b',');
        }
        let place = self.resource.revision_place(&self.version, &object).unwrap_or_default();
        let (before, after) = object.text.split_at_checked(place).unwrap_or_default();
        let (start, rest) = self.resource.item_start();
        let before = before.get(rest..).unwrap_or_default();
        let mut digits = itoa::Buffer::new();
        let revision = digits.format(object.modified);
        part.extend_from_slice(start.as_bytes());
        if object.text.len() < LONG {
            part.extend_from_slice(before);
            push_revision(revision, part);
            part.extend_from_slice(after);
        } else {
            let texts = [before, after].map(|text| object.text.slice_ref(text));
            let [before, after] = texts;
            let mut member = Vec::new();
            push_revision(revision, &mut member);
            self.texts.extend([before, Bytes::from(member), after]);
        }
        true
    }

    fn next_object(&mut self) -> Option<Object> {
        if self.objects.is_empty() {
            let count = self.items.min(AHEAD);
            self.objects = self.snapshot.following(&self.prefix, &self.after, count).into();
            self.items -= self.objects.len();
            let last = self.objects.back()?;
            self.after = last.key.to_string();
        }
        self.objects.pop_front()
    }
}

impl Parts for ListText {
    fn next_part(&mut self) -> Option<Bytes> {
        let mut part = Vec::with_capacity(self.remaining.min((SMALL + LONG) as u64) as usize);
        while part.len() < SMALL {
            let Some(mut text) = self.texts.pop_front() else {
                match self.begin_item(&mut part) {
                    true => continue,
                    false => break,
                }
            };
            if text.len() < LONG {
                part.extend_from_slice(&text);
                continue;
            }
            if !part.is_empty() {
                self.texts.push_front(text);
                break;
            }
            let long = text.split_to(text.len().min(SMALL));
            if !text.is_empty() {
                self.texts.push_front(text);
            }
            self.remaining = self.remaining.saturating_sub(long.len() as u64);
            return Some(long);
        }
        self.remaining = self.remaining.saturating_sub(part.len() as u64);
        Some(Bytes::from(part)).filter(|part| !part.is_empty())
    }

    fn remaining(&self) -> u64 {
        self.remaining
    }
}
