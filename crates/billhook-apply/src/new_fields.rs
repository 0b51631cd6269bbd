//! The fields that the creation of an object sets, as its managed fields have them (SA-23, SA-27).
//! They are printed on the way, since few of them are ever asked for as a set.

use billhook_apimachinery::print::push_json_string;
use billhook_apimachinery::value::{grow, in_order};
use serde_json::{Map as Object, Value};

use crate::compare::{has_items, has_members};
use crate::field_set::{FieldSet, NOTHING, Node};
use crate::fields_v1::{CAPACITY, KEY_CAPACITY, MARK, push_field_key, write_element_key};
use crate::identity::Item;
use crate::order::equal;
use crate::shape::{List, Map, Shape, Type};

/// Fields that are left out.
#[derive(Clone, Copy)]
pub(crate) struct LeftOut<'s> {
    /// These and all that is below them.
    pub(crate) whole: &'s FieldSet,
    /// These, but not what is below them.
    pub(crate) alone: &'s FieldSet,
}

impl<'s> LeftOut<'s> {
    /// Returns whether a step is left out, and the fields that are below it; none if all of it is.
    fn step(self, find: impl Fn(&'s FieldSet) -> Option<&'s Node>) -> Option<(bool, Self)> {
        let [whole, alone] = [self.whole, self.alone].map(find);
        if whole.is_some_and(|node| node.is_member) {
            return None;
        }
        let [whole, alone_below] =
            [whole, alone].map(|node| node.map_or(&NOTHING, |node| &node.children));
        Some((alone.is_some_and(|node| node.is_member), LeftOut { whole, alone: alone_below }))
    }

    fn member(self, name: &str) -> Option<(bool, Self)> {
        self.step(|set| set.nodes().iter().find(|node| node.element.as_field() == Some(name)))
    }
}

/// Returns the JSON of the fields in which a new object differs from an empty one, both of which were
/// checked; none if that takes a comparison of lists, or of values of different shapes.
pub(crate) fn new_fields_json(
    type_: Type<'_>,
    empty: &Value,
    new: &Value,
    left_out: LeftOut<'_>,
) -> Option<String> {
    let mut out = String::with_capacity(CAPACITY);
    out.push('{');
    let difference = Difference::between(type_, empty, new)?;
    difference.push_parts(left_out, &mut out)?;
    out.push('}');
    Some(out)
}

/// The fields that a new value has and an empty one does not.
struct Difference<'v> {
    /// Whether the place itself differs.
    is_set: bool,
    parts: Parts<'v>,
}

/// The parts of a value that are owned one by one.
enum Parts<'v> {
    Nothing,
    Members {
        map: Map<'v>,
        empty: Option<&'v Object<String, Value>>,
        new: &'v Object<String, Value>,
    },
    Items {
        list: List<'v>,
        new: &'v [Value],
    },
}

impl<'v> Difference<'v> {
    fn between(type_: Type<'v>, empty: &'v Value, new: &'v Value) -> Option<Self> {
        let (left, right) = (type_.shape(empty), type_.shape(new));
        let is_alike = match (&left, &right) {
            (Some(left), Some(right)) => left.is_like(right),
            (left, right) => left.is_none() && right.is_none(),
        };
        if !is_alike || has_items(empty) {
            return None;
        }
        let has_parts = match right {
            Some(Shape::Map(map)) => !map.is_atomic && (has_members(empty) || has_members(new)),
            Some(Shape::List(list)) => !list.is_atomic() && has_items(new),
            _ => false,
        };
        if !has_parts {
            return Some(Difference { is_set: !equal(empty, new), parts: Parts::Nothing });
        }
        Some(Difference { is_set: false, parts: Parts::of(type_, empty.as_object(), new) })
    }

    fn added(type_: Type<'v>, new: &'v Value) -> Self {
        Difference { is_set: true, parts: Parts::of(type_, None, new) }
    }

