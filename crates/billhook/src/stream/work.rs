//! Decoding one object after the other, and writing the results.

use std::borrow::Cow;
use std::io::Write;

use serde_json::Value;

use super::error::StreamError;
use super::source::{Item, Source};
use crate::crd::CrdVersion;
use crate::decode::DecodedText;
use crate::decode_options::{BodyFormat, DecodeOptions, FieldValidation};
use crate::error::DecodeError;

/// The numbers of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Objects that were decoded and written.
    pub decoded: u64,
    /// The objects among these that were written byte for byte as they were read.
    pub unchanged: u64,
    /// Objects that were refused and left out.
    pub refused: u64,
}

/// The work on every object.
pub(super) struct Work<'v> {
    version: &'v CrdVersion,
    options: DecodeOptions,
}

impl<'v> Work<'v> {
    pub(super) fn new(version: &'v CrdVersion, options: &DecodeOptions) -> Self {
        let field_validation = match options.field_validation {
            FieldValidation::Warn => FieldValidation::Ignore,
            other => other,
        };
        let options = options
            .clone()
            .field_validation(field_validation)
            .report(false)
            .format(BodyFormat::Json);
        Work { version, options }
    }

    pub(super) fn run<S: Source>(
        &self,
        source: &mut S,
        output: &mut Output<impl Write, impl FnMut(u64, DecodeError)>,
    ) -> Result<(), StreamError> {
        let (mut buffer, mut chunk) = (Vec::new(), Chunk::default());
        while let Some(item) = source.next(&mut buffer)? {
            chunk.add(self, &buffer, &item, S::END);
            output.put(&mut chunk)?;
            buffer.clear();
        }
        Ok(())
    }

    /// Decodes one object. The pass over the text does not take objects of other kinds.
    fn decode<'t>(&self, body: &'t [u8]) -> Result<Cow<'t, [u8]>, DecodeError> {
        if let Ok(passed) = self.version.clean_text(body, &self.options) {
            return passed.map(DecodedText::into_text);
        }
        let decoded = self.version.decode_tree(body, &self.options)?;
        let expected = self.version.definition().kind();
        let found = decoded.object().get("kind").and_then(Value::as_str).unwrap_or_default();
        if found != expected {
            return Err(DecodeError::wrong_kind(found, expected));
        }
        Ok(Cow::Owned(crate::to_json(decoded.object()).into_bytes()))
    }
}

/// The results of some objects in a row.
#[derive(Default)]
pub(super) struct Chunk {
    text: Vec<u8>,
    /// The position of the comma before the first object, if there is one.
    comma: Option<usize>,
    counts: Counts,
    refused: Vec<(u64, DecodeError)>,
}

impl Chunk {
    pub(super) fn add(&mut self, work: &Work<'_>, buffer: &[u8], item: &Item, end: &[u8]) {
        let body = buffer.get(item.body.clone()).unwrap_or_default();
        match work.decode(body) {
            Ok(decoded) => {
                let lead = buffer.get(item.lead..item.body.start).unwrap_or_default();
                if self.counts.decoded == 0 {
                    self.comma = item.comma.map(|comma| self.text.len() + comma - item.lead);
                }
                self.text.extend_from_slice(lead);
                self.text.extend_from_slice(&decoded);
                self.text.extend_from_slice(end);
                self.counts.decoded += 1;
                self.counts.unchanged += u64::from(*decoded == *body);
            }
            Err(error) => {
                self.refused.push((item.number, error));
                self.counts.refused += 1;
            }
        }
    }
}

/// The destination of the results.
pub(super) struct Output<W, F> {
    pub(super) writer: W,
    refused: F,
    counts: Counts,
}

impl<W: Write, F: FnMut(u64, DecodeError)> Output<W, F> {
    pub(super) fn new(writer: W, refused: F) -> Self {
        Output { writer, refused, counts: Counts::default() }
    }

    /// Writes a chunk and empties it.
    pub(super) fn put(&mut self, chunk: &mut Chunk) -> Result<(), StreamError> {
        for (number, error) in chunk.refused.drain(..) {
            (self.refused)(number, error);
        }
        // The first object that is written has none before it to be separated from.
        if self.counts.decoded == 0
            && let Some(comma) = chunk.comma
        {
            chunk.text.remove(comma);
        }
        self.writer.write_all(&chunk.text).map_err(StreamError::Write)?;
        let Counts { decoded, unchanged, refused } = std::mem::take(&mut chunk.counts);
        self.counts.decoded += decoded;
        self.counts.unchanged += unchanged;
        self.counts.refused += refused;
        chunk.text.clear();
        chunk.comma = None;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Counts, StreamError> {
        self.writer.flush().map_err(StreamError::Write)?;
        Ok(self.counts)
    }
}
