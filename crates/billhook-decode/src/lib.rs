#![doc = include_str!("../README.md")]
//!
//! [`read_json`] accepts exactly what the server accepts: the strict grammar, up to
//! [`MAX_DEPTH`] levels, invalid UTF-8 and lone surrogates as U+FFFD, no number beyond float64.
//! Repeated keys are legal (the last one wins) and listed, because field validation reports them
//! (RP-20).

mod check;
mod decoder;
mod duplicate_keys;
mod duplicates;
mod error;
mod fields;
mod in_place;
mod metadata;
mod normalize;
mod number;
mod output;
mod prepared;
mod reader;
mod removed_fields;
mod report;
mod rewriter;
mod scanner;
mod spans;
mod string;
mod view;

pub use check::{Checked, check_json};
pub use decoder::Decoder;
pub use error::JsonError;
pub use in_place::{Cleaning, Steps, prune_and_default};
pub use reader::{
    Document, MAX_DEPTH, is_json, read_json, read_json_documents, read_json_documents_with_spans,
    read_json_to_depth, read_json_with_spans,
};
pub use report::Reported;
pub use scanner::Stop;
pub use view::{Members, ObjectView};
