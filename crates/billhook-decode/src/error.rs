//! Errors of JSON text, with their place.

use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

/// JSON text that the server refuses.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct JsonError {
    message: String,
    offset: usize,
    line: usize,
    column: usize,
    partial: Option<Box<DeepValue>>,
}

impl JsonError {
    pub(crate) fn new(text: &[u8], offset: usize, message: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        JsonError {
            message,
            offset,
            line: memchr::memchr_iter(b'\n', before).count() + 1,
            column: before.len() - line_start + 1,
            partial: None,
        }
    }

    /// Returns the offset in the text, in bytes from the start.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the byte in the line, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    pub(crate) fn with_partial(mut self, value: DeepValue) -> Self {
        self.partial = Some(Box::new(value));
        self
    }

    /// Returns the document with null in place of numbers, if its text is well-formed and only a
    /// number is beyond float64.
    pub fn partial(&self) -> Option<&Value> {
        self.partial.as_ref().map(|value| &***value)
    }
}
