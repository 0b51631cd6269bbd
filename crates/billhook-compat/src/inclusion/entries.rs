//! The entries of an enum, which may be many.

use std::collections::HashMap;

use billhook_apimachinery::value::deep_eq;
use serde_json::Value;

/// Finds the entries of an enum without a look at all of them.
pub(super) struct Entries<'s>(HashMap<Key<'s>, Vec<&'s Value>>);

/// The same for values that are equal.
#[derive(PartialEq, Eq, Hash)]
enum Key<'s> {
    Text(&'s str),
    /// The bits of a float.
    Number(u64),
    /// The number of parts.
    Parts(usize),
}

impl<'s> Key<'s> {
    fn of(value: &'s Value) -> Self {
        match value {
            Value::String(text) => Key::Text(text),
            // Zero has two signs, of which the sum has one.
            Value::Number(number) => {
                Key::Number((number.as_f64().unwrap_or_default() + 0.0).to_bits())
            }
            Value::Array(items) => Key::Parts(items.len()),
            Value::Object(members) => Key::Parts(members.len()),
            Value::Null | Value::Bool(_) => Key::Parts(0),
        }
    }
}

impl<'s> Entries<'s> {
    pub(super) fn new(entries: impl IntoIterator<Item = &'s Value>) -> Self {
        let mut found: HashMap<Key<'s>, Vec<&'s Value>> = HashMap::new();
        for entry in entries {
            found.entry(Key::of(entry)).or_default().push(entry);
        }
        Entries(found)
    }

    pub(super) fn contain(&self, value: &Value) -> bool {
        let alike = self.0.get(&Key::of(value));
        alike.is_some_and(|entries| entries.iter().any(|entry| deep_eq(entry, value)))
    }
}
