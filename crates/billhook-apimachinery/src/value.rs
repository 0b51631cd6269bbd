//! JSON values of any depth.
//!
//! `serde_json::Value` is the value of the public API, but its own `Drop`, `Clone` and `PartialEq`
//! recurse without a bound. The functions here do the same work on any depth the decoder lets in
//! (SS-01, 10,000 levels) on a small stack.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

/// Stack that must be left when a walk goes one level down.
const RED_ZONE: usize = 96 * 1024;
/// Size of the stack segment a walk continues on when the red zone is reached.
const SEGMENT: usize = 2 * 1024 * 1024;

/// Runs one level of a recursive walk, moving to a new stack segment when the current one is
/// nearly used up.
#[inline]
pub fn grow<R>(walk: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, SEGMENT, walk)
}

/// Runs work on a value by code that recurses without a bound, on a stack large enough for it.
pub fn with_depth<R>(value: &Value, work: impl FnOnce() -> R) -> R {
    /// The stack that one level of foreign code may take, generously.
    const LEVEL: usize = 16 * 1024;
    let needed = (depth(value) + 8) * LEVEL;
    stacker::maybe_grow(needed, needed + SEGMENT, work)
}

/// Returns how deep lists and objects are nested in a value; 0 for a scalar.
pub fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut pending = vec![(value, 0)];
    while let Some((value, level)) = pending.pop() {
        deepest = deepest.max(level);
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, level + 1)));
            }
            _ => {}
        }
    }
    deepest
}

/// A number as the server sees it (SS-01): a 64-bit integer or a double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    /// A literal without fraction or exponent that fits `i64`.
    Int(i64),
    /// Everything else.
    Float(f64),
}

impl Num {
    /// Classifies a JSON number.
    pub fn of(number: &serde_json::Number) -> Num {
        match number.as_i64() {
            Some(int) => Num::Int(int),
            None => Num::Float(number.as_f64().unwrap_or(f64::MAX)),
        }
    }

    /// Returns the value as a double.
    pub fn as_f64(self) -> f64 {
        match self {
            Num::Int(int) => int as f64,
            Num::Float(float) => float,
        }
    }

    /// Returns the value as a 64-bit integer, if it is one; whole floats count as integers (OM-03).
    #[inline]
    pub fn to_i64(self) -> Option<i64> {
        match self {
            Num::Int(int) => Some(int),
            Num::Float(float) => (float.fract() == 0.0 && (-TWO_TO_63..TWO_TO_63).contains(&float))
                .then_some(float as i64),
        }
    }

    /// Returns the value as a 32-bit integer, if it is one.
    #[inline]
    pub fn to_i32(self) -> Option<i32> {
        i32::try_from(self.to_i64()?).ok()
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// Drops a value of any depth.
pub fn dismantle(value: Value) {
    let mut deeper = Vec::new();
    drop_levels(value, DROPPED_LEVELS, &mut deeper);
    while let Some(value) = deeper.pop() {
        drop_levels(value, DROPPED_LEVELS, &mut deeper);
    }
}

/// The number of levels that plain recursion may take, on whatever stack is left.
const SHALLOW: usize = 24;

/// Whether a value has at most so many levels of containers.
fn is_shallow(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(items), Some(levels)) => items.iter().all(|item| is_shallow(item, levels)),
        (Value::Object(members), Some(levels)) => {
            members.values().all(|member| is_shallow(member, levels))
        }
        (Value::Array(_) | Value::Object(_), None) => false,
        _ => true,
    }
}

/// The number of levels that are dropped by recursion at a time.
const DROPPED_LEVELS: usize = 100;

/// Drops some levels of a value; containers below them are left in `deeper`.
fn drop_levels(value: Value, levels: usize, deeper: &mut Vec<Value>) {
    let mut drop_below = |below: Value| {
        if is_nonempty(&below) {
            match levels.checked_sub(1) {
                Some(levels) => drop_levels(below, levels, deeper),
                None => deeper.push(below),
            }
        }
    };
    match value {
        Value::Array(items) => items.into_iter().for_each(drop_below),
        Value::Object(members) => members.into_iter().for_each(|(_, member)| drop_below(member)),
        _ => {}
    }
}

