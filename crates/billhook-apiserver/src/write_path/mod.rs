//! The write path of resources, bound to the storage of a server.

mod admit;
mod binding;
mod cluster;

pub(crate) use self::admit::{admit, admit_own, admit_review, admit_unstored};
pub(crate) use self::binding::{object_key, replace_stored};
