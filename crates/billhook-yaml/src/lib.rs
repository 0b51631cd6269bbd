#![doc = include_str!("../README.md")]
//!
//! # From YAML to JSON
//!
//! - Plain `yes`, `on` and `y` are booleans, `0777` and `0b11` integers, `1:30` is a string.
//!   Quoted scalars and scalars with an unknown tag are strings, tagged ones what the tag says.
//! - Keys that are numbers or booleans become text; null, lists and mappings as keys are refused.
//! - Numbers end up as JSON numbers do in the server (SS-01): whole floats that fit `i64` are
//!   integers, integers beyond `i64` are floats, and infinity and NaN are refused.
//! - Repeated keys are legal (the last one wins) and listed, because field validation reports them
//!   (RP-20).
//! - Values are at most [`MAX_DEPTH`] levels deep, and aliases may bring only so much.
//!
//! # Differences
//!
//! The grammar is that of YAML 1.1 as the server reads it, with the same errors: those of characters
//! name their line, those of tokens the line before it, and errors in the first line name none. What
//! differs:
//!
//! - the tree of a text may take only so much memory
//!   ([`TreeBudget`](billhook_apimachinery::TreeBudget));
//! - of a document that is malformed in several ways, the server may name another problem first if
//!   one of them is a character that is not allowed.
//!
//! # Compared with `serde_yaml`
//!
//! Text that both accept is read as the same value (a property test, and all YAML files of the
//! repository), except for this:
//!
//! | text | here, as on a server | `serde_yaml` 0.9.34 into a `serde_json::Value` |
//! |---|---|---|
//! | `y`, `yes`, `on`, `n`, `no`, `off` | booleans | text |
//! | `0777`, `1_000`, `0X1F`, `0B11` | numbers | text |
//! | `1.0`, `1e3` | integers | floats |
//! | integers beyond `i64` | floats | unsigned integers, or refused |
//! | `.inf`, `.nan` | refused | null |
//! | `{0x10: a}`, `{yes: a}` as keys | `16`, `true` | as they are spelled |
//! | null as a key | refused | as it is spelled |
//! | `<<: *a` | merged | a key |
//! | `!!binary aGk=` | `hi` | `aGk=` |
//! | unknown tags, `!!bool yes` | read | refused |
//! | empty documents of a stream | left out | null |
//! | `---` after a byte order mark | the start of a document | text |

mod aliases;
mod build;
mod cursor;
mod document;
mod duplicate;
mod error;
mod place;
mod properties;
mod scalar;
mod scalars;
mod scanner;
mod source;
mod text;
mod token;
mod write;

pub use document::{Document, read_document, read_documents, read_documents_with_spans};
pub use duplicate::{Duplicate, strict_error_text, warnings};
pub use error::YamlError;
pub use write::write_document;

/// The maximum nesting depth of lists and objects.
pub const MAX_DEPTH: usize = 10_000;
