//! Field sets as they are written in `managedFields`: FieldsV1 (SA-21, SA-23, SA-24).

use std::fmt::Write as _;

use billhook_apimachinery::print::{compact_json, plain_json, push_json_string};
use billhook_apimachinery::value::{DeepValue, grow, in_order};
use billhook_decode::read_json;
use serde_json::{Map as Object, Value};

use crate::field_set::{FieldSet, Node};
use crate::identity::{Identity, key_fields};
use crate::path_element::{PathElement, PathElementKind};
use crate::shape::{Map, Shape, Type};

/// Room for the fields of most objects, so that printing begins with one allocation.
pub(crate) const CAPACITY: usize = 960;

/// Room for most keys of elements.
pub(crate) const KEY_CAPACITY: usize = 64;

/// The key that marks membership.
pub(crate) const MEMBER: &str = ".";

/// The member with that key, as JSON.
pub(crate) const MARK: &str = r#"".":{}"#;

/// A part of a FieldsV1 document that cannot be read (SA-24).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldsV1Error {
    /// The value of a key is not an object.
    #[error("the value of key {key:?} is not an object")]
    NotAnObject {
        /// The key; empty for the document itself.
        key: String,
    },
    /// A key does not start with a letter and a colon.
    #[error("key {key:?} does not start with a letter and a colon")]
    Prefix {
        /// The key.
        key: String,
    },
    /// The text after the prefix of a key is not what the prefix demands.
    #[error("key {key:?}: expected {expected}")]
    Content {
        /// The key.
        key: String,
        /// The text that would be right.
        expected: &'static str,
    },
}

impl FieldSet {
    /// Reads a set from the JSON form of `fieldsV1`.
    ///
    /// # Errors
    ///
    /// Returns the first part in the order of keys that cannot be read. Keys of unknown kinds are
    /// ignored (SA-24).
    pub fn from_fields_v1(fields: &Value) -> Result<FieldSet, FieldsV1Error> {
        read(fields, "")
    }

    /// Returns the set as `fieldsV1`.
    pub fn to_fields_v1(&self) -> DeepValue {
        DeepValue::from(write(self, false))
    }
}

fn read(fields: &Value, key: &str) -> Result<FieldSet, FieldsV1Error> {
    let members = match fields {
        Value::Null => return Ok(FieldSet::default()),
        Value::Object(members) => members,
        _ => return Err(FieldsV1Error::NotAnObject { key: key.to_owned() }),
    };
    let mut nodes = Vec::with_capacity(members.len());
    for (key, below) in members {
        if key != MEMBER
            && let Some(element) = read_key(key)?
        {
            let children = grow(|| read(below, key))?;
            let is_member = children.is_empty() || below.get(MEMBER).is_some();
            nodes.push(Node::new(element, is_member, children));
        }
    }
    Ok(FieldSet::from_unsorted(nodes))
}

/// Reads a key; none if it is of an unknown kind.
pub(crate) fn read_key(key: &str) -> Result<Option<PathElement>, FieldsV1Error> {
    let error = |expected| FieldsV1Error::Content { key: key.to_owned(), expected };
    let json = |text: &str| {
        let read = read_json(text.as_bytes()).map_err(|_| error("JSON after the prefix"))?;
        Ok(read.into_value())
    };
    let (Some(kind), Some(text)) = (key.get(..2), key.get(2..)) else {
        return Err(FieldsV1Error::Prefix { key: key.to_owned() });
    };
    match kind {
        "f:" => Ok(Some(PathElement::field(text))),
        "v:" => Ok(Some(PathElement::value(json(text)?))),
        "k:" => match plain_fields(text) {
            Some(fields) => Ok(Some(PathElement::key(fields))),
            None => match json(text)?.into_inner() {
                Value::Object(fields) => {
                    let fields = fields.into_iter().map(|(name, value)| (name, value.into()));
                    Ok(Some(PathElement::key(fields)))
                }
                _ => Err(error("an object of key fields after the prefix")),
            },
        },
        "i:" => match text.parse() {
            Ok(index) => Ok(Some(PathElement::index(index))),
            Err(_) => Err(error("an integer after the prefix")),
        },
        unknown if unknown.ends_with(':') => Ok(None),
        _ => Err(FieldsV1Error::Prefix { key: key.to_owned() }),
    }
}

