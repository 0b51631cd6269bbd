//! The verbs of resources.

mod actions;
mod connections;
mod context;
mod delete;
mod deletion;
mod document;
mod frames;
mod labels;
mod list;
mod list_options;
mod list_text;
mod log_options;
mod logs;
mod options;
mod read;
mod route;
mod selectors;
mod token;
mod tracking;
mod watch;
mod write;

pub(crate) use self::document::DocumentType;
pub(crate) use self::options::{Body, WriteOptions};
pub(crate) use self::route::serve;
pub(crate) use self::tracking::track_creation;
pub(crate) use self::write::warn;
