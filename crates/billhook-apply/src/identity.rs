//! The identity of list elements (SA-11, SA-15).

use std::cmp::Ordering;

use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::{Map, Value};

use crate::field_set::{FieldSet, Node};
use crate::order::compare_values;
use crate::path_element::{PathElement, compare_keys};
use crate::schema::{KeyField, Keys};
use crate::shape::{List, ListKindRef};

/// An element that has no identity; prints the server's text without the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoIdentity {
    NullWithKeys,
    NotAMap,
    NoKey(String),
    NoKeys(Vec<String>),
    MapInSet,
    ListInSet,
    NullInSet,
}

impl std::fmt::Display for NoIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NoIdentity::NullWithKeys => "associative list with keys may not have a null element",
            NoIdentity::NotAMap => "associative list with keys may not have non-map elements",
            NoIdentity::MapInSet => {
                "associative list without keys has an element that's a map type"
            }
            NoIdentity::ListInSet => "not supported: associative list with lists as elements",
            NoIdentity::NullInSet => {
                "associative list without keys has an element that's an explicit null"
            }
            NoIdentity::NoKey(key) => {
                return write!(
                    f,
                    "associative list with keys has an element that omits key field {} \
                     (and doesn't have default value)",
                    quote(key)
                );
            }
            NoIdentity::NoKeys(keys) => {
                let keys: Vec<String> = keys.iter().map(|key| quote(key)).collect();
                return write!(
                    f,
                    "associative list with keys has an element that omits all key fields [{}] \
                     (and doesn't have default values for any key fields)",
                    keys.join(" ")
                );
            }
        })
    }
}

/// The identity of an element of an associative list.
#[derive(Clone, Copy)]
pub(crate) enum Identity<'v> {
    Keys(&'v Keys, KeyMembers<'v>),
    Value(&'v Value),
}

/// The members of an element with keys.
#[derive(Clone, Copy)]
pub(crate) struct KeyMembers<'v> {
    all: &'v Map<String, Value>,
    /// The key field whose name is the first of all, if it is there.
    first: Option<&'v Value>,
}

/// The key fields that an element has, sorted by name.
pub(crate) fn key_fields<'v>(
    keys: &'v Keys,
    members: KeyMembers<'v>,
) -> impl Iterator<Item = (&'v str, &'v Value)> {
    keys.sorted.iter().enumerate().filter_map(move |(position, key)| {
        let value = if position == 0 { members.first } else { key.value_in(members.all) };
        Some((&*key.name, value?))
    })
}

impl KeyField {
    fn value_in<'v>(&'v self, members: &'v Map<String, Value>) -> Option<&'v Value> {
        members.get(&*self.name).or(self.default.as_deref())
    }
}

/// Returns why an element with keys has no identity, if it has none.
fn without_identity(keys: &Keys, members: KeyMembers<'_>) -> Option<NoIdentity> {
    if !keys.needs_all {
        let has_none = key_fields(keys, members).next().is_none();
        return has_none.then(|| NoIdentity::NoKeys(keys.as_written.clone()));
    }
    let is_there = |key: &String| key_fields(keys, members).any(|(name, _)| name == key);
    let omitted = keys.as_written.iter().find(|key| !is_there(key))?;
    Some(NoIdentity::NoKey(omitted.clone()))
}

impl Identity<'_> {
    /// Whether the element has keys by their defaults alone.
    pub(crate) fn omits_keys(self) -> bool {
        match self {
            Identity::Keys(keys, KeyMembers { all, .. }) => {
                !keys.sorted.iter().any(|key| all.contains_key(&*key.name))
            }
            Identity::Value(_) => false,
        }
    }

    pub(crate) fn cmp(self, other: Identity<'_>) -> Ordering {
        match (self, other) {
            (Identity::Keys(keys, left), Identity::Keys(other, right)) => {
                match left.first.zip(right.first) {
                    // The elements of one list have the same keys.
                    Some((left, right)) if keys.sorted.len() == 1 => compare_values(left, right),
                    _ => compare_keys(key_fields(keys, left), key_fields(other, right)),
                }
            }
            (Identity::Value(left), Identity::Value(right)) => compare_values(left, right),
            (Identity::Keys(..), Identity::Value(_)) => Ordering::Less,
            (Identity::Value(_), Identity::Keys(..)) => Ordering::Greater,
        }
    }

    /// Returns the step to the element.
    pub(crate) fn element(self) -> PathElement {
        match self {
            Identity::Keys(keys, members) => {
                let fields = key_fields(keys, members);
                PathElement::key(
                    fields
                        .map(|(name, value)| (name.to_owned(), DeepValue::from(deep_clone(value)))),
                )
            }
            Identity::Value(value) => PathElement::value(value.clone()),
        }
    }

    /// Returns how a step compares with the step to the element.
    pub(crate) fn order_of(self, element: &PathElement) -> Ordering {
        match self {
            Identity::Keys(keys, members) => element.cmp_key(key_fields(keys, members)),
            Identity::Value(value) => element.cmp_value(value),
        }
    }

    /// Finds the step to the element in a set.
    pub(crate) fn find_in(self, set: &FieldSet) -> Option<&Node> {
        set.find(|element| self.order_of(element))
    }
}

/// An element of an associative list.
#[derive(Clone, Copy)]
pub(crate) struct Item<'v> {
    pub(crate) identity: Identity<'v>,
    pub(crate) value: &'v Value,
    pub(crate) position: usize,
}

impl Item<'_> {
    pub(crate) fn cmp(&self, other: &Item<'_>) -> Ordering {
        self.identity.cmp(other.identity)
    }

    pub(crate) fn is_like(&self, other: &Item<'_>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<'s> List<'s> {
    /// Returns the identity of an element of an associative list.
    pub(crate) fn identify<'v>(self, element: &'v Value) -> Result<Identity<'v>, NoIdentity>
    where
        's: 'v,
    {
        match (self.kind, element) {
            (ListKindRef::Keyed(keys), Value::Object(all)) => {
                let first = keys.sorted.first().and_then(|key| key.value_in(all));
                let members = KeyMembers { all, first };
                match without_identity(keys, members) {
                    None => Ok(Identity::Keys(keys, members)),
                    Some(reason) => Err(reason),
                }
            }
            (ListKindRef::Keyed(_), Value::Null) => Err(NoIdentity::NullWithKeys),
            (ListKindRef::Keyed(_), _) => Err(NoIdentity::NotAMap),
            (_, Value::Object(_)) => Err(NoIdentity::MapInSet),
            (_, Value::Array(_)) => Err(NoIdentity::ListInSet),
            (_, Value::Null) => Err(NoIdentity::NullInSet),
            (_, scalar) => Ok(Identity::Value(scalar)),
        }
    }

    /// Returns the elements that have an identity, in their order. All elements of a checked value
    /// have one.
    pub(crate) fn identified<'v>(self, items: &'v [Value]) -> Vec<Item<'v>>
    where
        's: 'v,
    {
        let mut identified = Vec::with_capacity(items.len());
        identified.extend(items.iter().enumerate().filter_map(|(position, value)| {
            Some(Item { identity: self.identify(value).ok()?, value, position })
        }));
        identified
    }

    /// Returns the elements in the order of their identities; those of the same identity keep their
    /// order.
    pub(crate) fn in_order<'v>(self, items: &'v [Value]) -> Vec<Item<'v>>
    where
        's: 'v,
    {
        let mut items = self.identified(items);
        items.sort_by(Item::cmp);
        items
    }
}
