//! The storage, as the write path writes to it.

use std::sync::Arc;

use billhook_admission::{Store, StoreError, StoreWrite};
use billhook_apimachinery::Status;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::declared_json;
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::DeepValue;
use bytes::Bytes;
use serde_json::Value;

use crate::future::BoxFuture;
use crate::resources::Resource;
use crate::shared::Shared;
use crate::storage::{Collection, Object, Revision, StorageForm, TOO_LARGE, Write, WriteError};

/// How many bytes a stored object has at most: as in etcd (RE-140).
const MAX_STORED: usize = 3 << 19;
/// How many bytes are sent to etcd at most.
const MAX_SENT: usize = 2 << 20;

/// Why an object is not replaced by one that was made for another revision.
const OUTDATED: &str = "the object has been modified; please apply your changes to the latest \
                        version and try again";

/// The key of an object in storage; the namespace is empty for an object of the cluster.
pub(crate) fn object_key(namespace: &str, name: &str) -> String {
    match namespace {
        "" => name.to_owned(),
        namespace => [namespace, "/", name].concat(),
    }
}

/// Replaces an object of the server's own kinds without admission, and without owners: as
/// bindings and evictions do.
///
/// # Errors
///
/// A conflict if something else is stored than was read.
pub(crate) async fn replace_stored(
    server: &Arc<Shared>,
    resource: &Resource,
    stored: &Object,
    mut object: DeepValue,
) -> Result<(), Status> {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("resourceVersion");
    }
    let print = |record| declared_json(&object, record);
    let replacement = Bytes::from(resource.record.map_or_else(|| compact_json(&object), print));
    let binding = Binding::new(server, resource);
    let (key, expected) = (Arc::clone(&stored.key), Some(stored.modified));
    let replaced = async move { binding.commit(&key, expected, Some(replacement)).await };
    match server.to_its_end(replaced).await {
        Ok(_) => Ok(()),
        Err(StoreError::Failed(status) | StoreError::TooLarge(status)) => Err(status),
        Err(_) => {
            let version = resource.kind.map_or("", |kind| kind.version);
            let name = object.get("metadata").map_or("", |metadata| text(metadata, "name"));
            Err(Status::conflict(&resource.name(version), name, OUTDATED))
        }
    }
}

/// Writes the objects of a collection.
pub(super) struct Binding {
    server: Arc<Shared>,
    collection: Collection,
    form: StorageForm,
    size: fn(&Bytes) -> usize,
}

impl Store for Binding {
    fn write<'a>(&'a self, write: StoreWrite<'a>) -> BoxFuture<'a, Result<String, StoreError>> {
        Box::pin(self.write(write))
    }
}

impl Binding {
    pub(super) fn new(server: &Arc<Shared>, resource: &Resource) -> Self {
        let (server, collection) = (Arc::clone(server), resource.collection.clone());
        let (form, size) = (resource.form, resource.stored_size);
        Binding { server, collection, form, size }
    }

    /// Returns how large an object is in etcd. What is stored is never larger than the text, so that only
    /// large ones have to be measured (ES-90).
    fn stored_size(&self, text: &Bytes) -> usize {
        if text.len() <= MAX_STORED { text.len() } else { (self.size)(text) }
    }

    async fn write(&self, write: StoreWrite<'_>) -> Result<String, StoreError> {
        let key = object_key(write.namespace, write.name);
        let found = self.server.storage.get(&self.collection, &key);
        let expected = write.expected.map(|expected| expected.resource_version.as_str());
        let revision = found.as_ref().map(|found| found.modified.to_string());
        if revision.as_deref() != expected {
            return Err(self.mismatch(found.as_ref()));
        }
        let expected = found.as_ref().map(|found| found.modified);
        let text = write.object.map(|object| self.form.stored(object));
        let size = text.as_ref().map_or(0, |text| self.stored_size(text));
        if size > MAX_SENT {
            let why = format!("trying to send message larger than max ({size} vs. {MAX_SENT})");
            return Err(StoreError::TooLarge(failure(&why)));
        }
        if size > MAX_STORED {
            return Err(StoreError::TooLarge(failure(TOO_LARGE)));
        }
        let is_stored = found.as_ref().is_some_and(|found| Some(&found.text) == text.as_ref());
        if write.dry_run || is_stored {
            return Ok(revision.unwrap_or_default());
        }
        self.commit(&key, expected, text).await
    }

    async fn commit(
        &self,
        key: &str,
        expected: Option<Revision>,
        text: Option<Bytes>,
    ) -> Result<String, StoreError> {
        let write = match (expected, text) {
            (None, Some(text)) => Write::create(text),
            (Some(expected), Some(text)) => Write::replace(expected, text),
            (Some(expected), None) => Write::delete(expected),
            (None, None) => return Err(StoreError::Mismatch(None)),
        };
        match self.server.storage.write(&self.collection, key, write).await {
            Ok(revision) => Ok(revision.to_string()),
            Err(WriteError::Mismatch(mismatch)) => Err(self.mismatch(mismatch.found.as_ref())),
            Err(WriteError::TooLarge(why)) => Err(StoreError::TooLarge(failure(&why))),
            Err(WriteError::Failed(why) | WriteError::Unknown(why)) => {
                Err(StoreError::Failed(failure(&why)))
            }
        }
    }

    /// Says what is stored in place of what a write expects.
    fn mismatch(&self, found: Option<&Object>) -> StoreError {
        StoreError::Mismatch(found.map(|found| self.form.object(found)))
    }
}

/// The failure of the storage, which has no reason (ES-60).
fn failure(why: &str) -> Status {
    Status::failure(500, "", why)
}
