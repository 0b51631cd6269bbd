//! Names of properties in expressions (CE-07).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::language::ast::RESERVED;
use crate::language::types::{ObjectType, Type};

/// The name of the type of an object at the top, and what those below add to it in lists and maps.
pub(crate) const TOP: &str = "selfType";
pub(crate) const ELEMENT: &str = ".@idx";
pub(crate) const VALUE: &str = ".@elem";

/// The words of the language itself.
const LITERALS: [&str; 4] = ["true", "false", "null", "in"];

/// The field that an expression names: a word of the language stands for its escaped form as
/// well.
pub(crate) fn find<'f, T>(fields: &'f BTreeMap<Arc<str>, T>, name: &str) -> Option<&'f T> {
    fields.get(name).or_else(|| fields.get(escape_word(name)?.as_str()))
}

/// The type of the field of an object that an expression names.
pub(crate) fn field_type<'o>(object: &'o ObjectType, name: &str) -> Option<&'o Type> {
    find(&object.fields, name).or(object.is_open.then_some(&Type::Dyn))
}

/// Returns whether a name can be that of a variable: an identifier that is not reserved (CE-07).
pub fn is_identifier(name: &str) -> bool {
    let is_start = |c: char| c == '_' || c.is_ascii_alphabetic();
    name.starts_with(is_start)
        && name.chars().all(|c| is_start(c) || c.is_ascii_digit())
        && escape_word(name).is_none()
}

fn escape_word(name: &str) -> Option<String> {
    let is_word = RESERVED.contains(&name) || LITERALS.contains(&name);
    is_word.then(|| format!("__{name}__"))
}

/// The name that expressions use for a property; none if they can't name it.
pub(super) fn escape(name: &str) -> Option<String> {
    if let Some(escaped) = escape_word(name) {
        return Some(escaped);
    }
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (taken, text) = match c {
            '_' if rest.starts_with("__") => (2, "__underscores__"),
            '.' => (1, "__dot__"),
            '-' => (1, "__dash__"),
            '/' => (1, "__slash__"),
            c if c == '_' || c.is_ascii_alphanumeric() => (1, rest.get(..1)?),
            _ => return None,
        };
        escaped.push_str(text);
        rest = rest.get(taken..)?;
    }
    Some(escaped)
}
