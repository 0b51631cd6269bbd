//! JSON patches of webhooks.

mod logged;

pub use billhook::{JsonPatch, PatchError};
pub(crate) use logged::logged;
