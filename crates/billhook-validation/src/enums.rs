//! `enum` (VV-38, VV-39).

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::{DeepValue, Num, deep_eq, grow};
use serde_json::Value;

use crate::numbers::truncate;
use crate::work::Work;

/// More entries are found by an index.
const MAX_COMPARED: usize = 16;

/// The entries of an `enum`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Enum {
    entries: Box<[DeepValue]>,
    index: Option<Box<Index>>,
}

impl Enum {
    pub(crate) fn new(entries: &[DeepValue]) -> Self {
        let index = (entries.len() > MAX_COMPARED).then(|| Box::new(Index::new(entries)));
        Enum { entries: entries.into(), index }
    }

    /// Whether all values are admitted.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether a value matches an entry; null never does (VV-38).
    pub(crate) fn admits(&self, value: &Value, work: &Work) -> bool {
        if value.is_null() {
            return false;
        }
        match (&self.index, value) {
            (Some(index), _) => index.admits(&self.entries, value, work),
            (None, Value::String(text)) => self
                .entries
                .iter()
                .any(|entry| matches!(&**entry, Value::String(own) if own == text)),
            (None, _) => self.entries.iter().any(|entry| matches_entry(entry, value)),
        }
    }

    /// The entries as an error lists them, still without quotation marks (VV-38).
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |entry: &DeepValue| match &**entry {
            Value::String(text) => text.clone(),
            other => compact_json(other),
        };
        self.entries.iter().map(text).collect()
    }
}

/// Many entries, by their kinds.
#[derive(Clone, Debug, Default)]
struct Index {
    texts: HashSet<Box<str>>,
    ints: HashSet<i64>,
    /// The bits of doubles.
    floats: HashSet<u64>,
    bools: HashSet<bool>,
    /// The places of lists and objects by their hashes.
    containers: HashMap<u64, Vec<usize>>,
}

impl Index {
    fn new(entries: &[DeepValue]) -> Self {
        let mut index = Index::default();
        for (place, entry) in entries.iter().enumerate() {
            match &**entry {
                Value::Null => {}
                Value::Bool(entry) => _ = index.bools.insert(*entry),
                Value::String(entry) => _ = index.texts.insert(entry.as_str().into()),
                Value::Number(entry) => match Num::of(entry) {
                    Num::Int(entry) => _ = index.ints.insert(entry),
                    Num::Float(entry) => _ = index.floats.insert(bits(entry)),
                },
                container => index.containers.entry(hash(container).0).or_default().push(place),
            }
        }
        index
    }

    fn admits(&self, entries: &[DeepValue], value: &Value, work: &Work) -> bool {
        match value {
            Value::Null => false,
            Value::Bool(value) => self.bools.contains(value),
            Value::String(value) => self.texts.contains(value.as_str()),
            Value::Number(value) => {
                let value = Num::of(value);
                self.floats.contains(&bits(value.as_f64()))
                    || match value {
                        Num::Int(value) => {
                            let mut text = [0; 4];
                            let text = character(value).encode_utf8(&mut text);
                            self.ints.contains(&value) || self.texts.contains(&*text)
                        }
                        Num::Float(value) => self.ints.contains(&truncate(value)),
                    }
            }
            _ if self.containers.is_empty() => false,
            container => {
                let (hash, size) = hash(container);
                work.take(size);
                let places = self.containers.get(&hash).into_iter().flatten();
                let mut entries = places.filter_map(|place| entries.get(*place));
                entries.any(|entry| deep_eq(entry, container))
            }
        }
    }
}

/// Zero has one form.
fn bits(float: f64) -> u64 {
    (float + 0.0).to_bits()
}

/// Returns a hash that equal values share, and the number of values that it is made of.
fn hash(value: &Value) -> (u64, usize) {
    let mut hasher = DefaultHasher::new();
    let mut size = 1;
    std::mem::discriminant(value).hash(&mut hasher);
    match value {
        Value::Null => {}
        Value::Bool(value) => value.hash(&mut hasher),
        Value::String(value) => {
            size += value.len() / 64;
            value.hash(&mut hasher);
        }
        Value::Number(value) => match Num::of(value) {
            Num::Int(value) => value.hash(&mut hasher),
            Num::Float(value) => bits(value).hash(&mut hasher),
        },
        Value::Array(items) => grow(|| {
            items.len().hash(&mut hasher);
            for item in items {
                let (item, below) = hash(item);
                item.hash(&mut hasher);
                size += below;
            }
        }),
        Value::Object(members) => grow(|| {
            members.len().hash(&mut hasher);
            // Members have no order.
            let mut sum = 0_u64;
            for (key, member) in members {
                let mut hasher = DefaultHasher::new();
                let (member, below) = hash(member);
                (key, member).hash(&mut hasher);
                sum = sum.wrapping_add(hasher.finish());
                size += below;
            }
            sum.hash(&mut hasher);
        }),
    }
    (hasher.finish(), size)
}

/// Whether a value, converted to the entry's kind where that is possible, equals it (VV-39).
fn matches_entry(entry: &Value, value: &Value) -> bool {
    match (entry, value) {
        (Value::Number(entry), Value::Number(value)) => match (Num::of(entry), Num::of(value)) {
            (Num::Int(entry), Num::Float(value)) => entry == truncate(value),
            (Num::Float(entry), value) => entry == value.as_f64(),
            (entry, value) => entry == value,
        },
        (Value::String(entry), Value::Number(value)) => match Num::of(value) {
            Num::Int(code) => is_character(entry, code),
            Num::Float(_) => false,
        },
        (Value::String(entry), Value::String(value)) => entry == value,
        (Value::Null, _) => false,
        (entry, value) => deep_eq(entry, value),
    }
}

/// Returns whether a text is the one character with a code point.
fn is_character(text: &str, code: i64) -> bool {
    let mut characters = text.chars();
    characters.next() == Some(character(code)) && characters.next().is_none()
}

/// Returns the character with a code point; what is not a code point becomes the replacement
/// character.
fn character(code: i64) -> char {
    let character = u32::try_from(code).ok().and_then(char::from_u32);
    character.unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2..3_i64).prop_map(Value::from),
            prop::sample::select(vec![-2.5, -0.0, 0.0, 1.0, 1.5, 1e300]).prop_map(Value::from),
            prop::sample::select(vec!["", "\u{1}", "\u{2}", "\u{fffd}", "ab"])
                .prop_map(Value::from),
        ];
        scalar.prop_recursive(2, 8, 3, |inner| {
            let members = prop::collection::btree_map("[ab]", inner.clone(), 0..3);
            prop_oneof![
                prop::collection::vec(inner, 0..3).prop_map(Value::from),
                members.prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// The index knows the entries that comparing one by one finds.
        #[test]
        fn the_index_is_a_short_cut(entries in prop::collection::vec(value(), 0..8), value in value()) {
            let entries: Vec<DeepValue> = entries.into_iter().map(DeepValue::from).collect();
            let compared = Enum { entries: entries.as_slice().into(), index: None };
            let index = Some(Box::new(Index::new(&entries)));
            let indexed = Enum { index, ..compared.clone() };
            let work = Work::new();
            prop_assert_eq!(indexed.admits(&value, &work), compared.admits(&value, &work));
        }
    }

    #[test]
    fn long_enums_have_an_index() {
        let entries: Vec<DeepValue> = (0..100).map(|index| json!([index]).into()).collect();
        let entries = Enum::new(&entries);
        assert!(entries.index.is_some());
        assert!(entries.admits(&json!([99]), &Work::new()));
        assert!(!entries.admits(&json!([100]), &Work::new()));
    }
}
