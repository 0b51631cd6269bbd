//! Taking the fields of a set out of a value (SA-73).

use billhook_apimachinery::value::grow;
use serde_json::{Map as Object, Value};

use crate::edit::{Edit, Element, Part};
use crate::field_set::{FieldSet, Node};
use crate::shape::{List, Map, Shape, Type};

/// Returns the edit that takes the members of a set out of a value, which was checked. A granular map
/// or list that loses all of its content becomes null, as does anything that cannot be entered.
pub(crate) fn removal<'s>(type_: Type<'_>, value: &Value, set: &'s FieldSet) -> Option<Edit<'s>> {
    static NULL: Value = Value::Null;
    if set.is_empty() {
        return None;
    }
    let (edit, is_emptied) = match (type_.shape(value), value) {
        (Some(Shape::Map(map)), Value::Object(members)) if !map.is_atomic => {
            grow(|| removal_of_members(map, members, set))
        }
        (Some(Shape::List(list)), Value::Array(items)) if !list.is_atomic() => {
            grow(|| removal_of_items(list, items, set))
        }
        (Some(Shape::Map(_)), Value::Object(_)) | (Some(Shape::List(_)), Value::Array(_)) => {
            (None, true)
        }
        _ => return None,
    };
    if is_emptied { Some(Edit::Set(&NULL)) } else { edit }
}

/// Returns the edit, and whether nothing is left.
fn removal_of_members<'s>(
    map: Map<'_>,
    members: &Object<String, Value>,
    set: &'s FieldSet,
) -> (Option<Edit<'s>>, bool) {
    let (mut types, mut left) = (map.members(), members.len());
    let edit = |node: &'s Node| {
        let name = node.element.as_field()?;
        let value = members.get(name)?;
        if node.is_member {
            left -= 1;
            return Some((Part::Member(name), Edit::Remove));
        }
        let edit = removal(types.find(name)?.type_, value, &node.children)?;
        Some((Part::Member(name), edit))
    };
    let edits = set.nodes().iter().filter_map(edit).collect();
    (Edit::of_parts(edits), left == 0)
}

/// Returns the edit, and whether nothing is left.
fn removal_of_items<'s>(
    list: List<'_>,
    items: &[Value],
    set: &'s FieldSet,
) -> (Option<Edit<'s>>, bool) {
    let mut kept = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        let identity = list.identify(item).ok();
        let node = identity.and_then(|identity| identity.find_in(set));
        if node.is_none_or(|node| !node.is_member) {
            let edit = node.and_then(|node| removal(list.items, item, &node.children));
            kept.push(Element { from: Some(position), edit });
        }
    }
    if kept.is_empty() {
        return (None, true);
    }
    let stay = kept.len() == items.len();
    (Edit::of_list(stay, kept.into_iter()), false)
}