/// Reads key fields that are sorted by name and have plain strings or numbers, as nearly all do.
fn plain_fields(text: &str) -> Option<Vec<(String, DeepValue)>> {
    let mut fields: Vec<(String, DeepValue)> = Vec::with_capacity(2);
    let mut rest = text.strip_prefix('{')?;
    loop {
        let (name, after) = plain_string(rest)?;
        if fields.last().is_some_and(|(last, _)| last.as_str() >= name) {
            return None;
        }
        let value = after.strip_prefix(':')?;
        let after = after_plain_value(value)?;
        let value = match plain_string(value) {
            Some((text, _)) => Value::from(text),
            None => Value::from(value.strip_suffix(after)?.parse::<u64>().ok()?),
        };
        fields.push((name.to_owned(), value.into()));
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return (after == "}").then_some(fields),
        }
    }
}

fn write(set: &FieldSet, is_member: bool) -> Value {
    let mut fields = Object::new();
    if is_member {
        fields.insert(MEMBER.to_owned(), Value::Object(Object::new()));
    }
    for node in set.nodes() {
        let below = match node.children.is_empty() {
            true => Value::Object(Object::new()),
            false => grow(|| write(&node.children, node.is_member)),
        };
        fields.insert(key_text(&node.element), below);
    }
    Value::Object(fields)
}

/// Appends the JSON of [`FieldSet::to_fields_v1`]; `key` is room for a key.
pub(crate) fn push_json(set: &FieldSet, is_member: bool, key: &mut String, out: &mut String) {
    let is_sorted = set.nodes().iter().all(|node| node.element.as_field().is_some());
    let mut nodes: Vec<&Node> = set.nodes().iter().collect();
    if !is_sorted {
        nodes.sort_by_cached_key(|node| key_text(&node.element));
    }
    out.push('{');
    if is_member {
        out.push_str(MARK);
    }
    for (index, node) in nodes.into_iter().enumerate() {
        out.push_str(if is_member || index > 0 { "," } else { "" });
        match node.element.as_field() {
            Some(name) => push_field_key(name, out),
            None => {
                key.clear();
                write_step(&node.element, key);
                push_json_string(key, out);
            }
        }
        out.push(':');
        match node.children.is_empty() {
            true => out.push_str("{}"),
            false => grow(|| push_json(&node.children, node.is_member, key, out)),
        }
    }
    out.push('}');
}

/// Appends the key of a field as JSON.
pub(crate) fn push_field_key(name: &str, out: &mut String) {
    if is_plain(name) {
        out.push_str("\"f:");
        out.push_str(name);
        out.push('"');
    } else {
        push_json_string(&format!("f:{name}"), out);
    }
}

/// Returns the key of a step.
pub(crate) fn key_text(element: &PathElement) -> String {
    let mut text = match element.as_field() {
        Some(name) => String::with_capacity(name.len() + 2),
        None => String::with_capacity(KEY_CAPACITY),
    };
    write_step(element, &mut text);
    text
}

/// Writes the key of a step.
pub(crate) fn write_step(element: &PathElement, text: &mut String) {
    match element.kind() {
        PathElementKind::Field(name) => {
            text.push_str("f:");
            text.push_str(name);
        }
        PathElementKind::Key(fields) => {
            write_key(fields.iter().map(|(name, value)| (name.as_str(), &**value)), text);
        }
        PathElementKind::Value(value) => {
            text.push_str("v:");
            write_value(value, text);
        }
        PathElementKind::Index(index) => {
            let _ = write!(text, "i:{index}");
        }
    }
}

fn write_key<'a>(fields: impl Iterator<Item = (&'a str, &'a Value)>, text: &mut String) {
    text.push_str("k:{");
    for (index, (name, value)) in fields.enumerate() {
        text.push_str(if index > 0 { "," } else { "" });
        match is_plain(name) {
            true => push_plain(name, text),
            false => text.push_str(&plain_json(&Value::from(name))),
        }
        text.push(':');
        write_value(value, text);
    }
    text.push('}');
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::String(string) if is_plain(string) => push_plain(string, text),
        Value::Number(number) if !number.is_f64() => {
            let _ = write!(text, "{number}");
        }
        other => text.push_str(&compact_json(other)),
    }
}

/// Whether a string is written as it is, between quotes.
fn is_plain(text: &str) -> bool {
    text.bytes().all(is_plain_byte)
}

