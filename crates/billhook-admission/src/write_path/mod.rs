//! The write path of a custom resource: from a request to storage.

mod admission;
mod body;
mod client_patch;
mod deprecation;
mod ownership;
mod request;
mod run;
mod storage;
mod store;

pub use admission::{Accepted, Admission, AdmissionOutcome, ServerFields};
pub(crate) use body::metadata_text;
pub use request::{ObjectRequest, Preconditions, Subresource, UpdateForm};
pub use store::{Store, StoreError, StoreWrite, StoredObject};