/// Returns whether a value is a list or an object with something in it.
pub fn is_nonempty(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

/// Returns the value at a place, such as `/spec/ports/0` or `spec`: a JSON pointer to names without
/// escapes, whose first slash may be left out. It takes no memory.
pub fn at<'v>(mut value: &'v Value, place: &str) -> Option<&'v Value> {
    let mut rest = place;
    while let Some(step) = next_step(&mut rest) {
        value = match value {
            Value::Object(members) => members.get(step)?,
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// As [`at`], to change the value.
pub fn at_mut<'v>(mut value: &'v mut Value, place: &str) -> Option<&'v mut Value> {
    let mut rest = place;
    while let Some(step) = next_step(&mut rest) {
        value = match value {
            Value::Object(members) => members.get_mut(step)?,
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// Takes the next step of a place from its rest. Steps are too short to be searched in.
fn next_step<'p>(rest: &mut &'p str) -> Option<&'p str> {
    if rest.is_empty() {
        return None;
    }
    let begun = rest.strip_prefix('/').unwrap_or(rest);
    let end = begun.bytes().position(|byte| byte == b'/').unwrap_or(begun.len());
    let (step, after) = begun.split_at_checked(end)?;
    *rest = after;
    Some(step)
}

/// Makes a value a copy of another one. Of what it held, parts that are in the copy, too, need no
/// memory again.
pub fn deep_clone_from(target: &mut Value, source: &Value) {
    match (&mut *target, source) {
        (Value::String(target), Value::String(source)) => target.clone_from(source),
        (Value::Array(target), Value::Array(source)) => grow(|| {
            if target.len() > source.len() {
                target.drain(source.len()..).for_each(dismantle);
            }
            let mut items = source.iter();
            target
                .iter_mut()
                .zip(&mut items)
                .for_each(|(target, item)| deep_clone_from(target, item));
            target.extend(items.map(deep_clone));
        }),
        (Value::Object(target), Value::Object(source)) => grow(|| {
            let mut loses_some = false;
            for (name, member) in target.iter_mut() {
                if let Some(source) = source.get(name) {
                    deep_clone_from(member, source);
                } else {
                    dismantle(member.take());
                    loses_some = true;
                }
            }
            if loses_some {
                target.retain(|name, _| source.contains_key(name));
            }
            if target.len() < source.len() {
                for (name, member) in source {
                    if !target.contains_key(name) {
                        target.insert(name.clone(), deep_clone(member));
                    }
                }
            }
        }),
        (target, source) => dismantle(std::mem::replace(target, deep_clone(source))),
    }
}

/// Copies a value of any depth.
pub fn deep_clone(value: &Value) -> Value {
    if is_shallow(value, SHALLOW) {
        return value.clone();
    }
    match value {
        Value::Array(items) => grow(|| Value::Array(items.iter().map(deep_clone).collect())),
        Value::Object(members) => grow(|| {
            let copy: Map<String, Value> =
                members.iter().map(|(key, member)| (key.clone(), deep_clone(member))).collect();
            Value::Object(copy)
        }),
        scalar => scalar.clone(),
    }
}

/// Returns whether there are floats in a value: whole ones are written as integers (SS-01).
pub fn has_floats(value: &Value) -> bool {
    match value {
        Value::Number(number) => matches!(Num::of(number), Num::Float(_)),
        Value::Array(items) if !items.is_empty() => grow(|| items.iter().any(has_floats)),
        Value::Object(members) if !members.is_empty() => grow(|| members.values().any(has_floats)),
        _ => false,
    }
}

/// Returns an estimate, in bytes, of the memory that a value takes.
pub fn footprint(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => grow(|| items.iter().map(footprint).sum()),
        Value::Object(members) if !members.is_empty() => grow(|| {
            let members = members.iter();
            SMALL_OBJECT + members.map(|(key, value)| key.len() + footprint(value)).sum::<usize>()
        }),
        _ => 0,
    };
    size_of::<Value>() + inside
}

/// The bytes that an object with a few members takes besides them.
const SMALL_OBJECT: usize = 512;

/// Compares two values as the server does: integers and floats are different kinds, member order
/// does not matter.
pub fn deep_eq(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => Num::of(left) == Num::of(right),
        _ => have_equal_parts(left, right, deep_eq),
    }
}

/// Returns whether two lists or objects have equal parts; other values do not.
pub fn have_equal_parts(
    left: &Value,
    right: &Value,
    equal: impl Fn(&Value, &Value) -> bool,
) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && grow(|| left.iter().zip(right).all(|(left, right)| equal(left, right)))
        }
        (Value::Object(left), Value::Object(right)) => {
            let mut pairs = in_order(left).zip(in_order(right));
            left.len() == right.len()
                && grow(|| pairs.all(|(left, right)| left.0 == right.0 && equal(left.1, right.1)))
        }
        _ => false,
    }
}

/// A JSON value that may be of any depth and is dropped, copied and compared on a small stack.
///
/// Cheap to clone: clones share the value until one of them is changed.
#[derive(Clone, Default)]
pub struct DeepValue(Arc<Whole>);

/// A value that clones of a [`DeepValue`] share.
#[derive(Default)]
struct Whole(Value);

impl DeepValue {
    /// Takes the plain value out; from then on its depth is the caller's concern.
    pub fn into_inner(self) -> Value {
        Arc::unwrap_or_clone(self.0).0.take()
    }
}

impl From<Value> for DeepValue {
    fn from(value: Value) -> Self {
        DeepValue(Arc::new(Whole(value)))
    }
}

impl Deref for DeepValue {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.0
    }
}

/// Copies a value that is shared.
impl DerefMut for DeepValue {
    fn deref_mut(&mut self) -> &mut Value {
        &mut Arc::make_mut(&mut self.0).0
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if is_nonempty(&self.0) {
            dismantle(self.0.take());
        }
    }
}

