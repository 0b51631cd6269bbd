//! The errors that end a stream early.

use std::io;

/// The error that ended a stream early. The results before it are written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The input cannot be read.
    #[error("cannot read the input: {0}")]
    Read(#[source] io::Error),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Write(#[source] io::Error),
    /// An object or a line is longer than [`DecodeOptions::max_line`](crate::DecodeOptions::max_line).
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

/// A line, or a part of a list, that is longer than [`DecodeOptions::max_line`](crate::DecodeOptions::max_line).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is longer than {limit} bytes")]
pub struct TooLongError {
    pub(super) what: String,
    pub(super) limit: usize,
}

/// A document that is not a list, or malformed outside of its items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a list of objects: {message} at byte {offset}")]
pub struct ListError {
    pub(super) message: String,
    pub(super) offset: u64,
}

impl ListError {
    /// Returns the offset in the document, in bytes from the start.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}
