//! JSON text as the Kubernetes API server reads it.
//!
//! [`read_json`] accepts exactly what the server accepts: the strict grammar, up to
//! [`MAX_DEPTH`] levels, invalid UTF-8 and lone surrogates as U+FFFD, no number beyond float64.
//! Repeated keys are legal (the last one wins) and listed, because field validation reports them
//! (RP-20).
//!
//! ```
//! let document = billhook_decode::read_json(br#"{"a": 1, "b": {"c": 1.0, "c": 2}}"#)?;
//! assert_eq!(document.value()["b"]["c"], 2);
//! assert_eq!(document.duplicates(), ["b.c"]);
//!
//! let error = billhook_decode::read_json(b"{\"a\":\n tru}").unwrap_err();
//! assert_eq!((error.line(), error.column()), (2, 5));
//! # Ok::<(), billhook_decode::JsonError>(())
//! ```

mod check;
mod decoder;
mod duplicate_keys;
mod error;
mod fields;
mod in_place;
mod member_set;
mod metadata;
mod normalize;
mod number;
mod output;
mod prepared;
mod reader;
mod report;
mod rewriter;
mod scanner;
mod string;

pub use check::{Checked, check_json};
pub use decoder::Decoder;
pub use error::JsonError;
pub use in_place::prune_and_default;
pub use reader::{Document, MAX_DEPTH, is_json, read_json, read_json_to_depth};
pub use report::Findings;
