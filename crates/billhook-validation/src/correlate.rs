//! Which old value a new one replaces, and whether it is unchanged (VV-80 to VV-85).

use std::cell::RefCell;
use std::collections::HashMap;

use billhook_apimachinery::value::{deep_eq, grow};
use billhook_schema::NodeId;
use serde_json::Value;

use crate::compile::{Additional, Arena, Node};
use crate::identity::Identity;
use crate::list_type::ListType;

/// Compares the parts of one object with those of the object it replaces.
pub(crate) struct Correlation<'w> {
    arena: &'w Arena,
    /// Whether the new value's containers are unchanged, if known; a part has one old
    /// counterpart at most.
    unchanged: RefCell<HashMap<*const Value, bool>>,
}

/// The elements of an old list by the keys of the list map that it is (VV-81).
#[derive(Debug)]
pub struct OldElements<'v> {
    keys: &'v [String],
    elements: HashMap<Vec<Identity<'v>>, &'v Value>,
}

impl<'v> OldElements<'v> {
    /// The elements of an old list, if the list correlates its elements at all.
    pub(crate) fn new(node: &'v Node, old: &'v Value) -> Option<Self> {
        let keys = match &node.list {
            ListType::Map(keys) if node.is_array && node.items.is_some() => keys,
            _ => return None,
        };
        let mut elements = HashMap::new();
        for element in old.as_array()? {
            if let Some(identity) = element_key(element, keys) {
                elements.entry(identity).or_insert(element);
            }
        }
        Some(OldElements { keys, elements })
    }

    /// Returns the old element that a new one replaces.
    pub fn get(&self, element: &Value) -> Option<&'v Value> {
        self.elements.get(&element_key(element, self.keys)?).copied()
    }
}

/// The key fields of an element; none if one is missing or no scalar.
fn element_key<'v>(element: &'v Value, keys: &[String]) -> Option<Vec<Identity<'v>>> {
    keys.iter().map(|key| Identity::of_scalar(element.get(key)?)).collect()
}

impl<'w> Correlation<'w> {
    pub(crate) fn new(arena: &'w Arena) -> Self {
        Correlation { arena, unchanged: RefCell::default() }
    }

    /// Whether a value equals the old value it replaces (VV-85).
    pub(crate) fn is_unchanged(&self, id: NodeId, new: &Value, old: &Value) -> bool {
        if !matches!(new, Value::Array(_) | Value::Object(_)) {
            return deep_eq(new, old);
        }
        let key = std::ptr::from_ref(new);
        if let Some(known) = self.unchanged.borrow().get(&key) {
            return *known;
        }
        let result = grow(|| self.compare(id, new, old));
        self.unchanged.borrow_mut().insert(key, result);
        result
    }

    fn compare(&self, id: NodeId, new: &Value, old: &Value) -> bool {
        let node = self.arena.node(id);
        match (new, old) {
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new.iter().all(|(key, new)| match (old.get(key), self.known(node, key)) {
                        (Some(old), Some(id)) => self.is_unchanged(id, new, old),
                        _ => false,
                    })
            }
            (Value::Array(new_items), Value::Array(old_items)) => {
                let (Some(elements), Some(id)) = (OldElements::new(node, old), node.items) else {
                    return deep_eq(new, old);
                };
                new_items.len() == old_items.len()
                    && new_items.iter().all(|new| {
                        elements.get(new).is_some_and(|old| self.is_unchanged(id, new, old))
                    })
            }
            _ => false,
        }
    }

    /// The node of a member that the schema knows.
    fn known(&self, node: &Node, key: &str) -> Option<NodeId> {
        match (self.arena.property(node, key), node.additional) {
            (Some(id), _) | (None, Additional::Schema(id)) => Some(id),
            _ => None,
        }
    }
}
