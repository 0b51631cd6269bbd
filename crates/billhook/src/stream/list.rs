//! The items of a list: an incremental scanner that finds where they begin and end. It looks into
//! them no further than that; they are checked when they are decoded.

use std::io::{BufRead, Write};

use billhook_decode::{check_json, read_json};

use super::error::{ListError, StreamError, TooLongError};
use super::source::{Item, Source, fill, is_space};

/// The document around the items and the items themselves.
pub(super) struct List<R> {
    reader: R,
    limit: usize,
    /// Bytes that were read.
    at: u64,
    /// Text after the last item that is read but not yet written.
    pending: Vec<u8>,
    opened: bool,
    has_items: bool,
    items: u64,
}

impl<R: BufRead> List<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        let pending = Vec::new();
        List { reader, limit, at: 0, pending, opened: false, has_items: false, items: 0 }
    }

    /// Passes members through up to the first item, or to the end of the document; returns whether
    /// items follow.
    pub(super) fn pass(&mut self, writer: &mut impl Write) -> Result<bool, StreamError> {
        let mut text = std::mem::take(&mut self.pending);
        loop {
            let is_item = self.member(&mut text)?;
            writer.write_all(&text).map_err(StreamError::Write)?;
            text.clear();
            if let Some(items_follow) = is_item {
                return Ok(items_follow);
            }
        }
    }

    /// Appends a member. Returns whether items follow, if the member is the last to pass.
    fn member(&mut self, text: &mut Vec<u8>) -> Result<Option<bool>, StreamError> {
        self.space(text)?;
        let is_first = !self.opened;
        if is_first {
            self.take(b'{', text)?;
            self.opened = true;
            self.space(text)?;
        }
        match self.peek()? {
            Some(b'}') => return self.end(text).map(|()| Some(false)),
            Some(b',') if !is_first => {
                self.take(b',', text)?;
                self.space(text)?;
            }
            _ if !is_first => return Err(self.malformed("expected `,` or `}`")),
            _ => {}
        }
        if self.peek()? != Some(b'"') {
            return Err(self.malformed("expected a field name"));
        }
        let key = self.checked(text)?;
        let key = text.get(key..).and_then(|key| read_json(key).ok());
        let is_items = key.is_some_and(|key| key.value() == "items");
        self.space(text)?;
        self.take(b':', text)?;
        self.space(text)?;
        if !is_items {
            self.checked(text)?;
            return Ok(None);
        }
        if self.has_items {
            return Err(self.malformed("repeated field `items`"));
        }
        self.has_items = true;
        match self.peek()? {
            Some(b'[') => {
                self.take(b'[', text)?;
                Ok(Some(true))
            }
            // Empty lists of some clients.
            Some(b'n') => {
                self.checked(text)?;
                Ok(None)
            }
            _ => Err(self.malformed("expected a list of items")),
        }
    }

    /// Appends the end of the document.
    fn end(&mut self, text: &mut Vec<u8>) -> Result<(), StreamError> {
        if !self.has_items {
            return Err(self.malformed("no field `items`"));
        }
        self.take(b'}', text)?;
        self.space(text)?;
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.malformed("text behind the list")),
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, StreamError> {
        Ok(fill(&mut self.reader)?.first().copied())
    }

    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
        self.at += count as u64;
    }

    fn take(&mut self, byte: u8, text: &mut Vec<u8>) -> Result<(), StreamError> {
        if self.peek()? != Some(byte) {
            return Err(self.malformed(&format!("expected `{}`", char::from(byte))));
        }
        self.consume(1);
        text.push(byte);
        Ok(())
    }

    /// Appends white space.
    fn space(&mut self, text: &mut Vec<u8>) -> Result<(), StreamError> {
        let limit = text.len() + self.limit;
        loop {
            let chunk = fill(&mut self.reader)?;
            let end = chunk.iter().position(|byte| !is_space(*byte));
            let count = end.unwrap_or(chunk.len());
            text.extend_from_slice(chunk.get(..count).unwrap_or_default());
            let is_end = end.is_some() || chunk.is_empty();
            self.consume(count);
            if text.len() > limit {
                return Err(self.too_long("white space"));
            }
            if is_end {
                return Ok(());
            }
        }
    }

    /// Appends a value and checks it; returns its start.
    fn checked(&mut self, text: &mut Vec<u8>) -> Result<usize, StreamError> {
        let (start, offset) = (text.len(), self.at);
        self.value(text)?;
        match check_json(text.get(start..).unwrap_or_default()) {
            Ok(_) => Ok(start),
            Err(error) => {
                let offset = offset + error.offset() as u64;
                Err(ListError { message: error.to_string(), offset }.into())
            }
        }
    }

    /// Appends a value up to where it must end if it is well-formed.
    fn value(&mut self, text: &mut Vec<u8>) -> Result<(), StreamError> {
        let limit = text.len() + self.limit;
        let start = self.at;
        let mut extent = Extent::default();
        loop {
            let chunk = fill(&mut self.reader)?;
            if chunk.is_empty() && !extent.is_scalar {
                return Err(self.malformed("unexpected end of JSON input"));
            }
            let (count, is_end) = extent.advance(chunk);
            let is_end = is_end || chunk.is_empty();
            text.extend_from_slice(chunk.get(..count).unwrap_or_default());
            self.consume(count);
            if text.len() > limit {
                return Err(self.too_long("a value"));
            }
            if is_end && self.at == start {
                return Err(self.malformed("expected a value"));
            }
            if is_end {
                return Ok(());
            }
        }
    }

    fn malformed(&self, message: &str) -> StreamError {
        ListError { message: message.to_owned(), offset: self.at }.into()
    }

    fn too_long(&self, what: &str) -> StreamError {
        let what = format!("{what} that ends behind byte {}", self.at);
        TooLongError { what, limit: self.limit }.into()
    }
}

