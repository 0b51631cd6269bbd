//! Where objects are kept, as a request sees it: a write fails if another one was faster
//! (AR-31, AR-32, RP-53).

use std::borrow::Cow;

use billhook_apimachinery::Status;
use billhook_decode::ObjectView;
use billhook_policy::BoxFuture;
use bytes::Bytes;

/// An object as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredObject {
    /// Its JSON text; empty if absent. Clones share it.
    pub bytes: Bytes,
    /// Its resource version. If this is empty, `metadata.resourceVersion` in the text counts; if
    /// there is none either, every resource version that a client names is right.
    pub resource_version: String,
    /// Whether the text is one that a write was given to store: it need not be read to see whether
    /// another one says the same.
    pub is_as_written: bool,
}

impl StoredObject {
    /// An object whose resource version is in its text, or unknown.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        StoredObject { bytes: bytes.into(), ..StoredObject::default() }
    }

    /// The object at a resource version.
    #[must_use]
    pub fn resource_version(mut self, resource_version: impl Into<String>) -> Self {
        self.resource_version = resource_version.into();
        self
    }

    /// The object with a text that a write was given to store.
    #[must_use]
    pub fn as_written(mut self) -> Self {
        self.is_as_written = true;
        self
    }

    /// The name of the object, if there is one.
    pub(crate) fn name(&self) -> Option<String> {
        let name = ObjectView::of_checked(&self.bytes).at(["metadata", "name"])?;
        name.as_str().filter(|name| !name.is_empty()).map(Cow::into_owned)
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
    /// The object that must be stored for the write to be made: none if the object is new.
    pub expected: Option<&'w StoredObject>,
    /// The text to store, which can be kept as it is; none if the object is deleted.
    pub object: Option<&'w Bytes>,
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
    /// The store does not keep so large an object.
    TooLarge(Status),
}

/// Keeps objects. New methods will have defaults. An [`Admission`](crate::Admission) with a store
/// makes its writes itself, and tries again as a server does: a new object with another name if a generated one is taken
/// (AR-31), a change from the start if the object is not the one that it was made for (AR-32).
///
/// A function from a [`StoreWrite`] to its result is a store that never waits, for instance one in
/// memory:
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::{Arc, Mutex};
///
/// use billhook::CustomResourceDefinition;
/// use billhook_admission::{Admission, Chain, MemoryCluster, ObjectRequest, StoreError, StoreWrite, StoredObject, Unreachable};
///
/// #[derive(Default)]
/// struct Memory {
///     objects: Mutex<BTreeMap<(String, String), StoredObject>>,
/// }
///
/// impl Memory {
///     fn write(&self, write: StoreWrite<'_>) -> Result<String, StoreError> {
///         let mut objects = self.objects.lock().unwrap();
///         let key = (write.namespace.to_owned(), write.name.to_owned());
///         let found = objects.get(&key);
///         if found != write.expected {
///             return Err(StoreError::Mismatch(found.cloned()));
///         }
///         let revision = found.map_or(0, |found| found.resource_version.parse().unwrap_or(0)) + 1;
///         if !write.dry_run {
///             match write.object {
///                 Some(object) => {
///                     let object = StoredObject::new(object.clone()).resource_version(revision.to_string());
///                     objects.insert(key, object);
///                 }
///                 None => {
///                     objects.remove(&key);
///                 }
///             }
///         }
///         Ok(revision.to_string())
///     }
/// }
///
/// # let definition = CustomResourceDefinition::from_value(&serde_json::json!({
/// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
/// #   "spec": {"group": "example.com", "scope": "Cluster",
/// #     "names": {"plural": "foos", "kind": "Foo"},
/// #     "versions": [{"name": "v1", "served": true, "storage": true,
/// #       "schema": {"openAPIV3Schema": {"type": "object"}}}]}}))?;
/// let memory = Arc::new(Memory::default());
/// let store = Arc::clone(&memory);
/// let admission = Admission::new(definition, Chain::new(Unreachable))
///     .store(Arc::new(move |write: StoreWrite<'_>| store.write(write)));
///
/// let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}}"#;
/// let create = ObjectRequest::create("v1", body);
/// let created = admission.admit_blocking(&create, &MemoryCluster::new()).result?.into_returned().unwrap();
/// assert_eq!(created["metadata"]["resourceVersion"], "1");
/// let refused = admission.admit_blocking(&create, &MemoryCluster::new()).result.unwrap_err();
/// assert_eq!(refused.to_string(), "foos.example.com \"x\" already exists");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Store: Send + Sync {
    /// Makes a write. Returns the new resource version, which may be empty if absent.
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
