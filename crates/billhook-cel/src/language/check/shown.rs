//! Types as errors name them.

use std::fmt::Display;

use crate::language::schema::names::{ELEMENT, TOP, VALUE};
use crate::language::types::Type;

/// Prints types for errors about an expression of a rule: names of object types begin at the node
/// of the rule, whatever is above it (CE-04).
#[derive(Clone, Copy, Default)]
pub(super) struct Shown<'n> {
    /// The name of the node's type in that of the schema.
    node: Option<&'n str>,
}

impl<'n> Shown<'n> {
    /// Prints for a rule at a node with values of a type.
    pub(super) fn at(self_type: Option<&'n Type>) -> Self {
        Shown { node: self_type.and_then(node_name).filter(|name| *name != TOP) }
    }

    /// Prints a type.
    pub(super) fn print(self, of: &impl Display) -> String {
        let text = of.to_string();
        let Some(node) = self.node else { return text };
        let below = |name: &str| {
            let rest = name.strip_prefix(node)?;
            (rest.is_empty() || rest.starts_with('.')).then(|| format!("{TOP}{rest}"))
        };
        let mut shown = String::with_capacity(text.len());
        for part in text.split_inclusive(['(', ')', ',', ' ']) {
            let name = part.trim_end_matches(['(', ')', ',', ' ']);
            match below(name) {
                Some(name_below) => {
                    shown += &name_below;
                    shown += part.get(name.len()..).unwrap_or_default();
                }
                None => shown += part,
            }
        }
        shown
    }
}

/// Returns the name that the values at a node have, or would have if they were objects.
fn node_name(of: &Type) -> Option<&str> {
    match of {
        Type::Object(object) => Some(&*object.name),
        Type::List(of) => node_name(of)?.strip_suffix(ELEMENT),
        Type::Map(_, of) => node_name(of)?.strip_suffix(VALUE),
        _ => None,
    }
}
