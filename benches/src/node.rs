//! JSON text as a tree that keeps the order of keys, for building and editing inputs.
//!
//! `serde_json::Map` sorts, and inputs must come as users write them.

use billhook::{Placed, Segment};
use billhook_decode::read_json_with_spans;
use serde_json::Value;

/// A JSON value.
#[derive(Clone, Debug)]
pub enum Node {
    /// Anything without members, as JSON text.
    Scalar(String),
    /// An array.
    Array(Vec<Node>),
    /// An object, in the order it is written.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Reads JSON text.
    pub fn parse(text: &[u8]) -> Self {
        let (document, spans) = read_json_with_spans(text).unwrap();
        Self::of(document.value(), spans.top().unwrap(), text)
    }

    /// A value with its members in the order of the text.
    fn of(value: &Value, placed: Placed<'_>, text: &[u8]) -> Self {
        let below = |step, value| {
            let placed = placed.child(step).unwrap();
            (placed.span().value.start, Self::of(value, placed, text))
        };
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Node::Array(items.map(|(at, item)| below(Segment::Index(at), item).1).collect())
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members
                    .iter()
                    .map(|(name, member)| (name.clone(), below(Segment::Name(name), member)))
                    .collect();
                members.sort_by_key(|(_, (start, _))| *start);
                let members = members.into_iter().map(|(name, (_, member))| (name, member));
                Node::Object(members.collect())
            }
            _ => {
                let span = placed.span().value;
                Node::Scalar(String::from_utf8(text[span.start..span.end].to_vec()).unwrap())
            }
        }
    }

    /// A string.
    pub fn string(text: &str) -> Self {
        Node::Scalar(quote(text))
    }

    /// The tree as compact JSON text.
    pub fn print(&self) -> Vec<u8> {
        let mut text = String::new();
        self.print_to(&mut text);
        text.into_bytes()
    }

    fn print_to(&self, text: &mut String) {
        match self {
            Node::Scalar(scalar) => text.push_str(scalar),
            Node::Array(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    item.print_to(text);
                }
                text.push(']');
            }
            Node::Object(members) => {
                text.push('{');
                for (index, (name, member)) in members.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    text.push_str(&quote(name));
                    text.push(':');
                    member.print_to(text);
                }
                text.push('}');
            }
        }
    }

    /// The members of an object.
    pub fn members(&mut self) -> &mut Vec<(String, Node)> {
        match self {
            Node::Object(members) => members,
            other => panic!("not an object: {other:?}"),
        }
    }

    /// The elements of an array.
    pub fn items(&mut self) -> &mut Vec<Node> {
        match self {
            Node::Array(items) => items,
            other => panic!("not an array: {other:?}"),
        }
    }

    /// Returns the node at a path of member names, which must be there.
    pub fn at(&mut self, path: &[&str]) -> &mut Node {
        path.iter().fold(self, |node, name| {
            let member = node.members().iter_mut().find(|(found, _)| found == name);
            &mut member.unwrap_or_else(|| panic!("no member {name}")).1
        })
    }

    /// Sets a member, at the end if it is new.
    pub fn set(&mut self, name: &str, value: Node) {
        let members = self.members();
        match members.iter_mut().find(|(found, _)| found == name) {
            Some((_, member)) => *member = value,
            None => members.push((name.to_owned(), value)),
        }
    }

    /// Appends to a string.
    pub fn append(&mut self, suffix: &str) {
        let Node::Scalar(text) = self else { panic!("not a string: {self:?}") };
        assert_eq!(text.pop(), Some('"'), "not a string: {text}");
        text.push_str(suffix);
        text.push('"');
    }
}

fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}
