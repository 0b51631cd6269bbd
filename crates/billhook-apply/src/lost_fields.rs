//! The fields that leave an object because their last owner gives them up (SA-73), where all fields
//! are owned in one version.
//!
//! The server takes all that the manager owned out of the object, puts back what any manager owns, and
//! removes what is missing then. Here only the ways to what is given up are walked.

use std::cmp::Ordering;

use billhook_apimachinery::value::{grow, in_order};
use serde_json::Value;

use crate::field_set::{FieldSet, Node};
use crate::identity::Item;
use crate::join::{Pair, join};
use crate::owners::Owners;
use crate::path_element::PathElement;
use crate::shape::{ListKindRef, Shape, Type};
use crate::value_set::has_fields;

/// A place in an object.
#[derive(Clone)]
pub(crate) struct Place<'p> {
    pub(crate) type_: Type<'p>,
    pub(crate) value: &'p Value,
    /// Everybody who owns fields below.
    pub(crate) owners: Owners<'p>,
}

/// A step of a set, and what it leads to.
struct Found<'p, 'n> {
    node: &'n Node,
    value: &'p Value,
    /// Whether there are more list elements like this one.
    is_repeated: bool,
}

/// A place one step down.
struct Below<'p> {
    place: Place<'p>,
    is_declared: bool,
    /// Whether any manager owns it, or something below if it is declared (SA-28).
    is_owned: bool,
}

impl<'p> Place<'p> {
    /// Returns the fields that go when `lost` has no owner any more, whose steps are declared fields
    /// or are lost themselves; what is below them goes with them.
    ///
    /// None if the server takes apart list elements that stay.
    pub(crate) fn leaving(&self, lost: &FieldSet) -> Option<FieldSet> {
        let mut leaving = Vec::new();
        for Found { node, value, is_repeated } in self.find(lost) {
            let Some(below) = self.below(&node.element, value) else { continue };
            // Elements that repeat are one field.
            let inner = match below.is_owned && !is_repeated {
                true => grow(|| below.place.leaving(&node.children))?,
                false => FieldSet::default(),
            };
            let stays = below.is_owned
                && match below.is_declared {
                    true => below.place.has_fields_left(&inner)?,
                    false => is_repeated || self.keeps_keys_of(&below.place)?,
                };
            let inner = if stays { inner } else { FieldSet::default() };
            leaving.push(Node::new(node.element.clone(), !stays, inner));
        }
        Some(FieldSet::from_sorted(leaving))
    }

    /// Finds the steps of a set.
    fn find<'n>(&self, set: &'n FieldSet) -> Vec<Found<'p, 'n>> {
        let nodes = set.nodes().iter();
        match (self.type_.shape(self.value), self.value) {
            (Some(Shape::Map(map)), Value::Object(members)) if !map.is_atomic => {
                let find = |node: &'n Node| {
                    let value = members.get(node.element.as_field()?)?;
                    Some(Found { node, value, is_repeated: false })
                };
                nodes.filter_map(find).collect()
            }
            (Some(Shape::List(list)), Value::Array(items)) if !list.is_atomic() => {
                let items = list.in_order(items);
                let compare = |node: &&Node, group: &&[Item<'_>]| {
                    let first = group.first();
                    first.map_or(Ordering::Equal, |item| item.identity.order_of(&node.element))
                };
                let pairs = join(nodes, items.chunk_by(Item::is_like), compare);
                let find = |pair: Pair<&'n Node, &[Item<'p>]>| match pair {
                    Pair::Both(node, [item, others @ ..]) => {
                        Some(Found { node, value: item.value, is_repeated: !others.is_empty() })
                    }
                    _ => None,
                };
                pairs.filter_map(find).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The place of a step; none if the object's own set does not have it.
    fn below(&self, element: &PathElement, value: &'p Value) -> Option<Below<'p>> {
        let member = self.type_.step(element)?;
        if member.is_declared && !has_fields(member.type_, value) {
            return None;
        }
        let owned = self.owners.get(element);
        let is_owned = owned.as_ref().is_some_and(|owned| owned.is_member || member.is_declared);
        let owners = owned.map_or_else(Owners::nobody, |owned| owned.below);
        let place = Place { type_: member.type_, value, owners };
        Some(Below { place, is_declared: member.is_declared, is_owned })
    }

    /// Whether a value has a set without its parts that have no owner. Without any part it is null,
    /// which has one. `leaving` are parts of which it is known whether they go.
    fn has_fields_left(&self, leaving: &FieldSet) -> Option<bool> {
        let mut is_emptied = true;
        match (self.type_.shape(self.value), self.value) {
            (Some(Shape::Map(map)), Value::Object(members)) if !map.is_atomic => {
                for (name, value) in in_order(members) {
                    let element = PathElement::field(name.as_str());
                    let below = self.below(&element, value);
                    if below.as_ref().is_some_and(|below| !below.is_owned) {
                        continue;
                    }
                    is_emptied = false;
                    let Some(below) = below else { continue };
                    let is_left = !below.is_declared
                        || match leaving.get(&element) {
                            Some(node) => !node.is_member,
                            None => grow(|| below.place.has_fields_left(&FieldSet::default()))?,
                        };
                    if is_left {
                        return Some(true);
                    }
                }
            }
            (Some(Shape::List(list)), Value::Array(items)) if !list.is_atomic() => {
                for item in list.identified(items) {
                    let below = self.below(&item.identity.element(), item.value);
                    if let Some(below) = below.filter(|below| below.is_owned) {
                        return self.keeps_keys_of(&below.place);
                    }
                }
            }
            _ => {}
        }
        Some(is_emptied)
    }

    /// Whether an element of this list, which has an owner, keeps all its keys; otherwise none.
    /// Everything but list elements has none.
    fn keeps_keys_of(&self, element: &Place<'_>) -> Option<bool> {
        let Some(ListKindRef::Keyed(keys)) = self.type_.list().map(|list| list.kind) else {
            return Some(true);
        };
        let is_kept = |name: &str| {
            let step = PathElement::field(name);
            element.value.get(name).is_none() || element.owners.get(&step).is_some()
        };
        (self.value.is_object() || keys.as_written.iter().all(|name| is_kept(name))).then_some(true)
    }
}