impl Clone for Whole {
    fn clone(&self) -> Self {
        Whole(deep_clone(&self.0))
    }
}

impl PartialEq for DeepValue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || deep_eq(self, other)
    }
}

impl Serialize for DeepValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Plain(self).serialize(serializer)
    }
}

/// Serializes a value of any depth with sorted keys and numbers as the server writes them: whole
/// floats without a fraction (SS-01).
pub struct Plain<'a>(pub &'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Number(number) => {
                let number = Num::of(number);
                match number.to_i64() {
                    Some(int) => serializer.serialize_i64(int),
                    None => serializer.serialize_f64(number.as_f64()),
                }
            }
            Value::Array(items) => grow(|| {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(&Plain(item))?;
                }
                seq.end()
            }),
            Value::Object(members) => grow(|| {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, member) in sorted(members) {
                    map.serialize_entry(key, &Plain(member))?;
                }
                map.end()
            }),
            scalar => scalar.serialize(serializer),
        }
    }
}

/// Returns the members of an object in byte order of their keys, whatever map `serde_json` was
/// built with.
pub fn sorted(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = members.iter().collect();
    if !IS_SORTED && !entries.is_sorted_by(|left, right| left.0 <= right.0) {
        entries.sort_by(|left, right| left.0.cmp(right.0));
    }
    entries
}

/// Whether the map that `serde_json` was built with is the one that sorts its members, as the size
/// tells.
const IS_SORTED: bool = size_of::<Map<String, Value>>() == size_of::<BTreeMap<String, Value>>();

/// Iterates over the members of an object sorted by name; takes no memory for those that are sorted.
#[inline]
pub fn in_order(members: &Map<String, Value>) -> InOrder<'_> {
    match IS_SORTED || members.keys().is_sorted() {
        true => InOrder(Members::AsTheyAre(members.iter())),
        false => in_this_order(sorted(members)),
    }
}

/// Iterates over members that are listed already.
pub(crate) fn in_this_order<'v>(members: Vec<(&'v String, &'v Value)>) -> InOrder<'v> {
    InOrder(Members::Listed(members.into_iter()))
}

/// The members of an object in the order of their names; see [`in_order`].
#[derive(Debug)]
pub struct InOrder<'v>(Members<'v>);

#[derive(Debug)]
enum Members<'v> {
    AsTheyAre(serde_json::map::Iter<'v>),
    Listed(std::vec::IntoIter<(&'v String, &'v Value)>),
}

impl<'v> Iterator for InOrder<'v> {
    type Item = (&'v String, &'v Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Members::AsTheyAre(members) => members.next(),
            Members::Listed(members) => members.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Members::AsTheyAre(members) => members.size_hint(),
            Members::Listed(members) => members.size_hint(),
        }
    }
}

/// Returns the name of a value's JSON type in the server's decoding errors.
pub fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the name of a decoded value's type in the server's accessor errors (RP-75).
pub fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) => match Num::of(number) {
            Num::Int(_) => "int64",
            Num::Float(_) => "float64",
        },
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Returns whether two objects are the same to the server (DI-33): null equals the empty list and the
/// empty map.
pub fn semantically_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, other) | (other, Value::Null) => {
            matches!(other, Value::Null | Value::Array(_) | Value::Object(_)) && !is_nonempty(other)
        }
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
            have_equal_parts(left, right, semantically_equal)
        }
        _ => deep_eq(left, right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_the_order_of_their_names_in_every_map() {
        let inserted = ["b", "a", "c"].map(|name| (name.to_owned(), Value::Null));
        let members: Map<_, _> = inserted.into_iter().collect();
        assert!(in_order(&members).map(|(name, _)| name).is_sorted());
        assert!(sorted(&members).is_sorted_by_key(|(name, _)| *name));
        assert!(!IS_SORTED || members.keys().is_sorted());
    }

    #[test]
    fn a_value_becomes_a_copy_whatever_it_was() {
        let values = serde_json::json!([
            null, true, 7, 7.0, -0.0, 0.0, "", "a", [], [1], [1, {"a": 2}], [[1], "b", 3],
            {}, {"a": 1}, {"a": {"b": [1, 2]}, "c": null}, {"a": {"b": [1], "d": {}}, "e": "f"},
        ]);
        let values = values.as_array().unwrap();
        for (target, source) in values.iter().flat_map(|one| values.iter().map(move |it| (one, it)))
        {
            let mut copy = target.clone();
            deep_clone_from(&mut copy, source);
            assert_eq!(copy.to_string(), source.to_string(), "{target}");
        }
    }

    #[test]
    fn a_clone_is_a_copy_once_it_changes() {
        let original = DeepValue::from(serde_json::json!({"a": [1]}));
        let mut clone = original.clone();
        assert!(std::ptr::eq(&raw const *original, &raw const *clone));
        clone["a"][0] = 2.into();
        assert_eq!(original["a"][0], 1);
        assert_eq!(clone["a"][0], 2);
        assert_eq!(original.clone().into_inner(), *original);
    }
}
