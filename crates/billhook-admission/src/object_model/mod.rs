//! The chain's knowledge of the objects it carries: their versions, conversion and defaults.

mod conversion;
mod converter;
mod custom_resources;
mod metadata;
mod patched;
mod source;
mod versioned;

pub use converter::{Converter, ConverterError};
pub use custom_resources::CustomResources;
pub(crate) use metadata::{metadata_member, metadata_text};
pub(crate) use patched::{complete_type, patched_kind};
pub(crate) use versioned::{State, Versioned, mutating_conversion_failed};
