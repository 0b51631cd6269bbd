//! Reading records with known fields from JSON values; what is not known is noted.

use std::collections::BTreeMap;

use crate::print::quote;
use crate::value::{Num, json_type, sorted};
use crate::{FieldPath, Location};
use serde_json::Value;

/// A field that has the wrong type.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{message}", Self::prefix(.path))]
pub struct ReadError {
    path: FieldPath,
    message: String,
}

impl ReadError {
    /// An error at a place.
    pub fn new(at: &Location<'_>, message: String) -> Self {
        ReadError { path: at.to_path(), message }
    }

    fn wrong_type(at: &Location<'_>, expected: &str, found: &Value) -> Self {
        Self::new(at, format!("expected {expected}, found {}", json_type(found)))
    }

    fn prefix(path: &FieldPath) -> String {
        if path.is_empty() { String::new() } else { format!("{path}: ") }
    }

    /// Where in the document the problem is.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// What is wrong there, without the path.
    pub fn message(&self) -> &str {
        &self.message
    }
}

type Result<T> = std::result::Result<T, ReadError>;

/// Reads the parts of a document; collects what strict decoding complains about.
#[derive(Debug, Default)]
pub struct Reader {
    /// `unknown field "path"`, in the order they were met.
    pub unknown: Vec<String>,
}

impl Reader {
    /// Calls `field` for each field that is not null; fields it does not know (false) are noted.
    /// A record of null is an empty one.
    pub fn record(
        &mut self,
        value: &Value,
        at: &Location<'_>,
        mut field: impl FnMut(&mut Self, &str, &Value, &Location<'_>) -> Result<bool>,
    ) -> Result<()> {
        let members = match value {
            Value::Object(members) => members,
            Value::Null => return Ok(()),
            other => return Err(ReadError::wrong_type(at, "an object", other)),
        };
        for (name, value) in sorted(members) {
            let at = &at.name(name);
            if !field(self, name, value, at)? {
                let path = at.to_path().to_dotted();
                self.unknown.push(format!("unknown field {}", quote(&path)));
            }
        }
        Ok(())
    }

    /// A list; null is an empty one.
    pub fn list<T>(
        &mut self,
        value: &Value,
        at: &Location<'_>,
        mut item: impl FnMut(&Value, &Location<'_>, &mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let items = match value {
            Value::Array(items) => items,
            Value::Null => return Ok(Vec::new()),
            other => return Err(ReadError::wrong_type(at, "a list", other)),
        };
        let numbered = items.iter().enumerate();
        numbered.map(|(index, value)| item(value, &at.index(index), self)).collect()
    }

    /// A string; null is an empty one.
    pub fn text(&self, value: &Value, at: &Location<'_>) -> Result<String> {
        match value {
            Value::String(text) => Ok(text.clone()),
            Value::Null => Ok(String::new()),
            other => Err(ReadError::wrong_type(at, "a string", other)),
        }
    }

    /// A string that may be absent.
    pub fn optional_text(&self, value: &Value, at: &Location<'_>) -> Result<Option<String>> {
        if value.is_null() { Ok(None) } else { self.text(value, at).map(Some) }
    }

    /// A boolean.
    pub fn boolean(&self, value: &Value, at: &Location<'_>) -> Result<bool> {
        value.as_bool().ok_or_else(|| ReadError::wrong_type(at, "a boolean", value))
    }

    /// A list of strings.
    pub fn texts(&mut self, value: &Value, at: &Location<'_>) -> Result<Vec<String>> {
        self.list(value, at, |value, at, reader| reader.text(value, at))
    }

    /// A map of strings.
    pub fn texts_by_key(
        &self,
        value: &Value,
        at: &Location<'_>,
    ) -> Result<BTreeMap<String, String>> {
        match value {
            Value::Null => Ok(BTreeMap::new()),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| Ok((key.clone(), self.text(value, &at.key(key))?)))
                .collect(),
            other => Err(ReadError::wrong_type(at, "an object", other)),
        }
    }

    /// A 32-bit integer that may be absent.
    pub fn optional_int32(&self, value: &Value, at: &Location<'_>) -> Result<Option<i32>> {
        let number = match value {
            Value::Null => return Ok(None),
            Value::Number(number) => number,
            other => return Err(ReadError::wrong_type(at, "an integer", other)),
        };
        let whole = match Num::of(number) {
            Num::Int(int) => i32::try_from(int).ok(),
            Num::Float(float) if float.fract() == 0.0 && float.abs() < 2e9 => Some(float as i32),
            Num::Float(_) => None,
        };
        let message = || format!("expected a 32-bit integer, found {number}");
        whole.map(Some).ok_or_else(|| ReadError::new(at, message()))
    }
}
