//! JSON text as a tree that keeps the order of keys, for building and editing inputs.
//!
//! `serde_json::Map` sorts, and inputs must come as users write them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

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
        serde_json::from_slice(text).unwrap()
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

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Builder)
    }
}

struct Builder;

impl<'de> Visitor<'de> for Builder {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(serde_json::Value::from(value).to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::string(value))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Node::Object(members))
    }
}
