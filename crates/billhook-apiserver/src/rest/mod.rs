//! The verbs of resources.

mod admit;
mod binding;
mod context;
mod delete;
mod deletion;
mod list;
mod options;
mod read;
mod route;
mod selectors;
mod watch;
mod write;

pub(crate) use self::admit::admit;
pub(crate) use self::binding::stored_object;
pub(crate) use self::route::serve;
