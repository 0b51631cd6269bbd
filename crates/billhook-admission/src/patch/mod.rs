//! JSON patches.

mod error;
mod json_patch;
mod limits;
mod logged;
mod pointer;

pub use error::PatchError;
pub use json_patch::JsonPatch;
pub(crate) use logged::logged;
