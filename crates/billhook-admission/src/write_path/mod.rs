//! The write path of a custom resource: a request is decoded, goes through the chain, is validated
//! and stored.

mod admission;
mod attempt;
mod body;
mod client_patch;
mod decoding;
mod deletion;
mod deprecation;
mod fields;
mod kind_strategy;
mod own_objects;
mod ownership;
mod preconditions;
mod prepare;
mod request;
mod server_fields;
mod storage;
mod store;
mod strategic_patch;
mod strategic_types;
mod strategy;
mod write;

pub use admission::{Admission, AdmissionOutcome};
pub use deletion::{DeleteOptions, Preconditions};
pub use deprecation::deprecation_warning;
pub use kind_strategy::KindStrategy;
pub use request::{ObjectRequest, Subresource, UpdateForm};
pub use server_fields::ServerFields;
pub use store::{Store, StoreError, StoreWrite, StoredObject};
pub use strategy::{Allocator, Findings, Strategy, StrategyContext};
pub use write::Accepted;
