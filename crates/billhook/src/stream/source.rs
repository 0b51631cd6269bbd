//! The sources of objects, one after the other, and the simplest one: lines.

use std::io::{self, BufRead};
use std::ops::Range;

use super::error::{StreamError, TooLongError};

/// An object in a buffer.
pub(super) struct Item {
    /// Its number, as it is reported.
    pub(super) number: u64,
    /// The start of the text before it, which is written if the object is.
    pub(super) lead: usize,
    /// The position of the comma in that text.
    pub(super) comma: Option<usize>,
    pub(super) body: Range<usize>,
}

/// Objects one after the other.
pub(super) trait Source {
    /// The text that is written after each object.
    const END: &'static [u8];

    /// Appends the next object to the buffer; returns `None` at the end.
    fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Item>, StreamError>;
}

/// Returns the reader's buffer, after reading if that is empty; empty at the end.
pub(super) fn fill(reader: &mut impl BufRead) -> Result<&[u8], StreamError> {
    loop {
        match reader.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StreamError::Read(error)),
        }
    }
    // A filled buffer is returned again without reading.
    reader.fill_buf().map_err(StreamError::Read)
}

/// Newline-delimited JSON.
pub(super) struct Lines<R> {
    reader: R,
    limit: usize,
    line: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Lines { reader, limit, line: 0 }
    }

    /// Appends a line without its line break; returns whether there was one.
    fn line(&mut self, buffer: &mut Vec<u8>) -> Result<bool, StreamError> {
        let start = buffer.len();
        self.line += 1;
        loop {
            let chunk = fill(&mut self.reader)?;
            if chunk.is_empty() {
                return Ok(buffer.len() > start);
            }
            let newline = memchr::memchr(b'\n', chunk);
            let end = newline.unwrap_or(chunk.len());
            if buffer.len() - start + end > self.limit {
                let what = format!("line {}", self.line);
                return Err(TooLongError { what, limit: self.limit }.into());
            }
            buffer.extend_from_slice(chunk.get(..end).unwrap_or_default());
            self.reader.consume(end + usize::from(newline.is_some()));
            if newline.is_some() {
                return Ok(true);
            }
        }
    }
}

impl<R: BufRead> Source for Lines<R> {
    const END: &'static [u8] = b"\n";

    fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Item>, StreamError> {
        loop {
            let start = buffer.len();
            if !self.line(buffer)? {
                return Ok(None);
            }
            let line = buffer.get(start..).unwrap_or_default();
            let is_text = |byte: &u8| !is_space(*byte);
            let (first, last) = (line.iter().position(is_text), line.iter().rposition(is_text));
            if let (Some(first), Some(last)) = (first, last) {
                let body = start + first..start + last + 1;
                let (number, lead) = (self.line, body.start);
                return Ok(Some(Item { number, lead, comma: None, body }));
            }
            buffer.truncate(start);
        }
    }
}

/// White space of JSON.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_limit() {
        let read = |text: &str| {
            let mut lines = Lines::new(io::BufReader::with_capacity(2, text.as_bytes()), 5);
            let mut buffer = Vec::new();
            let mut found = Vec::new();
            loop {
                match lines.next(&mut buffer) {
                    Ok(Some(item)) => found.push((item.number, buffer[item.body].to_vec())),
                    Ok(None) => return (found, None),
                    Err(error) => return (found, Some(error.to_string())),
                }
            }
        };
        assert_eq!(
            read(" \n12345\r\n"),
            (vec![], Some("line 2 is longer than 5 bytes".to_owned()))
        );
        assert_eq!(read(" \n12345\n\n 1"), (vec![(2, b"12345".into()), (4, b"1".into())], None));
        assert_eq!(read("\n\n"), (vec![], None));
    }
}
