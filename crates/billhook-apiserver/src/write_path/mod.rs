//! The write path of resources, bound to the storage of a server.

mod admit;
mod binding;
mod cluster;
mod namespaces;
mod permissions;

pub(crate) use self::admit::{admit, admit_own};
pub(crate) use self::binding::object_key;
pub(crate) use self::namespaces::is_terminating;
