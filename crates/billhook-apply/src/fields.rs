//! The fields of an entry of `managedFields`. They are read only where something asks for them.

use std::borrow::Cow;

use billhook_apimachinery::print;
use billhook_apimachinery::value::{DeepValue, grow};
use billhook_decode::read_json_to_depth;
use serde_json::{Map as Object, Value};

use crate::field_set::{Below, FieldSet, Node};
use crate::fields_v1::{self, MEMBER, key_text, read_key, write_step};
use crate::path_element::PathElement;

/// The fields that an entry owns.
#[derive(Clone, Debug)]
pub(crate) enum Fields {
    Read(FieldSet),
    /// In FieldsV1, exactly as they would be written again.
    Written(DeepValue),
    /// The JSON of that.
    Printed(Box<str>),
}

/// The JSON of no fields.
pub(crate) const NO_FIELDS: &str = "{}";

impl Fields {
    pub(crate) fn to_set(&self) -> FieldSet {
        match self {
            Fields::Read(set) => set.clone(),
            Fields::Written(fields) => FieldSet::from_fields_v1(fields).unwrap_or_default(),
            Fields::Printed(json) => FieldSet::from_fields_v1(&parse(json)).unwrap_or_default(),
        }
    }

    pub(crate) fn into_fields_v1(self) -> DeepValue {
        match self {
            Fields::Read(set) => set.to_fields_v1(),
            Fields::Written(fields) => fields,
            Fields::Printed(json) => parse(&json),
        }
    }

    /// Appends the JSON of [`Fields::into_fields_v1`].
    pub(crate) fn push_json(&self, out: &mut String) {
        match self {
            Fields::Read(set) => fields_v1::push_json(set, false, &mut String::new(), out),
            Fields::Written(fields) => print::push_json(fields, out),
            Fields::Printed(json) => out.push_str(json),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Fields::Read(set) => set.is_empty(),
            Fields::Written(fields) => fields.as_object().is_none_or(Object::is_empty),
            Fields::Printed(json) => **json == *NO_FIELDS,
        }
    }

    pub(crate) fn intersection(&self, set: &FieldSet) -> FieldSet {
        match self {
            Fields::Read(own) => own.intersection(set),
            Fields::Written(fields) => intersection(fields, set, &mut String::new()),
            Fields::Printed(json) => intersection(&parse(json), set, &mut String::new()),
        }
    }

    /// Takes the members of a set away.
    pub(crate) fn subtract(&mut self, set: &FieldSet) {
        match self {
            _ if set.is_empty() => {}
            Fields::Read(own) => own.subtract(set, Below::Stays),
            Fields::Written(fields) => {
                if let Value::Object(fields) = &mut **fields {
                    subtract(fields, set, &mut String::new());
                }
            }
            Fields::Printed(json) => {
                *self = Fields::Written(parse(json));
                self.subtract(set);
            }
        }
    }

    /// Adds the members of a set.
    pub(crate) fn add(&mut self, set: &FieldSet) {
        match self {
            _ if set.is_empty() => {}
            Fields::Read(own) => *own = own.union(set),
            Fields::Written(fields) => {
                if let Value::Object(fields) = &mut **fields {
                    add(fields, set);
                }
            }
            Fields::Printed(json) => {
                *self = Fields::Written(parse(json));
                self.add(set);
            }
        }
    }
}

/// Reads JSON that was printed here, one level deeper than the deepest object at most.
fn parse(json: &str) -> DeepValue {
    let read = read_json_to_depth(json.as_bytes(), usize::MAX);
    read.map(|read| read.into_value()).unwrap_or_default()
}

impl Default for Fields {
    fn default() -> Self {
        Fields::Read(FieldSet::default())
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Fields::Written(left), Fields::Written(right)) => left == right,
            (Fields::Printed(left), Fields::Printed(right)) => left == right,
            (left, right) => left.to_set() == right.to_set(),
        }
    }
}

impl Eq for Fields {}

/// The steps of a set that may be in FieldsV1, of which there may be few.
fn candidates<'s>(fields: &Object<String, Value>, set: &'s FieldSet) -> Cow<'s, [Node]> {
    if fields.len() >= set.nodes().len() {
        return Cow::Borrowed(set.nodes());
    }
    let find = |key: &String| set.get(&read_key(key).ok()??).cloned();
    Cow::Owned(fields.keys().filter_map(find).collect())
}

/// The key of a step; `key` is room for it.
fn key_in<'k>(key: &'k mut String, element: &PathElement) -> &'k str {
    key.clear();
    write_step(element, key);
    key
}

fn intersection(fields: &Value, set: &FieldSet, key: &mut String) -> FieldSet {
    let Value::Object(fields) = fields else { return FieldSet::default() };
    let nodes = candidates(fields, set);
    let nodes = nodes.iter().filter_map(|node| {
        let below = fields.get(key_in(key, &node.element))?;
        let is_member = node.is_member && below.as_object().is_some_and(is_member);
        let children = grow(|| intersection(below, &node.children, key));
        Some(Node::new(node.element.clone(), is_member, children))
    });
    FieldSet::from_unsorted(nodes.collect())
}

fn subtract(fields: &mut Object<String, Value>, set: &FieldSet, key: &mut String) {
    for node in candidates(fields, set).iter() {
        let Some(Value::Object(below)) = fields.get_mut(key_in(key, &node.element)) else {
            continue;
        };
        let is_member = is_member(below) && !node.is_member;
        grow(|| subtract(below, &node.children, key));
        let has_mark = below.contains_key(MEMBER);
        if below.len() > usize::from(has_mark) {
            if has_mark && !is_member {
                below.remove(MEMBER);
            }
        } else if is_member {
            below.clear();
        } else {
            fields.remove(key_in(key, &node.element));
        }
    }
}

fn add(fields: &mut Object<String, Value>, set: &FieldSet) {
    for node in set.nodes() {
        let new = || Value::Object(Object::new());
        let key = key_text(&node.element);
        let was_member = fields.get(&key).and_then(Value::as_object).is_some_and(is_member);
        let Value::Object(below) = fields.entry(key).or_insert_with(new) else { continue };
        let is_member = node.is_member || was_member;
        grow(|| add(below, &node.children));
        if is_member && !below.is_empty() {
            below.entry(MEMBER).or_insert_with(new);
        }
    }
}

/// Whether a step is owned itself, by what is written below it.
pub(crate) fn is_member(below: &Object<String, Value>) -> bool {
    below.is_empty() || below.contains_key(MEMBER)
}
