//! Where objects are kept, as far as a request notices: a write fails if somebody else was faster
//! (AR-31, AR-32, RP-53).

use billhook_decode::read_json;

use super::caller::BoxFuture;
use super::status::Status;

/// An object as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredObject {
    /// Its JSON text; empty if there is none.
    pub bytes: Vec<u8>,
    /// Its resource version. If this is empty, `metadata.resourceVersion` in the text counts; if
    /// there is none either, every resource version that a client names is right.
    pub resource_version: String,
}

impl StoredObject {
    /// An object whose resource version is in its text, or unknown.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        StoredObject { bytes: bytes.into(), resource_version: String::new() }
    }

    /// The object at a resource version.
    #[must_use]
    pub fn resource_version(mut self, resource_version: impl Into<String>) -> Self {
        self.resource_version = resource_version.into();
        self
    }

    /// The resource version, if it is known.
    pub(super) fn known_version(&self) -> Option<String> {
        if !self.resource_version.is_empty() {
            return Some(self.resource_version.clone());
        }
        self.metadata("resourceVersion")
    }

    /// The name of the object, if there is one.
    pub(super) fn name(&self) -> Option<String> {
        self.metadata("name")
    }

    fn metadata(&self, name: &str) -> Option<String> {
        let object = read_json(&self.bytes).ok()?.into_value();
        let text = object.get("metadata")?.get(name)?.as_str()?;
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }
}

/// A write, all or nothing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StoreWrite<'w> {
    /// The namespace of the object; empty if it lives in none.
    pub namespace: &'w str,
    /// Its name.
    pub name: &'w str,
    /// What must be stored for the write to be made: nothing if the object is new.
    pub expected: Option<&'w StoredObject>,
    /// What is to be stored; nothing if the object is deleted.
    pub object: Option<&'w [u8]>,
    /// Whether the write is only checked, not made.
    pub dry_run: bool,
}

/// Why a write was not made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StoreError {
    /// Something else is stored than was expected: this object, or none.
    Mismatch(Option<StoredObject>),
    /// The store itself failed.
    Failed(Status),
}

/// Keeps objects. An [`Admission`](super::Admission) with a store makes its writes itself, and
/// tries again as a server does: a new object with another name if a generated one is taken
/// (AR-31), a change from the start if the object is not the one that it was made for (AR-32).
///
/// A function from a [`StoreWrite`] to its result is a store that never waits.
pub trait Store: Send + Sync {
    /// Makes a write. Gives the new resource version, which may be empty if there is none.
    fn write<'a>(&'a self, write: StoreWrite<'a>) -> BoxFuture<'a, Result<String, StoreError>>;
}

impl<F> Store for F
where
    F: Fn(StoreWrite<'_>) -> Result<String, StoreError> + Send + Sync,
{
    fn write<'a>(&'a self, write: StoreWrite<'a>) -> BoxFuture<'a, Result<String, StoreError>> {
        Box::pin(std::future::ready(self(write)))
    }
}
