//! A large list of custom resources, printed while it is sent: it holds the state that it shows and
//! the place that it has come to, but none of the text.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::answer::Parts;
use crate::budget::SMALL;
use crate::catalog::{Resource, revision_member};
use crate::storage::{Object, Snapshot};

/// How long a text is at least that is sent by itself, without a copy.
const LONG: usize = 16 << 10;

/// The text of a list, part by part.
pub(super) struct ListText {
    resource: Arc<Resource>,
    version: String,
    objects: Snapshot,
    prefix: String,
    /// The key after which the next item is.
    after: String,
    /// How many items are still to come.
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
    Some(object.text.len() + member(object).len())
}

fn member(object: &Object) -> String {
    revision_member(&object.modified.to_string())
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
        let Items { objects, prefix, after, count } = items;
        let commas = count.saturating_sub(1);
        ListText {
            resource: Arc::clone(resource),
            version: version.to_owned(),
            objects,
            prefix,
            after,
            items: count,
            is_first: true,
            remaining: (begin.len() + length + commas + end.len()) as u64,
            texts: VecDeque::from([Bytes::from(begin)]),
            end: Bytes::from(end),
        }
    }

    /// Returns what is to be sent next.
    fn next_text(&mut self) -> Option<Bytes> {
        if self.texts.is_empty() {
            self.begin_item();
        }
        self.texts.pop_front().filter(|text| !text.is_empty())
    }

    fn begin_item(&mut self) {
        let next = self.objects.next(&self.prefix, &self.after);
        let Some(object) = next.filter(|_| self.items > 0) else {
            self.items = 0;
            self.texts.push_back(std::mem::take(&mut self.end));
            return;
        };
        let place = self.resource.revision_place(&self.version, object).unwrap_or_default();
        let separator = if self.is_first { &b""[..] } else { b"," };
        let texts = [
            Bytes::from_static(separator),
            object.text.slice(..place),
            Bytes::from(member(object)),
            object.text.slice(place..),
        ];
        self.texts.extend(texts.into_iter().filter(|text| !text.is_empty()));
        self.after = object.key.to_string();
        self.items -= 1;
        self.is_first = false;
    }
}

impl Parts for ListText {
    fn next_part(&mut self) -> Option<Bytes> {
        let mut part = Vec::new();
        while part.len() < SMALL {
            let Some(mut text) = self.next_text() else { break };
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
