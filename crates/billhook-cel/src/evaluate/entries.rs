//! Maps that are made.

use std::collections::HashMap;
use std::sync::Arc;

use crate::equality::{equal, hash};
use crate::value::{Map, Value};

/// The entries of a map in the order they came: the last one of a key stays.
#[derive(Default)]
pub(super) struct Entries<'a> {
    entries: Vec<(Value<'a>, Option<Value<'a>>)>,
    by_hash: HashMap<u64, Vec<usize>>,
}

impl<'a> Entries<'a> {
    /// Sets the value of a key, or removes it if there is none. Numbers of different types are
    /// different keys.
    pub(super) fn insert(&mut self, key: Value<'a>, value: Option<Value<'a>>) {
        let positions = self.by_hash.entry(hash(&key)).or_default();
        for position in positions.iter() {
            if let Some((known, place)) = self.entries.get_mut(*position)
                && std::mem::discriminant(known) == std::mem::discriminant(&key)
                && equal(known, &key).unwrap_or_default()
            {
                *place = value;
                return;
            }
        }
        positions.push(self.entries.len());
        self.entries.push((key, value));
    }

    pub(super) fn into_value(self) -> Value<'a> {
        let entries = self.entries.into_iter().filter_map(|(key, value)| Some((key, value?)));
        Value::Map(Map::Values(Arc::new(entries.collect())))
    }
}
