//! Taking the fields of a set out of a value (SA-73).

use billhook_apimachinery::value::{deep_clone, grow, in_order};
use serde_json::{Map as Object, Value};

use crate::field_set::{FieldSet, Node};
use crate::shape::{List, Map, Shape, Type};

/// Returns a value, which was checked, without the members of a set. A granular map or list that
/// loses all of its content becomes null, as does anything that cannot be entered.
pub(crate) fn remove(type_: Type<'_>, value: &Value, set: &FieldSet) -> Value {
    if set.is_empty() {
        return deep_clone(value);
    }
    match (type_.shape(value), value) {
        (Some(Shape::Map(map)), Value::Object(members)) => match map.is_atomic {
            true => Value::Null,
            false => grow(|| remove_members(map, members, set)),
        },
        (Some(Shape::List(list)), Value::Array(items)) => match list.is_atomic() {
            true => Value::Null,
            false => grow(|| remove_items(list, items, set)),
        },
        _ => value.clone(),
    }
}

fn remove_members(map: Map<'_>, members: &Object<String, Value>, set: &FieldSet) -> Value {
    let mut types = map.members();
    let keep = |(name, value): (&String, &Value)| {
        let kept = match (set.find(|element| element.cmp_field(name)), types.find(name)) {
            (Some(Node { is_member: true, .. }), _) => return None,
            (Some(node), Some(member)) => remove(member.type_, value, &node.children),
            _ => deep_clone(value),
        };
        Some((name.clone(), kept))
    };
    let kept: Object<_, _> = in_order(members).filter_map(keep).collect();
    if kept.is_empty() { Value::Null } else { Value::Object(kept) }
}

fn remove_items(list: List<'_>, items: &[Value], set: &FieldSet) -> Value {
    let keep = |item: &Value| {
        let identity = list.identify(item).ok();
        match identity.and_then(|identity| identity.find_in(set)) {
            Some(Node { is_member: true, .. }) => None,
            Some(node) => Some(remove(list.items, item, &node.children)),
            None => Some(deep_clone(item)),
        }
    };
    let kept: Vec<Value> = items.iter().filter_map(keep).collect();
    if kept.is_empty() { Value::Null } else { Value::Array(kept) }
}