impl<R: BufRead> Source for List<R> {
    const END: &'static [u8] = b"";

    fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Item>, StreamError> {
        let lead = buffer.len();
        self.space(buffer)?;
        if self.peek()? == Some(b']') {
            self.take(b']', buffer)?;
            self.pending = buffer.split_off(lead);
            return Ok(None);
        }
        let comma = (self.items > 0).then_some(buffer.len());
        if comma.is_some() {
            if self.peek()? != Some(b',') {
                return Err(self.malformed("expected `,` or `]`"));
            }
            self.take(b',', buffer)?;
            self.space(buffer)?;
        }
        let start = buffer.len();
        self.value(buffer)?;
        let number = self.items;
        self.items += 1;
        Ok(Some(Item { number, lead, comma, body: start..buffer.len() }))
    }
}

/// The progress through a value.
#[derive(Default)]
struct Extent {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Whether it is a number, a literal, or nothing that JSON knows.
    is_scalar: bool,
}

impl Extent {
    /// Returns the number of bytes of the next text that belong to the value, and whether it ends
    /// with them.
    fn advance(&mut self, text: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            if self.is_escaped {
                self.is_escaped = false;
                at += 1;
                continue;
            }
            if self.in_string {
                let rest = text.get(at..).unwrap_or_default();
                let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
                    return (text.len(), false);
                };
                at += found + 1;
                self.is_escaped = rest.get(found) == Some(&b'\\');
                self.in_string = self.is_escaped;
                if !self.in_string && self.depth == 0 {
                    return (at, true);
                }
                continue;
            }
            match byte {
                b'"' | b'{' | b'[' if self.is_scalar => return (at, true),
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                b'}' | b']' if self.depth == 1 => return (at + 1, true),
                b'}' | b']' | b',' | b':' if self.depth == 0 => return (at, true),
                _ if self.depth == 0 && is_space(byte) => return (at, true),
                _ => self.is_scalar = self.depth == 0,
            }
            at += 1;
        }
        (at, false)
    }
}
