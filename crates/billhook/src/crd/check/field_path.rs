//! Paths to fields, as rules and selectable fields write them (CE-15).

use serde_json::Value;

use super::record::member;

/// Whether a path may have steps in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrayNotation {
    Allowed,
    Forbidden,
}

/// A path that leads to a field.
#[derive(Debug)]
pub(super) struct Resolved<'v> {
    /// Its normal form: `.name` for properties, `[key]` for members of maps.
    pub(super) normal: String,
    /// Its first step, written so.
    pub(super) first: String,
    /// The schema of the field; none for a member of a map without one.
    pub(super) schema: Option<&'v Value>,
}

/// Follows a path through a schema; the error is the server's text.
pub(super) fn resolve<'v>(
    path: &str,
    schema: &'v Value,
    brackets: ArrayNotation,
) -> Result<Resolved<'v>, String> {
    let mut tokens = Tokens { rest: path };
    let mut resolved =
        Resolved { normal: String::new(), first: String::new(), schema: Some(schema) };
    while let Some(token) = tokens.next() {
        match token {
            "[" if brackets == ArrayNotation::Forbidden => {
                return Err("array notation is not allowed".to_owned());
            }
            "[" => {
                let name = unquote(tokens.need()?)?;
                resolved.step(&name)?;
                match tokens.need()? {
                    "]" => {}
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => resolved.step(tokens.need()?)?,
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(resolved)
}

impl Resolved<'_> {
    fn step(&mut self, name: &str) -> Result<(), String> {
        let missing = || "does not refer to a valid field".to_owned();
        let schema = self.schema.ok_or_else(missing)?;
        // Listed properties hide the schema of the others.
        let properties = member(schema, "properties").and_then(Value::as_object);
        let properties = properties.filter(|properties| !properties.is_empty());
        let step = if let Some(properties) = properties {
            self.schema = Some(properties.get(name).ok_or_else(missing)?);
            format!(".{name}")
        } else {
            let additional = member(schema, "additionalProperties").ok_or_else(missing)?;
            self.schema = Some(additional).filter(|additional| additional.is_object());
            format!("[{name}]")
        };
        if self.first.is_empty() {
            self.first.clone_from(&step);
        }
        self.normal.push_str(&step);
        Ok(())
    }
}

/// The parts of a path: `.`, `[`, `]` and what is between them.
struct Tokens<'p> {
    rest: &'p str,
}

impl<'p> Tokens<'p> {
    fn next(&mut self) -> Option<&'p str> {
        let end = match self.rest.chars().next()? {
            '.' | '[' | ']' => 1,
            '\'' => quoted_end(self.rest),
            _ => self.rest.find(['.', '[', ']']).unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(token)
    }

    fn need(&mut self) -> Result<&'p str, String> {
        self.next().ok_or_else(|| "unexpected end of JSON path".to_owned())
    }
}

/// Where a text in single quotes ends: behind the next quote without a backslash before it.
fn quoted_end(text: &str) -> usize {
    let mut before = None;
    for (at, byte) in text.bytes().enumerate() {
        if at > 0 && byte == b'\'' && before != Some(b'\\') {
            return at + 1;
        }
        before = Some(byte);
    }
    text.len()
}

fn unquote(token: &str) -> Result<String, String> {
    let inner = token.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let inner = inner.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
    let mut name = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            name.push(c);
            continue;
        }
        name.push(match chars.next() {
            Some('a') => '\x07',
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\x0b',
            Some('\'') => '\'',
            Some('\\') => '\\',
            other => {
                let other = other.map(String::from).unwrap_or_default();
                return Err(format!("invalid string literal: invalid escape char \\{other}"));
            }
        });
    }
    Ok(name)
}
