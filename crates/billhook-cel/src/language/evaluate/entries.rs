//! Lists and maps that expressions make.

use std::collections::HashMap;
use std::sync::Arc;

use super::node::{MapEntry, Node};
use crate::language::functions::maps;
use crate::language::messages::FieldValue;
use crate::language::value::{EvaluationError, Map, MapEntries, Text, Value, equal, hash};

/// The entries of a map in the order they came: the last one of a key wins.
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

/// Returns the value of a list or map of constants.
pub(super) fn constant(node: &Node) -> Result<Value<'static>, EvaluationError> {
    match node {
        Node::Constant(value) => Ok(value.clone()),
        Node::List(elements) => {
            let mut values = Vec::with_capacity(elements.len());
            for (element, optional) in elements {
                values.extend(optional_element(constant(element)?, *optional)?);
            }
            Ok(Value::list(values))
        }
        Node::Map(entries) => {
            let mut made = Entries::default();
            for MapEntry { key, value, optional } in entries {
                made.insert(constant(key)?, optional_element(constant(value)?, *optional)?);
            }
            Ok(made.into_value())
        }
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

/// An element that may be none.
pub(super) fn optional_element(
    value: Value<'_>,
    optional: bool,
) -> Result<Option<Value<'_>>, EvaluationError> {
    match value {
        value if !optional => Ok(Some(value)),
        Value::Optional(value) => Ok(value.map(Arc::unwrap_or_clone)),
        value => Err(EvaluationError::new(format!(
            "cannot initialize optional list element from non-optional value {}",
            value.type_name()
        ))),
    }
}

/// An object of a type of its own.
pub(super) fn object<'a>(name: &Arc<str>, fields: Vec<FieldValue<'a>>) -> Value<'a> {
    let entry = |(name, value)| (Value::String(Text::Shared(name)), value);
    let entries: MapEntries<'a> = fields.into_iter().map(entry).collect();
    Value::Map(Map::Values(Arc::new(entries.of_type(Arc::clone(name)))))
}

/// Puts an entry into a map that may not have one for the key.
pub(super) fn insert_new<'a>(
    entries: &mut MapEntries<'a>,
    key: Value<'a>,
    value: Value<'a>,
) -> Result<(), EvaluationError> {
    if entries.find(&key).is_some() {
        return Err(maps::already_exists(&key));
    }
    entries.push(key, value);
    Ok(())
}
