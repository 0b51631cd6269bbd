//! The entries of a map that an expression made, found by key in constant time.

use std::collections::HashMap;
use std::mem::discriminant;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::Value;
use super::equality::{equal, hash};

/// Fewer entries are searched one by one.
const MIN_INDEXED: usize = 16;

/// Keys and values, in order. No key is there twice.
#[derive(Clone, Debug, Default)]
pub struct MapEntries<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    /// The places of keys by their hash; made when a large map is first searched.
    places: OnceLock<HashMap<u64, Vec<usize>>>,
    type_name: Option<Arc<str>>,
}

impl<'a> From<Vec<(Value<'a>, Value<'a>)>> for MapEntries<'a> {
    fn from(entries: Vec<(Value<'a>, Value<'a>)>) -> Self {
        MapEntries { entries, places: OnceLock::new(), type_name: None }
    }
}

impl<'a> FromIterator<(Value<'a>, Value<'a>)> for MapEntries<'a> {
    fn from_iter<I: IntoIterator<Item = (Value<'a>, Value<'a>)>>(entries: I) -> Self {
        entries.into_iter().collect::<Vec<_>>().into()
    }
}

impl<'a> Deref for MapEntries<'a> {
    type Target = [(Value<'a>, Value<'a>)];

    fn deref(&self) -> &Self::Target {
        &self.entries
    }
}

impl<'a> MapEntries<'a> {
    /// Returns the name of the type, if the entries are the fields of an object that the expression
    /// made of a type (PO-70).
    pub fn type_name(&self) -> Option<&str> {
        self.type_name.as_deref()
    }

    /// The fields of an object of a type.
    pub(crate) fn of_type(self, name: Arc<str>) -> Self {
        MapEntries { type_name: Some(name), ..self }
    }

    /// Adds an entry whose key is not there.
    pub(crate) fn push(&mut self, key: Value<'a>, value: Value<'a>) {
        if let Some(places) = self.places.get_mut() {
            places.entry(hash(&key)).or_default().push(self.entries.len());
        }
        self.entries.push((key, value));
    }

    /// Returns the value of a key: of that key itself, or of an equal number of another type.
    pub(crate) fn find(&self, key: &Value<'_>) -> Option<&Value<'a>> {
        if self.entries.len() < MIN_INDEXED {
            return nearest(self.entries.iter(), key);
        }
        let places = self.places.get_or_init(|| {
            let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
            for (place, (key, _)) in self.entries.iter().enumerate() {
                places.entry(hash(key)).or_default().push(place);
            }
            places
        });
        let found = places.get(&hash(key)).into_iter().flatten();
        nearest(found.filter_map(|place| self.entries.get(*place)), key)
    }
}

fn nearest<'e, 'a: 'e>(
    entries: impl Iterator<Item = &'e (Value<'a>, Value<'a>)>,
    key: &Value<'_>,
) -> Option<&'e Value<'a>> {
    let mut numeric = None;
    for (known, value) in entries.filter(|(known, _)| equal(known, key).unwrap_or_default()) {
        if discriminant(known) == discriminant(key) {
            return Some(value);
        }
        numeric.get_or_insert(value);
    }
    numeric
}
