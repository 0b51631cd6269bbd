#![doc = include_str!("../README.md")]
//!
//! - [`Finding`]: what is said about a place of a document, with its rule.
//! - [`Source`]: a text that was read; maps field paths to lines and columns.
//! - [`SchemaSource`]: a definition; explains an error by the part of the schema that causes it.
//! - [`DeprecatedFields`]: the fields of a definition that its descriptions call deprecated.
//! - [`syntax_help`]: what to do about a text that cannot be read.
//! - [`fix`]: makes the safe edits of findings in the text.
//! - [`Subject`]: a thing that was looked at; [`Format`]: the forms in which what
//!   was found is printed.
//!
//! No file is read and nothing is printed here.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod built_in;
mod deprecated;
mod edit_distance;
mod finding;
mod fix;
mod format;
mod report;
mod schema;
mod source;
mod suggest;
mod syntax;
mod unreadable;
mod visible;

pub use deprecated::{DeprecatedField, DeprecatedFields};
pub use edit_distance::closest;
pub use finding::{Edit, Finding, Label, ObjectName, Severity};
pub use fix::{Fixed, fix};
pub use format::{Format, human, print};
pub use report::Subject;
pub use schema::SchemaSource;
pub use source::{Found, Place, Position, Source};
pub use syntax::syntax_help;
pub use visible::visible;
