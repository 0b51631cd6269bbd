//! Taking the fields of a set out of a value (SA-73).

use billhook_apimachinery::value::{DeepValue, grow};
use serde_json::{Map as Object, Value};

use crate::field_set::FieldSet;
use crate::shape::{List, Map, Shape, Type};

/// Takes the members of a set out of a value, which was checked. A granular map or list that loses
/// all of its content becomes null, as does anything that cannot be entered.
pub(crate) fn remove(type_: Type<'_>, value: &mut Value, set: &FieldSet) {
    if set.is_empty() {
        return;
    }
    let is_empty = match (type_.shape(value), &mut *value) {
        (Some(Shape::Map(map)), Value::Object(members)) => {
            map.is_atomic || grow(|| remove_members(map, members, set))
        }
        (Some(Shape::List(list)), Value::Array(items)) => {
            list.is_atomic() || grow(|| remove_items(list, items, set))
        }
        _ => return,
    };
    if is_empty {
        take(value);
    }
}

/// Returns whether nothing is left.
fn remove_members(map: Map<'_>, members: &mut Object<String, Value>, set: &FieldSet) -> bool {
    let mut types = map.members();
    for node in set.nodes() {
        let Some(name) = node.element.as_field() else { continue };
        if node.is_member {
            drop(members.remove(name).map(DeepValue::from));
        } else if let (Some(value), Some(member)) = (members.get_mut(name), types.find(name)) {
            remove(member.type_, value, &node.children);
        }
    }
    members.is_empty()
}

/// Returns whether nothing is left.
fn remove_items(list: List<'_>, items: &mut Vec<Value>, set: &FieldSet) -> bool {
    items.retain_mut(|item| {
        let identity = list.identify(item).ok();
        let Some(node) = identity.and_then(|identity| identity.find_in(set)) else { return true };
        match node.is_member {
            true => take(item),
            false => remove(list.items, item, &node.children),
        }
        !node.is_member
    });
    items.is_empty()
}

/// Makes a value of any depth null.
fn take(value: &mut Value) {
    drop(DeepValue::from(value.take()));
}
