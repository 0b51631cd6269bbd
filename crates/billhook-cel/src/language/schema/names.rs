//! Names of properties in expressions (CE-07).

use crate::language::ast::RESERVED;

/// The words of the language itself.
const LITERALS: [&str; 4] = ["true", "false", "null", "in"];

/// The name that expressions use for a property; none if they can't name it.
pub(super) fn escape(name: &str) -> Option<String> {
    if RESERVED.contains(&name) || LITERALS.contains(&name) {
        return Some(format!("__{name}__"));
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
