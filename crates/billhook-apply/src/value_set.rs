//! The set of all fields of a value (SA-26, SA-27), and the parents that go with a set (SA-28).

use billhook_apimachinery::value::{grow, in_order};
use serde_json::{Map as Object, Value};

use crate::field_set::{FieldSet, Node};
use crate::identity::Item;
use crate::path_element::{PathElement, PathElementKind};
use crate::shape::{List, Map, Member, Shape, Type};

/// Whether a value is a member itself, and the members below it.
pub(crate) struct ValueFields {
    pub(crate) is_member: bool,
    pub(crate) below: FieldSet,
}

/// Which steps on the way to a value are members themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ways {
    /// Those that are not declared fields (SA-26).
    Undeclared,
    /// All of them (SA-27).
    All,
}

/// Returns the set of a value, which was checked.
pub(crate) fn set_of(type_: Type<'_>, value: &Value) -> FieldSet {
    fields(type_, value).below
}

/// Returns the fields of a value, which was checked.
pub(crate) fn fields(type_: Type<'_>, value: &Value) -> ValueFields {
    Ways::Undeclared.fields(type_, value)
}

/// Returns the fields that differ where only one of two objects has a value, which was checked.
pub(crate) fn one_sided_fields(type_: Type<'_>, value: &Value) -> ValueFields {
    Ways::All.fields(type_, value)
}

impl Ways {
    fn fields(self, type_: Type<'_>, value: &Value) -> ValueFields {
        let is_all = self == Ways::All;
        match (type_.shape(value), value) {
            (Some(Shape::Map(map)), Value::Object(members)) if !map.is_atomic => {
                let below = grow(|| self.map_fields(map, members));
                ValueFields { is_member: is_all || members.is_empty(), below }
            }
            (Some(Shape::List(list)), Value::Array(items)) if !list.is_atomic() => {
                ValueFields { is_member: is_all, below: grow(|| self.list_fields(list, items)) }
            }
            _ => ValueFields { is_member: true, below: FieldSet::default() },
        }
    }

    fn map_fields(self, map: Map<'_>, members: &Object<String, Value>) -> FieldSet {
        let mut types = map.members();
        let node = |(name, value): (&String, &Value)| {
            let member = types.find(name)?;
            let ValueFields { is_member, below } = self.fields(member.type_, value);
            let element = PathElement::field(name.as_str());
            Some(Node::new(element, is_member || !member.is_declared, below))
        };
        FieldSet::from_sorted(in_order(members).filter_map(node).collect())
    }

    fn list_fields(self, list: List<'_>, items: &[Value]) -> FieldSet {
        let known = list.in_order(items);
        let node = |group: &[Item<'_>]| {
            let below = match group {
                [only] => self.fields(list.items, only.value).below,
                _ => FieldSet::default(),
            };
            Some(Node::new(group.first()?.identity.element(), true, below))
        };
        let mut nodes: Vec<Node> = known.chunk_by(Item::is_like).filter_map(node).collect();
        if known.len() < items.len() {
            nodes.extend(unknown(list, items));
        }
        FieldSet::from_sorted(nodes)
    }
}

/// Elements without an identity, as removal leaves them (SA-73): the list around them is there.
fn unknown(list: List<'_>, items: &[Value]) -> impl Iterator<Item = Node> {
    let unknown = items.iter().enumerate().filter(move |(_, item)| list.identify(item).is_err());
    unknown.map(|(position, _)| {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        Node::new(PathElement::index(position), true, FieldSet::default())
    })
}

/// Whether the set of a value that is a declared field has anything, the field included.
pub(crate) fn has_fields(type_: Type<'_>, value: &Value) -> bool {
    match (type_.shape(value), value) {
        (Some(Shape::Map(map)), Value::Object(members)) if !map.is_atomic => {
            let mut types = map.members();
            let mut has_fields = |(name, value): (&String, &Value)| {
                let member = types.find(name);
                member.is_some_and(|it| !it.is_declared || grow(|| has_fields(it.type_, value)))
            };
            members.is_empty() || in_order(members).any(&mut has_fields)
        }
        (Some(Shape::List(list)), Value::Array(items)) if !list.is_atomic() => {
            items.iter().any(|item| list.identify(item).is_ok())
        }
        _ => true,
    }
}

/// Whether a set is as that of a configuration: all steps that are not declared fields are members,
/// and elements with keys have fields.
pub(crate) fn is_of_apply(type_: Type<'_>, set: &FieldSet) -> bool {
    set.nodes().iter().all(|node| {
        let member = type_.step(&node.element);
        member.is_some_and(|member| is_node_of_apply(member, node))
    })
}

/// The same for a step of a set.
pub(crate) fn is_node_of_apply(member: Member<'_>, node: &Node) -> bool {
    let is_element = matches!(node.element.kind(), PathElementKind::Key(_));
    (node.is_member || member.is_declared)
        && !(is_element && node.children.is_empty())
        && grow(|| is_of_apply(member.type_, &node.children))
}

/// Returns a set with all declared fields on the ways to its members (SA-28).
pub(crate) fn closure(type_: Type<'_>, set: &FieldSet) -> FieldSet {
    let node = |node: &Node| match type_.step(&node.element) {
        Some(member) => Node::new(
            node.element.clone(),
            node.is_member || member.is_declared,
            grow(|| closure(member.type_, &node.children)),
        ),
        None => node.clone(),
    };
    FieldSet::from_sorted(set.nodes().iter().map(node).collect())
}
