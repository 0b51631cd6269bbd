//! Many objects at once, from a reader to a writer, with one of them in memory at a time: lines of
//! newline-delimited JSON, and the items of a list. Each is decoded as a request body (RP-10).

mod list;
#[cfg(feature = "rayon")]
mod parallel;
mod source;

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
#[cfg(feature = "rayon")]
use std::num::NonZeroUsize;

use serde_json::Value;

use crate::crd::CrdVersion;
use crate::decode::{BodyFormat, DecodeOptions, FieldValidation};
use crate::error::DecodeError;
use list::List;
use source::{Item, Lines, Source};

/// How long a line, an item of a list or another member of a list may be, in bytes.
pub const MAX_LINE: usize = 256 << 20;

/// How many objects there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Objects that were decoded and written.
    pub decoded: u64,
    /// How many of these were written byte for byte as they were read.
    pub unchanged: u64,
    /// Objects that were refused and left out.
    pub refused: u64,
}

/// Why a stream ended early. What came before is written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The input cannot be read.
    #[error("cannot read the input: {0}")]
    Read(#[source] io::Error),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Write(#[source] io::Error),
    /// An object or a line is longer than [`MAX_LINE`].
    #[error(transparent)]
    TooLong(#[from] TooLongError),
    /// The text around the items is not that of a list.
    #[error(transparent)]
    List(#[from] ListError),
    /// The threads cannot be started.
    #[cfg(feature = "rayon")]
    #[error("cannot start threads: {0}")]
    Threads(#[source] io::Error),
}

/// A line, or a part of a list, that is longer than [`MAX_LINE`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is longer than {limit} bytes")]
pub struct TooLongError {
    what: String,
    limit: usize,
}

/// A document that is not a list, or malformed outside of its items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a list of objects: {message} at byte {offset}")]
pub struct ListError {
    message: String,
    offset: u64,
}

impl ListError {
    /// Where in the document, in bytes from the start.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl CrdVersion {
    /// Decodes newline-delimited JSON: each line as [`CrdVersion::decode_text`] does, written with a
    /// line break behind it. Blank lines are skipped. A line that is refused, also for being of
    /// another kind, is given to `refused` with its number, from 1, and left out.
    ///
    /// Nothing is listed: [`FieldValidation::Warn`] is the same as [`FieldValidation::Ignore`],
    /// and [`DecodeOptions::report`] and [`DecodeOptions::format`] do not count. The output is
    /// written line by line, so the writer should be buffered.
    ///
    /// ```
    /// # use billhook::{CustomResourceDefinition, DecodeOptions};
    /// # let crd = CustomResourceDefinition::from_value(&serde_json::json!({
    /// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    /// #   "spec": {"group": "example.com", "scope": "Namespaced",
    /// #     "names": {"plural": "foos", "kind": "Foo"},
    /// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
    /// #       {"openAPIV3Schema": {"type": "object"}}}]}}))?;
    /// let input = br#"{"apiVersion":"example.com/v1","kind":"Foo","extra":1}
    /// {"apiVersion":"example.com/v1","kind":
    /// "#;
    /// let (mut output, mut refused) = (Vec::new(), Vec::new());
    /// let v1 = crd.version("v1").unwrap();
    /// let note = |line, _| refused.push(line);
    /// let counts = v1.decode_lines(&input[..], &mut output, &DecodeOptions::default(), note)?;
    /// assert_eq!(output, b"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\"}\n");
    /// assert_eq!((counts.decoded, counts.refused, refused), (1, 1, vec![2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_lines(
        &self,
        reader: impl BufRead,
        writer: impl Write,
        options: &DecodeOptions,
        refused: impl FnMut(u64, DecodeError),
    ) -> Result<Counts, StreamError> {
        let work = Work::new(self, options);
        let mut output = Output::new(writer, refused);
        work.run(&mut Lines::new(reader, MAX_LINE), &mut output)?;
        output.finish()
    }

    /// Decodes the items of a list, e.g. of kind `BackupList` or `List`, one by one; the text
    /// around them is checked and passed through unchanged. An item that is refused, also for
    /// being of another kind, is given to `refused` with its number, from 0, and left out.
    ///
    /// The options count as for [`CrdVersion::decode_lines`].
    ///
    /// ```
    /// # use billhook::{CustomResourceDefinition, DecodeOptions};
    /// # let crd = CustomResourceDefinition::from_value(&serde_json::json!({
    /// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    /// #   "spec": {"group": "example.com", "scope": "Namespaced",
    /// #     "names": {"plural": "foos", "kind": "Foo"},
    /// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
    /// #       {"openAPIV3Schema": {"type": "object"}}}]}}))?;
    /// let list = br#"{"kind": "List", "items": [
    ///   {"apiVersion": "example.com/v1", "kind": "Bar"},
    ///   {"apiVersion": "example.com/v1", "kind": "Foo"}
    /// ]}"#;
    /// let mut output = Vec::new();
    /// let v1 = crd.version("v1").unwrap();
    /// let counts = v1.decode_list(&list[..], &mut output, &DecodeOptions::default(), |_, _| ())?;
    /// assert_eq!(output, br#"{"kind": "List", "items": [
    ///   {"apiVersion": "example.com/v1", "kind": "Foo"}
    /// ]}"#);
    /// assert_eq!((counts.unchanged, counts.refused), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_list(
        &self,
        reader: impl BufRead,
        writer: impl Write,
        options: &DecodeOptions,
        refused: impl FnMut(u64, DecodeError),
    ) -> Result<Counts, StreamError> {
        let work = Work::new(self, options);
        let (mut list, mut output) = (List::new(reader, MAX_LINE), Output::new(writer, refused));
        if list.pass(&mut output.writer)? {
            work.run(&mut list, &mut output)?;
            list.pass(&mut output.writer)?;
        }
        output.finish()
    }

    /// [`CrdVersion::decode_lines`] with `jobs` threads, which decode while this one reads and
    /// writes. The order stays; a few batches of about 2 MiB are in memory at a time.
    #[cfg(feature = "rayon")]
    pub fn decode_lines_parallel(
        &self,
        reader: impl BufRead,
        writer: impl Write,
        options: &DecodeOptions,
        jobs: NonZeroUsize,
        refused: impl FnMut(u64, DecodeError),
    ) -> Result<Counts, StreamError> {
        let work = Work::new(self, options);
        let mut output = Output::new(writer, refused);
        work.run_parallel(&mut Lines::new(reader, MAX_LINE), &mut output, jobs)?;
        output.finish()
    }

    /// [`CrdVersion::decode_list`] with `jobs` threads, as in [`CrdVersion::decode_lines_parallel`].
    #[cfg(feature = "rayon")]
    pub fn decode_list_parallel(
        &self,
        reader: impl BufRead,
        writer: impl Write,
        options: &DecodeOptions,
        jobs: NonZeroUsize,
        refused: impl FnMut(u64, DecodeError),
    ) -> Result<Counts, StreamError> {
        let work = Work::new(self, options);
        let (mut list, mut output) = (List::new(reader, MAX_LINE), Output::new(writer, refused));
        if list.pass(&mut output.writer)? {
            work.run_parallel(&mut list, &mut output, jobs)?;
            list.pass(&mut output.writer)?;
        }
        output.finish()
    }
}

/// What is done with every object.
struct Work<'v> {
    version: &'v CrdVersion,
    options: DecodeOptions,
}

