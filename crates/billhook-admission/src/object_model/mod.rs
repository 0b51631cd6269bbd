//! The chain's knowledge of the objects it carries: their versions, conversion and defaults.

mod conversion;
mod custom_resources;
mod metadata;
mod model;
mod patched;
mod source;
mod versioned;

pub use custom_resources::CustomResources;
pub(crate) use metadata::{metadata_member, metadata_text};
pub(crate) use model::UnknownObjects;
pub use model::{Converter, ConverterError, ObjectModel, ObjectModelError};
pub(crate) use patched::patched_kind;
pub(crate) use versioned::{Objects, State, Versioned, mutating_conversion_failed};
