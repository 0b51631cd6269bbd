//! Repeated elements of list sets and list maps (VV-40 to VV-45).

use std::collections::HashMap;

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::{deep_clone, grow, sorted};
use billhook_apimachinery::{FieldError, Location};
use billhook_schema::NodeId;
use serde_json::{Map, Value};

use crate::compile::{Additional, Arena, Node};
use crate::identity::Identity;
use crate::list_type::ListType;
use crate::members::listed;
use crate::report::Report;

/// The walk over an object that looks only at list types.
pub(crate) struct ListWalk<'w> {
    pub(crate) arena: &'w Arena,
}

impl ListWalk<'_> {
    /// Checks all lists below the root object.
    pub(crate) fn root<R: Report>(&self, id: NodeId, value: &Value, report: &mut R) {
        if value.is_object() {
            self.node(id, value, &Location::TOP, report);
        }
    }

    fn node<R: Report>(&self, id: NodeId, value: &Value, at: &Location<'_>, report: &mut R) {
        let node = self.arena.node(id);
        if !node.has_list_type || report.is_done() {
            return;
        }
        match value {
            Value::Array(items) => grow(|| {
                match &node.list {
                    ListType::None => {}
                    ListType::Set => set(items, at, report),
                    ListType::Map(keys) => map(items, keys, at, report),
                }
                let Some(id) = node.items else { return };
                for (index, item) in items.iter().enumerate() {
                    self.node(id, item, &at.index(index), report);
                }
            }),
            Value::Object(members) if R::ORDERED => grow(|| {
                self.members(node, sorted(members), at, report);
            }),
            Value::Object(members) => grow(|| {
                self.members(node, members, at, report);
            }),
            _ => {}
        }
    }

    fn members<'v, R: Report>(
        &self,
        node: &Node,
        members: impl IntoIterator<Item = (&'v String, &'v Value)>,
        at: &Location<'_>,
        report: &mut R,
    ) {
        let known = self.arena.at(node).members();
        let mut next = 0;
        for (key, member) in members {
            let property = known.find(key, next);
            next = property.map_or(next, |property| property.position() + 1);
            match (listed(property), node.additional) {
                (Some(id), _) => self.node(id, member, &at.name(key), report),
                (None, Additional::Schema(id)) => self.node(id, member, &at.key(key), report),
                _ => {}
            }
        }
    }
}

/// Up to this many elements are compared one by one.
const MAX_COMPARED: usize = 8;

/// Reports the second occurrence of each repeated identity (VV-40).
fn second_occurrences<'v>(
    identities: impl ExactSizeIterator<Item = Identity<'v>>,
    mut report: impl FnMut(usize),
) {
    if identities.len() <= MAX_COMPARED {
        let identities: Vec<Identity<'v>> = identities.collect();
        for (index, identity) in identities.iter().enumerate() {
            if identities.iter().take(index).filter(|other| *other == identity).count() == 1 {
                report(index);
            }
        }
        return;
    }
    let mut seen: HashMap<Identity<'v>, bool> = HashMap::new();
    for (index, identity) in identities.enumerate() {
        match seen.entry(identity) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(false);
            }
            std::collections::hash_map::Entry::Occupied(mut entry) => {
                if !entry.insert(true) {
                    report(index);
                }
            }
        }
    }
}

fn set<R: Report>(items: &[Value], at: &Location<'_>, report: &mut R) {
    second_occurrences(items.iter().map(Identity::of), |index| {
        report.add(|| {
            let value = items.get(index).map_or(Value::Null, deep_clone);
            FieldError::duplicate(at.index(index).to_path(), value)
        });
    });
}

fn map<R: Report>(items: &[Value], keys: &[String], at: &Location<'_>, report: &mut R) {
    let is_foreign = |item: &Value| !item.is_null() && !item.is_object();
    if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| is_foreign(item)) {
        report.add(|| {
            let detail = "must be an object for an array of list-type map";
            FieldError::invalid(at.index(index).to_path(), deep_clone(item), detail)
        });
        return;
    }
    let identities = items.iter().map(|item| key_identity(item, keys));
    second_occurrences(identities, |index| {
        let item = items.get(index).unwrap_or(&Value::Null);
        report.add(|| FieldError::duplicate(at.index(index).to_path(), key_object(item, keys)));
    });
}

/// A single key is compared by kind and value, several together by their canonical JSON (VV-43,
/// VV-44).
fn key_identity<'v>(item: &'v Value, keys: &[String]) -> Identity<'v> {
    match keys {
        [key] => item.get(key).map_or(Identity::Json(String::new()), Identity::of),
        _ => Identity::Json(compact_json(&key_object(item, keys))),
    }
}

/// The key fields that an element has.
fn key_object(item: &Value, keys: &[String]) -> Value {
    let field = |key: &String| Some((key.clone(), deep_clone(item.get(key)?)));
    Value::Object(keys.iter().filter_map(field).collect::<Map<_, _>>())
}
