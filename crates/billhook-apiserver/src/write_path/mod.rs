//! The write path of resources, bound to the storage of a server.

mod admit;
mod binding;
mod cluster;

pub(crate) use self::admit::{
    admit, admit_as_controller, admit_own, admit_review, admit_unstored, is_gone,
};
pub(crate) use self::binding::{object_key, replace_stored};
