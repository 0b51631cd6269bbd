//! Many objects at once, from a reader to a writer, with one of them in memory at a time: lines of
//! newline-delimited JSON, and the items of a list. Each is decoded as a request body (RP-10).

mod error;
mod list;
#[cfg(feature = "rayon")]
mod parallel;
mod source;
mod work;

use std::io::{BufRead, Write};
#[cfg(feature = "rayon")]
use std::num::NonZeroUsize;

use crate::crd::CrdVersion;
use crate::decode_options::DecodeOptions;
use crate::error::DecodeError;
use list::List;
use source::Lines;
use work::{Output, Work};

pub use error::{ListError, StreamError, TooLongError};
pub use work::Counts;

impl CrdVersion {
    /// Decodes newline-delimited JSON: each line as [`CrdVersion::decode_text`] does, written with
    /// a line break after it. Blank lines are skipped. A refused line, also one of another kind, is
    /// passed to `refused` with its number, from 1, and left out.
    ///
    /// Nothing is listed: `FieldValidation::Warn` is the same as `FieldValidation::Ignore`, and
    /// [`DecodeOptions::report`] and [`DecodeOptions::format`] have no effect. The output is
    /// written line by line, so the writer should be buffered.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, the output cannot be written, or a line is too long.
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
        work.run(&mut Lines::new(reader, options.max_line), &mut output)?;
        output.finish()
    }

    /// Decodes the items of a list, e.g. of kind `BackupList` or `List`, one by one; the text
    /// around them is checked and passed through unchanged. A refused item, also one of another
    /// kind, is passed to `refused` with its number, from 0, and left out.
    ///
    /// The options apply as in [`CrdVersion::decode_lines`].
    ///
    /// # Errors
    ///
    /// If the input cannot be read or is not a list, the output cannot be written, or an item is
    /// too long.
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
        let (mut list, mut output) =
            (List::new(reader, options.max_line), Output::new(writer, refused));
        if list.pass(&mut output.writer)? {
            work.run(&mut list, &mut output)?;
            list.pass(&mut output.writer)?;
        }
        output.finish()
    }

    /// Like [`CrdVersion::decode_lines`], with `jobs` threads, at most 256, which decode while this
    /// one reads and writes. The order is preserved; a few batches of about 2 MiB are in memory at a time.
    ///
    /// # Errors
    ///
    /// As for [`CrdVersion::decode_lines`]; also if the threads cannot be started.
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
        work.run_parallel(&mut Lines::new(reader, options.max_line), &mut output, jobs)?;
        output.finish()
    }

    /// Like [`CrdVersion::decode_list`], with `jobs` threads, as in
    /// [`CrdVersion::decode_lines_parallel`].
    ///
    /// # Errors
    ///
    /// As for [`CrdVersion::decode_list`]; also if the threads cannot be started.
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
        let (mut list, mut output) =
            (List::new(reader, options.max_line), Output::new(writer, refused));
        if list.pass(&mut output.writer)? {
            work.run_parallel(&mut list, &mut output, jobs)?;
            list.pass(&mut output.writer)?;
        }
        output.finish()
    }
}
