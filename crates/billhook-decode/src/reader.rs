//! The reader: JSON text to a value.

use std::mem::take;
use std::ops::Range;

use billhook_apimachinery::value::{DeepValue, dismantle, grow};
use billhook_apimachinery::{Segment, Spans, TreeBudget, TreeTooLargeError, WrittenTypes};
use billhook_schema::walk::LEVELS;
use serde_json::{Map, Value};

use crate::duplicates::{Duplicates, Place};
use crate::error::JsonError;
use crate::number;
use crate::scanner::end_of_plain;
use crate::spans::spans;
use crate::string::{self, Failure, character, failure};

/// The maximum nesting depth of lists and objects.
pub const MAX_DEPTH: usize = 10_000;

/// A document that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    value: DeepValue,
    duplicates: Vec<String>,
    types: WrittenTypes,
}

impl Document {
    /// Returns the value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Takes the value out.
    pub fn into_value(self) -> DeepValue {
        self.value
    }

    /// Returns the members of the top object that name its type, repeated ones included.
    pub fn types(&self) -> &WrittenTypes {
        &self.types
    }

    /// Returns the paths of repeated keys in document order, each once, at most 100 (RP-20).
    pub fn duplicates(&self) -> &[String] {
        &self.duplicates
    }
}

/// Reads one JSON document; nothing but white space may follow it.
///
/// # Errors
///
/// If the text is not JSON as the server accepts it.
pub fn read_json(text: &[u8]) -> Result<Document, JsonError> {
    read_json_to_depth(text, MAX_DEPTH)
}

/// [`read_json`], and the places of keys and values in the text.
///
/// # Errors
///
/// If the text is not JSON as the server accepts it.
pub fn read_json_with_spans(text: &[u8]) -> Result<(Document, Spans), JsonError> {
    let document = read_json(text)?;
    Ok((document, spans(text, std::str::from_utf8(text).ok(), 0..text.len())))
}

/// Like [`read_json`], with another limit for nesting, for documents that wrap objects.
///
/// # Errors
///
/// If the text is not JSON as the server accepts it.
pub fn read_json_to_depth(text: &[u8], max_depth: usize) -> Result<Document, JsonError> {
    Reader::new(text, std::str::from_utf8(text).ok(), max_depth).read(Follows::Nothing)
}

/// Reads the JSON documents of a text, of which all but the first are objects, one after the other, as `jq`
/// prints several. The last one is an error if it is one.
pub fn read_json_documents(text: &[u8]) -> Vec<Result<Document, JsonError>> {
    documents(text).map(|read| read.map(|(document, _)| document)).collect()
}

/// [`read_json_documents`], and the places of keys and values in the text.
pub fn read_json_documents_with_spans(text: &[u8]) -> Vec<Result<(Document, Spans), JsonError>> {
    let unicode = std::str::from_utf8(text).ok();
    let with_spans = |(document, range)| (document, spans(text, unicode, range));
    documents(text).map(|read| read.map(with_spans)).collect()
}

/// The documents of a text, and where they are in it.
fn documents(text: &[u8]) -> impl Iterator<Item = Result<(Document, Range<usize>), JsonError>> {
    let mut reader = Reader::new(text, std::str::from_utf8(text).ok(), MAX_DEPTH);
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let start = reader.at;
        let read = reader.read(Follows::Object);
        is_over = read.is_err() || reader.at == text.len();
        Some(read.map(|document| (document, start..reader.at)))
    })
}

/// Reads text that is known to be JSON without repeated keys.
pub(crate) fn read_checked(text: &str) -> Option<DeepValue> {
    let mut reader = Reader::new(text.as_bytes(), Some(text), MAX_DEPTH);
    reader.has_unique_keys = true;
    reader.document(Follows::Nothing).ok().map(DeepValue::from)
}

/// The part of a container that was read before an error may be deep.
fn finish(read: Result<(), Failure>, container: Value) -> Result<Value, Failure> {
    match read {
        Ok(()) => Ok(container),
        Err(failure) => {
            dismantle(container);
            Err(failure)
        }
    }
}

/// The text that may follow a document, apart from white space.
#[derive(Clone, Copy, PartialEq)]
enum Follows {
    Nothing,
    Object,
}

struct Reader<'t> {
    bytes: &'t [u8],
    /// The same text, if all of it is UTF-8.
    unicode: Option<&'t str>,
    at: usize,
    /// The number of levels that may still be opened.
    left: usize,
    /// The first number beyond float64. The text around it must be well-formed before it counts.
    out_of_range: Option<(usize, &'t str)>,
    /// Whether the text is known to repeat no keys.
    has_unique_keys: bool,
    duplicates: Duplicates,
    types: WrittenTypes,
    memory: TreeBudget,
}

impl<'t> Reader<'t> {
    fn new(bytes: &'t [u8], unicode: Option<&'t str>, max_depth: usize) -> Self {
        Reader {
            bytes,
            unicode,
            at: 0,
            left: max_depth,
            out_of_range: None,
            has_unique_keys: false,
            duplicates: Duplicates::default(),
            types: WrittenTypes::default(),
            memory: TreeBudget::for_text(bytes.len()),
        }
    }

