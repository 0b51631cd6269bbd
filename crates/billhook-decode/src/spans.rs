//! The places of keys and values in JSON text.

use std::ops::Range;

use billhook_apimachinery::{Span, SpanId, Spans, SpansBuilder};

use crate::string;

/// Returns the places of all values in a part of a text that has been read without an error; `unicode` is
/// the same text, if all of it is UTF-8.
pub(crate) fn spans(text: &[u8], unicode: Option<&str>, range: Range<usize>) -> Spans {
    let text = text.get(..range.end).unwrap_or(text);
    let spans = SpansBuilder::default();
    let mut walk = Walk { text, unicode, at: range.start, spans, open: Vec::new() };
    while let Some(&byte) = text.get(walk.at) {
        walk.token(byte);
    }
    walk.spans.finish()
}

struct Walk<'t> {
    text: &'t [u8],
    /// The same text, if all of it is UTF-8.
    unicode: Option<&'t str>,
    at: usize,
    spans: SpansBuilder,
    open: Vec<Open>,
}

/// An open list or object.
struct Open {
    id: SpanId,
    is_object: bool,
    /// The key that waits for its value.
    key: Option<(String, Span)>,
}

impl Walk<'_> {
    fn token(&mut self, byte: u8) {
        let start = self.at;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => self.at += 1,
            b'{' | b'[' => {
                self.at += 1;
                let id = self.value(Span::new(start, self.at));
                self.open.push(Open { id, is_object: byte == b'{', key: None });
            }
            b'}' | b']' => {
                self.at += 1;
                if let Some(open) = self.open.pop() {
                    self.spans.end(open.id, self.at);
                }
            }
            b'"' => self.string(),
            _ => {
                let rest = self.text.get(start..).unwrap_or_default();
                let is_part = |byte: &&u8| {
                    !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b'}' | b']')
                };
                self.at += rest.iter().take_while(is_part).count();
                self.value(Span::new(start, self.at));
            }
        }
    }

    fn string(&mut self) {
        let start = self.at;
        let read = string::string(self.text, self.unicode, start + 1);
        let (text, end) = read.unwrap_or_else(|_| (String::new(), self.text.len()));
        self.at = end;
        let span = Span::new(start, end);
        match self.open.last_mut() {
            Some(open) if open.is_object && open.key.is_none() => open.key = Some((text, span)),
            _ => {
                self.value(span);
            }
        }
    }

    /// Adds a value to the collection that it is in.
    fn value(&mut self, span: Span) -> SpanId {
        let key = self.open.last_mut().and_then(|open| open.key.take());
        let id = self.spans.value(key.as_ref().map(|(_, span)| *span), span);
        match (self.open.last(), key) {
            (Some(open), Some((name, _))) => self.spans.member(open.id, &name, id),
            (Some(open), None) => self.spans.item(open.id, id),
            (None, _) => {}
        }
        id
    }
}
