//! The verbs of resources.

mod actions;
mod context;
mod delete;
mod deletion;
mod frames;
mod labels;
mod list;
mod list_options;
mod list_text;
mod options;
mod read;
mod route;
mod selectors;
mod watch;
mod write;

pub(crate) use self::options::{Body, WriteOptions};
pub(crate) use self::route::serve;
pub(crate) use self::write::warn;
