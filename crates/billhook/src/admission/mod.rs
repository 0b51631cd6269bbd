//! Admission: what mutating and validating webhooks make of a request.

mod patch;

pub use patch::{JsonPatch, PatchError};
