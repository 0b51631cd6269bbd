//! The values at the paths of a set, and paths of positions as sets have them.

use billhook_apimachinery::value::grow;
use billhook_apimachinery::{FieldPath, Segment};
use serde_json::Value;

use crate::field_set::{FieldSet, Node, OwnedPath};
use crate::identity::Item;
use crate::join::{Pair, join};
use crate::path_element::{PathElement, PathElementKind};
use crate::shape::{List, ListKindRef, Type};

/// Returns the topmost members of a set that a value has, with what is there. Of list elements with
/// one identity it is the first.
pub(crate) fn values_at<'v>(
    type_: Type<'v>,
    value: &'v Value,
    set: &FieldSet,
) -> Vec<(OwnedPath, &'v Value)> {
    let mut walk = Walk { above: Vec::new(), found: Vec::new() };
    walk.below(type_, value, set);
    walk.found
}

struct Walk<'v> {
    above: Vec<PathElement>,
    found: Vec<(OwnedPath, &'v Value)>,
}

impl<'v> Walk<'v> {
    fn below(&mut self, type_: Type<'v>, value: &'v Value, set: &FieldSet) {
        match value {
            Value::Object(members) => {
                for node in set.nodes() {
                    let PathElementKind::Field(name) = node.element.kind() else { continue };
                    if let Some(member) = members.get(name) {
                        self.node(type_, member, node);
                    }
                }
            }
            Value::Array(items) => {
                let Some(list) = type_.list() else { return };
                let items = list.in_order(items);
                let nodes = set.nodes().iter();
                let groups = items.chunk_by(Item::is_like).filter_map(<[Item<'_>]>::first);
                let pairs = join(nodes, groups, |node, item| item.identity.order_of(&node.element));
                for pair in pairs {
                    if let Pair::Both(node, item) = pair {
                        self.node(type_, item.value, node);
                    }
                }
            }
            _ => {}
        }
    }

    fn node(&mut self, above: Type<'v>, value: &'v Value, node: &Node) {
        self.above.push(node.element.clone());
        if node.is_member {
            self.found.push((OwnedPath::from(self.above.clone()), value));
        } else if let Some(member) = above.step(&node.element) {
            grow(|| self.below(member.type_, value, &node.children));
        }
        self.above.pop();
    }
}

/// Returns the path of a place in a value: elements of lists that have identities by these, all
/// others by their position.
pub(crate) fn owned_path(type_: Type<'_>, value: &Value, path: &FieldPath) -> OwnedPath {
    let mut elements = Vec::new();
    let (mut type_, mut value) = (Some(type_), Some(value));
    for segment in path.segments() {
        let element = match segment {
            Segment::Index(index) => {
                let list = type_.and_then(Type::list);
                let item = value.and_then(|value| value.get(index));
                let element = list.zip(item).and_then(|(list, item)| identity(list, item));
                value = item;
                let position = i64::try_from(index).unwrap_or(i64::MAX);
                element.unwrap_or_else(|| PathElement::index(position))
            }
            Segment::Name(name) | Segment::Key(name) => {
                value = value.and_then(|value| value.get(name));
                PathElement::field(name)
            }
            _ => break,
        };
        type_ = type_.and_then(|type_| Some(type_.step(&element)?.type_));
        elements.push(element);
    }
    OwnedPath::from(elements)
}

fn identity(list: List<'_>, item: &Value) -> Option<PathElement> {
    match list.kind {
        ListKindRef::Atomic => None,
        _ => Some(list.identify(item).ok()?.element()),
    }
}