impl<'v> Work<'v> {
    fn new(version: &'v CrdVersion, options: &DecodeOptions) -> Self {
        let field_validation = match options.field_validation {
            FieldValidation::Warn => FieldValidation::Ignore,
            other => other,
        };
        let options = DecodeOptions { field_validation, report: false, format: BodyFormat::Json };
        Work { version, options }
    }

    fn run<S: Source>(
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
        if let Some(text) = self.version.clean_text(body, &self.options) {
            return Ok(text.into_text());
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

/// What became of some objects in a row.
#[derive(Default)]
struct Chunk {
    text: Vec<u8>,
    /// Where the comma before the first object is, if there is one.
    comma: Option<usize>,
    counts: Counts,
    refused: Vec<(u64, DecodeError)>,
}

impl Chunk {
    fn add(&mut self, work: &Work<'_>, buffer: &[u8], item: &Item, end: &[u8]) {
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

/// Where results go.
struct Output<W, F> {
    writer: W,
    refused: F,
    counts: Counts,
}

impl<W: Write, F: FnMut(u64, DecodeError)> Output<W, F> {
    fn new(writer: W, refused: F) -> Self {
        Output { writer, refused, counts: Counts::default() }
    }

    /// Writes a chunk and empties it.
    fn put(&mut self, chunk: &mut Chunk) -> Result<(), StreamError> {
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

    fn finish(mut self) -> Result<Counts, StreamError> {
        self.writer.flush().map_err(StreamError::Write)?;
        Ok(self.counts)
    }
}
