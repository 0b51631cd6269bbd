//! Paths to fields, as rules and selectable fields write them (CE-15).

use billhook_apimachinery::message_error;

use crate::JsonSchemaProps;

message_error! {
    /// A path that does not resolve; prints the server's text.
    pub struct JsonPathError;
}

/// Whether a path may have steps in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayNotation {
    /// For the paths of rules.
    Allowed,
    /// For selectable fields.
    Forbidden,
}

/// A path that leads to a field (CE-15).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JsonPath<'s> {
    /// The normalized path: `.name` for properties, `[key]` for members of maps.
    pub normal: String,
    /// Its first step, written so.
    pub first: String,
    /// The schema of the field; none for a member of a map without one.
    pub schema: Option<&'s JsonSchemaProps>,
}

impl<'s> JsonPath<'s> {
    /// Follows a path through a schema.
    ///
    /// # Errors
    ///
    /// If the path does not resolve.
    pub fn resolve(
        path: &str,
        schema: &'s JsonSchemaProps,
        brackets: ArrayNotation,
    ) -> Result<Self, JsonPathError> {
        let mut tokens = Tokens { rest: path };
        let mut resolved =
            JsonPath { normal: String::new(), first: String::new(), schema: Some(schema) };
        while let Some(token) = tokens.next() {
            match token {
                "[" if brackets == ArrayNotation::Forbidden => {
                    return Err("array notation is not allowed".into());
                }
                "[" => {
                    let name = unquote(tokens.need()?)?;
                    resolved.step(&name)?;
                    match tokens.need()? {
                        "]" => {}
                        other => return Err(format!("expected ] but got {other}").into()),
                    }
                }
                "." => resolved.step(tokens.need()?)?,
                other => return Err(format!("expected [ or . but got: {other}").into()),
            }
        }
        Ok(resolved)
    }

    fn step(&mut self, name: &str) -> Result<(), JsonPathError> {
        let missing = || JsonPathError::from("does not refer to a valid field");
        let schema = self.schema.ok_or_else(missing)?;
        // Listed properties hide the schema of the others.
        let (schema, step) = match &schema.properties {
            Some(listed) if !listed.is_empty() => {
                (Some(listed.get(name).ok_or_else(missing)?.as_ref()), format!(".{name}"))
            }
            _ if schema.additional_properties.is_none() => return Err(missing()),
            _ => (schema.additional_schema(), format!("[{name}]")),
        };
        if self.first.is_empty() {
            self.first.clone_from(&step);
        }
        self.schema = schema;
        self.normal.push_str(&step);
        Ok(())
    }
}

/// The parts of a path: `.`, `[`, `]` and the text between them.
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

    fn need(&mut self) -> Result<&'p str, JsonPathError> {
        self.next().ok_or_else(|| "unexpected end of JSON path".into())
    }
}

/// Returns the end of a text in single quotes: after the next quote without a backslash before it.
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

fn unquote(token: &str) -> Result<String, JsonPathError> {
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
                return Err(format!("invalid string literal: invalid escape char \\{other}").into());
            }
        });
    }
    Ok(name)
}
