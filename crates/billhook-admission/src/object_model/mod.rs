//! What the chain knows of the objects it carries: their versions, conversion and defaults.

mod conversion;
mod model;
mod versioned;

pub use model::{Converter, CustomResources, ObjectModel, UnknownObjects};
pub(crate) use model::{check_patched, semantically_equal};
pub(crate) use versioned::{State, Versioned, mutating_conversion_failed};
