//! JSON patches.

mod error;
mod limits;
mod patch;
mod pointer;

pub use error::PatchError;
pub use patch::JsonPatch;
