//! All objects in lines, and the newest changes.

use std::collections::{BTreeMap, VecDeque};

use billhook_apiserver::storage::{Batch, Changes, Collection, Event, RevisionError};
use serde_json::{Value, json};

use super::row;

/// How many changes are kept. Who asks for older ones begins again with all objects.
const KEPT: usize = 10_000;

/// The objects of a server that are shown, and the changes that led to them.
pub(super) struct State {
    changes: Changes,
    rows: BTreeMap<(Collection, String), Value>,
    /// The newest changes, with their numbers.
    news: VecDeque<(u64, Value)>,
    /// The number of the newest change.
    newest: u64,
    /// The number of the change after which all changes are there.
    begin: u64,
}

impl State {
    pub(super) fn new(changes: Changes) -> Self {
        State { changes, rows: BTreeMap::new(), news: VecDeque::new(), newest: 0, begin: 0 }
    }

    /// Takes over what has changed.
    pub(super) fn follow(&mut self) -> Result<(), RevisionError> {
        match self.changes.read()? {
            Batch::Events(events) => events.iter().for_each(|(of, event)| self.add(of, event)),
            Batch::Objects(all) => {
                self.news.clear();
                self.newest = self.newest.saturating_add(1);
                self.begin = self.newest;
                let rows = all.iter().flat_map(|(collection, objects)| {
                    objects.iter().map(move |object| {
                        ((collection.clone(), object.key.to_string()), row::of(collection, object))
                    })
                });
                self.rows = rows.collect();
            }
        }
        Ok(())
    }

    fn add(&mut self, collection: &Collection, event: &Event) {
        let key = (collection.clone(), event.key().to_owned());
        let (verb, line) = match (&event.before, &event.after) {
            (before, Some(after)) => {
                let line = row::of(collection, after);
                self.rows.insert(key, line.clone());
                (if before.is_some() { "MODIFIED" } else { "ADDED" }, line)
            }
            (Some(before), None) => {
                self.rows.remove(&key);
                ("DELETED", row::of(collection, before))
            }
            (None, None) => return,
        };
        self.newest = self.newest.saturating_add(1);
        let news = json!({"type": verb, "revision": event.revision, "object": line});
        self.news.push_back((self.newest, news));
        if self.news.len() > KEPT
            && let Some((number, _)) = self.news.pop_front()
        {
            self.begin = number;
        }
    }

    /// Returns what waits for changes.
    pub(super) fn changes(&self) -> Changes {
        self.changes.clone()
    }

    /// Whether nothing has changed after a number.
    pub(super) fn is_newest(&self, number: u64) -> bool {
        number == self.newest
    }

    /// Returns the changes after a number, or all objects if there is none, or too many are after it.
    pub(super) fn after(&self, number: Option<u64>) -> Value {
        match number.filter(|number| (self.begin..=self.newest).contains(number)) {
            None => {
                let objects: Vec<&Value> = self.rows.values().collect();
                json!({"newest": self.newest, "objects": objects})
            }
            Some(number) => {
                let news = self.news.iter().filter(|(at, _)| *at > number);
                let news: Vec<&Value> = news.map(|(_, news)| news).collect();
                json!({"newest": self.newest, "changes": news})
            }
        }
    }
}
