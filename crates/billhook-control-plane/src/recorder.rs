//! Which events are written, and as what: new ones, repeated ones, none of too many (CP-03).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use crate::clock::Timestamp;
use crate::event::Event;
use crate::request::Request;
use crate::resource::{EVENTS, split_key};

/// How long an event is known as one that may be repeated.
const REPEATED: Duration = Duration::from_secs(600);
/// How many events that only differ in their messages are written within that time.
const SIMILAR: usize = 10;
/// How many events of a source about an object are written at once.
const BURST: u32 = 25;
/// How long it takes until one more may be written.
const REFILL: Duration = Duration::from_secs(300);
/// Remembers which events were written.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// The time in the name of the last event.
    last: u128,
    written: BTreeMap<Identity, Written>,
    /// The messages of events that are otherwise the same.
    similar: BTreeMap<Identity, Similar>,
    /// The events that may still be written, by source and object.
    tokens: BTreeMap<(String, String), Tokens>,
    /// When old ones were last forgotten.
    swept: Timestamp,
}

/// The parts that are the same in events that count as one: source, object, type, reason, and the message, which
/// is empty where it does not count.
pub(crate) type Identity = [String; 5];

#[derive(Debug)]
struct Written {
    key: String,
    count: u64,
    last: Timestamp,
}

#[derive(Debug)]
struct Similar {
    messages: Vec<String>,
    last: Timestamp,
}

#[derive(Debug)]
struct Tokens {
    left: u32,
    refilled: Timestamp,
}

impl Recorder {
    /// Returns the request that writes an event of a source, if it is to be written.
    pub(crate) fn record(
        &mut self,
        event: &Event,
        source: &str,
        now: Timestamp,
    ) -> Option<(Identity, Request)> {
        self.forget(now);
        let uid = event.involved.get("uid").and_then(|uid| uid.as_str()).unwrap_or_default();
        let about = (source.to_owned(), uid.to_owned());
        let like =
            |message: &str| [source, uid, event.kind, &event.reason, message].map(str::to_owned);
        let (group, mut identity) = (like(""), like(&event.message));
        let mut message = Cow::Borrowed(&*event.message);
        if self.is_one_of_many(group.clone(), &message, now) {
            message = format!("(combined from similar events): {message}").into();
            identity = group;
        }
        if !self.may_write(about, now) {
            return None;
        }
        let written = self.written.get_mut(&identity);
        if let Some(written) = written.filter(|written| is_recent(written.last, now)) {
            written.count = written.count.saturating_add(1);
            written.last = now;
            let patch = json!({
                "count": written.count, "lastTimestamp": now.to_rfc3339(), "message": message,
            });
            return Some((identity, Request::patch(&EVENTS, &written.key, &patch)));
        }
        let name = format!("{}.{:016x}", split_key(&event.key).1, self.number(now));
        let key = format!("{}/{name}", event.namespace());
        self.written.insert(identity.clone(), Written { key, count: 1, last: now });
        let document = event.document(&message, &name, source, now);
        Some((identity, Request::create(&EVENTS, event.namespace(), &document)))
    }

    /// Forgets an event that was not written, or is not there any more: the next one like it is new.
    pub(crate) fn lose(&mut self, identity: &Identity) {
        self.written.remove(identity);
    }

    /// Returns a number of nanoseconds that no other event has.
    fn number(&mut self, now: Timestamp) -> u128 {
        self.last = now.to_unix().as_nanos().max(self.last.saturating_add(1));
        self.last
    }

    /// Returns whether there were so many events like this one that it is counted with others.
    fn is_one_of_many(&mut self, group: Identity, message: &str, now: Timestamp) -> bool {
        let similar = self.similar.entry(group).or_insert(Similar { messages: vec![], last: now });
        if !is_recent(similar.last, now) {
            similar.messages.clear();
        }
        similar.last = now;
        if similar.messages.iter().any(|known| known == message) {
            return similar.messages.len() >= SIMILAR;
        }
        if similar.messages.len() >= SIMILAR {
            return true;
        }
        similar.messages.push(message.to_owned());
        false
    }

    fn may_write(&mut self, about: (String, String), now: Timestamp) -> bool {
        let tokens = self.tokens.entry(about).or_insert(Tokens { left: BURST, refilled: now });
        let left = tokens.after(now);
        if left > tokens.left {
            tokens.refilled = now;
        }
        tokens.left = left.saturating_sub(1);
        left > 0
    }

    /// Forgets what is old, once in a while.
    fn forget(&mut self, now: Timestamp) {
        if now.since(self.swept) < REPEATED {
            return;
        }
        self.swept = now;
        self.written.retain(|_, written| is_recent(written.last, now));
        self.similar.retain(|_, similar| is_recent(similar.last, now));
        self.tokens.retain(|_, tokens| tokens.after(now) < BURST);
    }
}

impl Tokens {
    /// Returns how many are left at a time.
    fn after(&self, now: Timestamp) -> u32 {
        let passed = now.since(self.refilled).as_secs() / REFILL.as_secs();
        self.left.saturating_add(u32::try_from(passed).unwrap_or(BURST)).min(BURST)
    }
}

/// Returns whether what was last seen at a time is still remembered.
fn is_recent(last: Timestamp, now: Timestamp) -> bool {
    now.since(last) < REPEATED
}