    /// Reads a document.
    fn read(&mut self, follows: Follows) -> Result<Document, JsonError> {
        let text = self.bytes;
        let failed = |failure: Failure| JsonError::new(text, failure.0, failure.1);
        let value = DeepValue::from(self.document(follows).map_err(failed)?);
        if let Some((offset, literal)) = self.out_of_range {
            let message =
                format!("json: cannot unmarshal number {literal} into Go value of type float64");
            return Err(JsonError::new(text, offset, message).with_partial(value));
        }
        let (duplicates, types) = (take(&mut self.duplicates), take(&mut self.types));
        Ok(Document { value, duplicates: duplicates.into_paths(), types })
    }

    fn document(&mut self, follows: Follows) -> Result<Value, Failure> {
        self.skip_space();
        let value = self.value(&Place::top())?;
        self.skip_space();
        let is_followed = self.peek() == Some(b'{') && follows == Follows::Object;
        if self.at < self.bytes.len() && !is_followed {
            let failure = self.invalid("after top-level value");
            dismantle(value);
            return Err(failure);
        }
        Ok(value)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn invalid(&self, context: &str) -> Failure {
        match self.bytes.get(self.at..) {
            None | Some([]) => string::end_of_input(self.bytes),
            Some(rest) => {
                let shown = character(rest);
                failure(self.at, format!("invalid character {shown} {context}"))
            }
        }
    }

    fn value(&mut self, place: &Place<'_>) -> Result<Value, Failure> {
        match self.peek() {
            Some(b'{') => {
                let mut members = Map::new();
                let read = self.nested(|reader| reader.object(place, &mut members));
                finish(read, Value::Object(members))
            }
            Some(b'[') => {
                let mut items = Vec::new();
                let read = self.nested(|reader| reader.array(place, &mut items));
                finish(read, Value::Array(items))
            }
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => Err(self.invalid("looking for beginning of value")),
        }
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.left == 0 {
            return Err(failure(self.at, "exceeded max depth".to_owned()));
        }
        self.left -= 1;
        self.at += 1;
        let read = if self.left.is_multiple_of(LEVELS) { grow(|| read(self)) } else { read(self) };
        self.left += 1;
        read
    }

    fn object(
        &mut self,
        place: &Place<'_>,
        members: &mut Map<String, Value>,
    ) -> Result<(), Failure> {
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        self.pay(TreeBudget::object)?;
        // The spelling of the last key while keys ascend, as servers write them: then none is
        // repeated.
        let mut ascending: Option<&[u8]> = Some(b"");
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.invalid("looking for beginning of object key string"));
            }
            let start = self.at;
            let key = self.string()?;
            if !self.has_unique_keys {
                let spelled = self.bytes.get(start..self.at).unwrap_or_default();
                let is_plain = spelled.len() == key.len() + 2;
                ascending = ascending.filter(|last| is_plain && *last < spelled).map(|_| spelled);
            }
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.invalid("after object key"));
            }
            self.at += 1;
            self.skip_space();
            self.pay(|memory| memory.member(key.len()))?;
            let member = place.inside(Segment::Name(&key));
            if ascending.is_none() && members.contains_key(&key) {
                self.duplicates.add(&member);
            }
            let value = self.value(&member)?;
            if place.is_top() {
                self.types.member(&key, &value);
            }
            if let Some(old) = members.insert(key, value) {
                dismantle(old);
            }
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.invalid("after object key:value pair")),
            }
        }
    }

    fn array(&mut self, place: &Place<'_>, items: &mut Vec<Value>) -> Result<(), Failure> {
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_space();
            self.pay(TreeBudget::item)?;
            items.push(self.value(&place.inside(Segment::Index(items.len())))?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.invalid("after array element")),
            }
        }
    }

    /// Counts a part of the tree.
    fn pay(
        &mut self,
        part: impl FnOnce(&mut TreeBudget) -> Result<(), TreeTooLargeError>,
    ) -> Result<(), Failure> {
        part(&mut self.memory).map_err(|error| failure(self.at, error.to_string()))
    }

    fn string(&mut self) -> Result<String, Failure> {
        let start = self.at + 1;
        let end = end_of_plain(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"')
            && let Some(text) = self.unicode.and_then(|text| text.get(start..end))
        {
            self.at = end + 1;
            return Ok(text.to_owned());
        }
        let (text, end) = string::string(self.bytes, self.unicode, start)?;
        self.at = end;
        Ok(text)
    }

    fn literal(&mut self, literal: &str, value: Value) -> Result<Value, Failure> {
        for expected in literal.chars() {
            if self.peek().map(char::from) != Some(expected) {
                let context = format!("in literal {literal} (expecting '{expected}')");
                return Err(self.invalid(&context));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, Failure> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if !matches!(self.peek(), Some(b'.' | b'e' | b'E'))
            && let Some(int) = number::short_integer(self.bytes.get(start..self.at))
        {
            return Ok(Value::from(int));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let literal = self.bytes.get(start..self.at).unwrap_or_default();
        let literal = std::str::from_utf8(literal).unwrap_or_default();
        Ok(number::parse(literal).map_or_else(
            || {
                self.out_of_range.get_or_insert((start, literal));
                Value::Null
            },
            Value::Number,
        ))
    }

    fn digits(&mut self) -> Result<(), Failure> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.invalid("in numeric literal")) } else { Ok(()) }
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns whether a text is JSON rather than YAML, by its first character.
pub fn is_json(text: &[u8]) -> bool {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'['))
}