    /// Appends what differs, `{…}`; nothing if nothing does. Returns none if that takes more than this.
    fn push(self, is_left_out: bool, left_out: LeftOut<'_>, out: &mut String) -> Option<()> {
        let is_member = self.is_set && !is_left_out;
        let start = out.len();
        out.push('{');
        let inside = out.len();
        if is_member {
            out.push_str(MARK);
        }
        let marked = out.len();
        self.push_parts(left_out, out)?;
        if out.len() > marked {
            out.push('}');
        } else if is_member {
            out.truncate(inside);
            out.push('}');
        } else {
            out.truncate(start);
        }
        Some(())
    }

    fn push_parts(self, left_out: LeftOut<'_>, out: &mut String) -> Option<()> {
        match self.parts {
            Parts::Nothing => Some(()),
            Parts::Members { map, empty, new } => {
                grow(|| push_members(map, empty, new, left_out, out))
            }
            Parts::Items { list, new } => grow(|| push_items(list, new, left_out, out)),
        }
    }
}

impl<'v> Parts<'v> {
    fn of(type_: Type<'v>, empty: Option<&'v Object<String, Value>>, new: &'v Value) -> Self {
        match (type_.shape(new), new) {
            (Some(Shape::Map(map)), Value::Object(new)) if !map.is_atomic => {
                Parts::Members { map, empty, new }
            }
            (Some(Shape::List(list)), Value::Array(new)) if !list.is_atomic() => {
                Parts::Items { list, new }
            }
            _ => Parts::Nothing,
        }
    }
}

fn push_members(
    map: Map<'_>,
    empty: Option<&Object<String, Value>>,
    new: &Object<String, Value>,
    left_out: LeftOut<'_>,
    out: &mut String,
) -> Option<()> {
    let mut types = map.members();
    for (name, value) in in_order(new) {
        let Some(type_) = types.find(name).map(|member| member.type_) else { continue };
        let Some((is_left_out, left_out)) = left_out.member(name) else { continue };
        let difference = match empty.and_then(|empty| empty.get(name)) {
            Some(empty) => Difference::between(type_, empty, value)?,
            None => Difference::added(type_, value),
        };
        push_part(
            |out| push_field_key(name, out),
            out,
            |out| difference.push(is_left_out, left_out, out),
        )?;
    }
    Some(())
}

fn push_items<'v>(
    list: List<'v>,
    new: &'v [Value],
    left_out: LeftOut<'_>,
    out: &mut String,
) -> Option<()> {
    let known = list.in_order(new);
    if known.len() < new.len() {
        return None;
    }
    let part = |group: &[Item<'v>]| {
        let identity = group.first()?.identity;
        let (is_left_out, left_out) = left_out.step(|set| identity.find_in(set))?;
        let mut key = String::with_capacity(KEY_CAPACITY);
        write_element_key(identity, &mut key);
        // Elements that repeat count as a whole.
        let only = group.first().filter(|_| group.len() == 1).map(|only| only.value);
        Some((key, only, is_left_out, left_out))
    };
    let mut parts: Vec<_> = known.chunk_by(Item::is_like).filter_map(part).collect();
    parts.sort_by(|left, right| left.0.cmp(&right.0));
    for (key, only, is_left_out, left_out) in parts {
        let difference = match only {
            Some(value) => Difference::added(list.items, value),
            None => Difference { is_set: true, parts: Parts::Nothing },
        };
        push_part(
            |out| push_json_string(&key, out),
            out,
            |out| difference.push(is_left_out, left_out, out),
        )?;
    }
    Some(())
}

/// Appends a part if there is anything of it.
fn push_part(
    key: impl FnOnce(&mut String),
    out: &mut String,
    part: impl FnOnce(&mut String) -> Option<()>,
) -> Option<()> {
    let start = out.len();
    if !out.ends_with('{') {
        out.push(',');
    }
    key(out);
    out.push(':');
    let before = out.len();
    part(out)?;
    if out.len() == before {
        out.truncate(start);
    }
    Some(())
}
