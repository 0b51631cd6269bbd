//! Values that do not fit their merge type, in the server's words (SA-13, SA-15).

use std::fmt;

use billhook_apimachinery::print::{plain_float, quote};
use billhook_apimachinery::value::{Num, go_type, grow, sorted};
use serde_json::Value;

use crate::schema::Scalar;

/// One place at which a value does not fit its merge type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    path: String,
    message: String,
}

/// All places at which a value does not fit its merge type; never empty. Prints as the server
/// prints it (SA-13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeErrors(Vec<TypeError>);

impl TypeError {
    pub(crate) fn new(path: String, message: impl Into<String>) -> Self {
        TypeError { path, message: message.into() }
    }

    /// Returns the path of the value, such as `.spec.ports[name="a"]`; empty for the whole object.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the text without the path.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl TypeErrors {
    pub(crate) fn new(errors: Vec<TypeError>) -> Option<Self> {
        (!errors.is_empty()).then_some(TypeErrors(errors))
    }

    /// Returns the single errors.
    pub fn errors(&self) -> &[TypeError] {
        &self.0
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [only] => only.fmt(f),
            several => {
                f.write_str("errors:")?;
                several.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
        }
    }
}

impl std::error::Error for TypeError {}
impl std::error::Error for TypeErrors {}

/// The text for a value that is not the expected scalar.
pub(crate) fn not_scalar(expected: Scalar, value: &Value) -> String {
    match expected {
        Scalar::Numeric => format!("expected numeric (int or float), got {}", go_type(value)),
        Scalar::String => {
            let mut text = "expected string, got &value.valueUnstructured{Value:".to_owned();
            go_syntax(value, &mut text);
            text.push('}');
            text
        }
        Scalar::Boolean => not_a("boolean", value),
        Scalar::Any => not_a("any scalar", value),
    }
}

/// The text for a value that is not a list, a map or another thing with a name.
pub(crate) fn not_a(expected: &str, value: &Value) -> String {
    let mut text = format!("expected {expected}, got &{{");
    plain(value, &mut text);
    text.push('}');
    text
}

/// Prints a value in Go syntax.
fn go_syntax(value: &Value, out: &mut String) {
    let separate = |out: &mut String, index| out.push_str(if index > 0 { ", " } else { "" });
    match value {
        Value::Null => out.push_str("interface {}(nil)"),
        Value::String(text) => out.push_str(&quote(text)),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (index, item) in items.iter().enumerate() {
                separate(out, index);
                grow(|| go_syntax(item, out));
            }
            out.push('}');
        }
        Value::Object(members) => {
            out.push_str("map[string]interface {}{");
            for (index, (name, member)) in sorted(members).into_iter().enumerate() {
                separate(out, index);
                out.push_str(&quote(name));
                out.push(':');
                grow(|| go_syntax(member, out));
            }
            out.push('}');
        }
        scalar => plain(scalar, out),
    }
}

/// Prints a value in Go's plain form.
fn plain(value: &Value, out: &mut String) {
    let separate = |out: &mut String, index| out.push_str(if index > 0 { " " } else { "" });
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => match Num::of(number) {
            Num::Int(int) => out.push_str(&int.to_string()),
            Num::Float(float) => out.push_str(&plain_float(float)),
        },
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(out, index);
                grow(|| plain(item, out));
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push_str("map[");
            for (index, (name, member)) in sorted(members).into_iter().enumerate() {
                separate(out, index);
                out.push_str(name);
                out.push(':');
                grow(|| plain(member, out));
            }
            out.push(']');
        }
    }
}
