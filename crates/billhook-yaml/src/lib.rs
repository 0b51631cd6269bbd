//! YAML text as the Kubernetes API server reads it before it decodes an object (RP-10): the
//! implicit types and the merge keys of YAML 1.1, everything turned into JSON.
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
//! ```
//! let text = b"replicas: 0x10\non: off\na: &x {p: 1}\nb: {<<: *x, q: 2, q: 3}\n";
//! let document = billhook_yaml::read_document(text)?;
//! assert_eq!(document.value()["replicas"], 16);
//! assert_eq!(document.value()["true"], false);
//! assert_eq!(document.value()["b"]["p"], 1);
//! let entry = billhook_yaml::strict_error_text(document.duplicates()).unwrap();
//! assert_eq!(entry, "yaml: unmarshal errors:\n  line 4: key \"q\" already set in map");
//! assert!(billhook_yaml::warnings(&entry).eq(["line 4: key \"q\" already set in map"]));
//!
//! let error = billhook_yaml::read_document(b"a: 1\nb: @\n").unwrap_err();
//! assert_eq!(error.to_string(), "yaml: line 2: found character that cannot start any token");
//! assert_eq!((error.line(), error.column()), (2, 4));
//! # Ok::<(), billhook_yaml::YamlError>(())
//! ```
//!
//! The grammar is that of YAML 1.2 without the parts that 1.1 refuses. Some unusual text the server
//! reads is refused:
//!
//! The grammar is that of YAML 1.2 with what 1.1 refuses taken away. Some unusual text the server
//! reads is refused:
//!
//! - quoted scalars in block collections with further lines that are indented by tabs, and the
//!   header of a block scalar that is not indented;
//! - comments without a space before them, and a tab at the start of a line after a comment in a
//!   flow collection;
//! - aliases as keys with the colon directly behind;
//! - in flow collections, a lone `-` and scalars with a colon before a bracket or comma;
//! - content after a document that does not end before it.
//!
//! The other way round, a scalar in a flow collection may have or start with `?` or `:` here, and
//! the line breaks U+2028 and U+2029 are ordinary characters.

mod aliases;
mod build;
mod document;
mod duplicate;
mod error;
mod indent;
mod places;
mod scalar;
mod source;
mod text;

pub use document::{Document, read_document, read_documents, read_documents_with_locations};
pub use duplicate::{Duplicate, strict_error_text, warnings};
pub use error::YamlError;

/// The maximum nesting depth of lists and objects.
pub const MAX_DEPTH: usize = 10_000;
