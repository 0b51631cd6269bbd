//! The documents of a stream.

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{Spans, TreeBudget};
use serde_json::Value;

use crate::aliases::Feed;
use crate::build::{Built, build};
use crate::duplicate::Duplicate;
use crate::error::YamlError;
use crate::source::Source;
use crate::text::Text;

/// A document that was read.
#[derive(Clone, Debug)]
pub struct Document {
    value: DeepValue,
    duplicates: Vec<Duplicate>,
    line: usize,
    spans: Option<Spans>,
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

    /// Returns the repeated keys in the order the server lists them (RP-20). A mapping that aliases
    /// refer to is decoded at each of them, and so are its repeated keys.
    pub fn duplicates(&self) -> &[Duplicate] {
        &self.duplicates
    }

    /// Returns the line of the top value, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the places of the keys and values in the text. A value begins at its tag or anchor,
    /// and a block scalar ends after its last line break. `None` if the document was read without
    /// spans, or if the text is UTF-16.
    pub fn spans(&self) -> Option<&Spans> {
        self.spans.as_ref()
    }

    /// Takes the [`spans`](Self::spans) out.
    pub fn take_spans(&mut self) -> Option<Spans> {
        self.spans.take()
    }
}

/// Reads all documents of a YAML stream: each is a document or an error. Nothing is read after a
/// document that is refused. A stream without a document (empty, or only comments) has none.
pub fn read_documents(text: &[u8]) -> Vec<Result<Document, YamlError>> {
    read(text, usize::MAX, false)
}

/// [`read_documents`] for documents that can be asked for [`Document::spans`].
pub fn read_documents_with_spans(text: &[u8]) -> Vec<Result<Document, YamlError>> {
    read(text, usize::MAX, true)
}

/// Reads the first document of a stream, as the server reads the body of a request: the rest of the
/// stream is ignored, and a stream without a document is null.
///
/// # Errors
///
/// If the document is refused.
pub fn read_document(text: &[u8]) -> Result<Document, YamlError> {
    read(text, 1, false).pop().unwrap_or_else(|| {
        Ok(Document { value: DeepValue::default(), duplicates: Vec::new(), line: 1, spans: None })
    })
}

fn read(bytes: &[u8], at_most: usize, with_spans: bool) -> Vec<Result<Document, YamlError>> {
    let text = Text::new(bytes);
    let mut documents = Vec::new();
    let mut source = Source::new(&text.chars);
    let mut memory = TreeBudget::for_text(text.chars.len());
    let mut at_end = false;
    while documents.len() < at_most {
        match next(&mut source, text.chars.len(), &mut memory, with_spans) {
            Ok(Some(built)) => documents.push(Ok(document(built, text.offset))),
            Ok(None) => {
                at_end = true;
                break;
            }
            Err(error) => {
                documents.push(Err(error));
                break;
            }
        }
    }
    let Some(broken) = text.broken.clone() else { return documents };
    // Text that cannot be read is in the last document before it.
    let in_last =
        at_end || matches!(next(&mut source, text.chars.len(), &mut memory, false), Ok(None));
    match documents.last_mut() {
        Some(last @ Ok(_)) if in_last => *last = Err(broken),
        Some(Err(error)) if error.is_unfinished() || error.line() >= broken.line() => {
            *error = broken;
        }
        None => documents.push(Err(broken)),
        _ => {}
    }
    documents
}

/// `offset` is that of the characters in the bytes.
fn document(built: Built, offset: Option<usize>) -> Document {
    let Built { value, duplicates, spans, place } = built;
    let spans = spans.zip(offset).map(|(mut spans, offset)| {
        if offset > 0 {
            spans.map_offsets(|at| at + offset);
        }
        spans.finish()
    });
    Document { value, duplicates, line: place.line, spans }
}

fn next(
    source: &mut Source<'_>,
    length: usize,
    memory: &mut TreeBudget,
    with_spans: bool,
) -> Result<Option<Built>, YamlError> {
    if !source.next_document()? {
        return Ok(None);
    }
    match build(&mut Feed::new(source, length), memory, with_spans) {
        Ok(built) => source.end_document().map(|()| Some(built)),
        // The server reads all of a document before it looks at what it says.
        Err(error) => Err(source.drain().err().unwrap_or(error)),
    }
}