fn is_plain_byte(byte: u8) -> bool {
    static IS_PLAIN: [bool; 256] = {
        let mut table = [false; 256];
        let mut rest = table.as_mut_slice();
        let mut byte = 0_u8;
        while let [is_plain, behind @ ..] = rest {
            *is_plain =
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b' ');
            byte = byte.wrapping_add(1);
            rest = behind;
        }
        table
    };
    IS_PLAIN.get(usize::from(byte)).copied().unwrap_or_default()
}

fn push_plain(string: &str, text: &mut String) {
    text.reserve(string.len() + 2);
    text.push('"');
    text.push_str(string);
    text.push('"');
}

/// Writes the key of a list element.
pub(crate) fn write_element_key(identity: Identity<'_>, text: &mut String) {
    match identity {
        Identity::Keys(keys, members) => write_key(key_fields(keys, members), text),
        Identity::Value(value) => {
            text.push_str("v:");
            write_value(value, text);
        }
    }
}

/// Whether a key of an element is written as the element is.
fn is_canonical(key: &str) -> bool {
    is_plain_key(key)
        || read_key(key)
            .is_ok_and(|element| element.is_some_and(|element| key_text(&element) == key))
}

/// Whether a key is that of an element which is identified by plain strings or numbers, as most are.
fn is_plain_key(key: &str) -> bool {
    let rest = match key.strip_prefix("k:{") {
        Some(fields) => after_plain_fields(fields),
        None => key.strip_prefix("v:").and_then(after_plain_value),
    };
    rest == Some("")
}

/// Returns what comes after key fields that are sorted by name; none if something else comes first.
fn after_plain_fields(mut text: &str) -> Option<&str> {
    let mut last = None;
    loop {
        let (name, rest) = plain_string(text)?;
        if last.replace(name).is_some_and(|last| last >= name) {
            return None;
        }
        let rest = after_plain_value(rest.strip_prefix(':')?)?;
        match rest.strip_prefix(',') {
            Some(rest) => text = rest,
            None => return rest.strip_prefix('}'),
        }
    }
}

/// Returns what comes after a plain string or number.
fn after_plain_value(text: &str) -> Option<&str> {
    match text.as_bytes() {
        [b'1'..=b'9', ..] => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            text.get(digits..).filter(|_| digits <= 15)
        }
        _ => plain_string(text).map(|(_, rest)| rest),
    }
}

/// Splits off a plain string.
fn plain_string(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    let end = text.bytes().position(|byte| !is_plain_byte(byte))?;
    Some((text.get(..end)?, text.get(end..)?.strip_prefix('"')?))
}

/// Reads the key of a list element; none if the element is not written like that.
pub(crate) fn read_element_key(key: &str) -> Option<PathElement> {
    let element = read_key(key).ok()??;
    let is_element = matches!(element.kind(), PathElementKind::Key(_) | PathElementKind::Value(_));
    (is_element && key_text(&element) == key).then_some(element)
}

/// Whether the JSON form of a set is the one in which the set is written, and the current types
/// leave the set as it is (SA-37).
pub(crate) fn is_current(type_: Option<Type<'_>>, fields: &Value) -> bool {
    let Value::Object(fields) = fields else { return false };
    let members = || type_.and_then(Type::map).map(Map::members);
    let mut known = None;
    let mut is_current_below = |(key, below): (&String, &Value)| {
        let Value::Object(parts) = below else { return false };
        let type_ = match key.strip_prefix("f:") {
            _ if key == MEMBER => return parts.is_empty() && fields.len() > 1,
            Some(_) if parts.is_empty() => return true,
            Some(name) => {
                let known = known.get_or_insert_with(members).as_mut();
                known.and_then(|known| Some(known.find(name)?.type_))
            }
            None if !is_canonical(key) => return false,
            None => type_.and_then(|type_| Some(type_.list()?.items)),
        };
        is_current_part(type_, below)
    };
    !fields.is_empty() && in_order(fields).all(&mut is_current_below)
}

/// The same for what is below a step, which may be nothing.
pub(crate) fn is_current_part(type_: Option<Type<'_>>, below: &Value) -> bool {
    is_empty_object(below) || has_parts(type_) && grow(|| is_current(type_, below))
}

pub(crate) fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Object::is_empty)
}

/// Whether fields of this type are owned one by one; those of an unknown one may be.
fn has_parts(type_: Option<Type<'_>>) -> bool {
    match type_.and_then(Type::first_shape) {
        Some(Shape::Map(map)) => !map.is_atomic,
        Some(Shape::List(list)) => !list.is_atomic(),
        _ => true,
    }
}
