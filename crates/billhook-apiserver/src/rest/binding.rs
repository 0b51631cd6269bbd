//! The storage, as the write path writes to it.

use std::sync::{Arc, Mutex, PoisonError};

use billhook_admission::{StoreError, StoreWrite};
use billhook_apimachinery::Status;
use billhook_decode::read_json;
use serde_json::Value;

use super::context::stored_object;
use super::deletion::{Deletion, Doomed};
use crate::state::Shared;
use crate::storage::{Collection, Object, Revision, Storage as _, Write};

/// Writes the objects of a collection.
pub(super) struct Binding {
    server: Arc<Shared>,
    collection: Collection,
    deletion: Option<Deletion>,
    /// The object that a deletion marked and left in place.
    marked: Arc<Mutex<Option<Object>>>,
}

impl Binding {
    pub(super) fn new(server: &Arc<Shared>, collection: &Collection) -> Self {
        Binding {
            server: Arc::clone(server),
            collection: collection.clone(),
            deletion: None,
            marked: Arc::default(),
        }
    }

    /// Deletes as the options of a deletion say. What is marked and stays is left in `marked`.
    pub(super) fn deleting(
        mut self,
        deletion: Deletion,
        marked: &Arc<Mutex<Option<Object>>>,
    ) -> Self {
        self.deletion = Some(deletion);
        self.marked = Arc::clone(marked);
        self
    }

    pub(super) fn write(&self, write: &StoreWrite<'_>) -> Result<String, StoreError> {
        let key = match write.namespace {
            "" => write.name.to_owned(),
            namespace => format!("{namespace}/{}", write.name),
        };
        let found = self.server.storage.get(&self.collection, &key);
        let expected = write.expected.map(|expected| expected.resource_version.as_str());
        let revision = found.as_ref().map(|found| found.modified.to_string());
        if revision.as_deref() != expected {
            return Err(StoreError::Mismatch(found.as_ref().map(stored_object)));
        }
        let expected = found.as_ref().map(|found| found.modified);
        let text = match (write.object, &found) {
            (Some(text), Some(found)) if loses_last_finalizer(found, text) => None,
            (Some(text), _) => Some(text.to_vec()),
            (None, Some(found)) => self.mark(found)?,
            (None, None) => None,
        };
        let is_stored = found.is_some_and(|found| Some(&*found.text) == text.as_deref());
        if write.dry_run || is_stored {
            return Ok(revision.unwrap_or_default());
        }
        self.commit(&key, expected, text)
    }

    /// Returns the rest of an object that is deleted: nothing, or the object with a mark.
    fn mark(&self, found: &Object) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(deletion) = &self.deletion else { return Ok(None) };
        let object = read_json(&found.text).map_err(|error| failed(&error.to_string()))?;
        match deletion.mark(object.into_value(), &self.server.now()) {
            Doomed::Gone => Ok(None),
            Doomed::Stays(object) => {
                let text = billhook::to_json(&object).into_bytes();
                let marked = Object { text: text.clone().into(), ..found.clone() };
                *self.marked.lock().unwrap_or_else(PoisonError::into_inner) = Some(marked);
                Ok(Some(text))
            }
        }
    }

    fn commit(
        &self,
        key: &str,
        expected: Option<Revision>,
        text: Option<Vec<u8>>,
    ) -> Result<String, StoreError> {
        let write = match (expected, text) {
            (None, Some(text)) => Write::create(text),
            (Some(expected), Some(text)) => Write::replace(expected, text),
            (Some(expected), None) => Write::delete(expected),
            (None, None) => return Err(StoreError::Mismatch(None)),
        };
        let written = self.server.storage.write(&self.collection, key, write);
        let revision = written
            .map_err(|mismatch| StoreError::Mismatch(mismatch.found.as_ref().map(stored_object)))?;
        let mut marked = self.marked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(marked) = marked.as_mut() {
            marked.modified = revision;
        }
        Ok(revision.to_string())
    }
}

/// Whether an update takes away the last thing that kept a deleted object (RE-76).
fn loses_last_finalizer(found: &Object, text: &[u8]) -> bool {
    let metadata = |text: &[u8]| {
        let object = read_json(text).ok()?.into_value();
        object.get("metadata").cloned()
    };
    let Some(old) = metadata(&found.text) else { return false };
    let grace = old.get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    if old.get("deletionTimestamp").is_none() || grace != 0 {
        return false;
    }
    let finalizers = metadata(text).and_then(|new| new.get("finalizers").cloned());
    finalizers.as_ref().and_then(Value::as_array).is_none_or(Vec::is_empty)
}

fn failed(error: &str) -> StoreError {
    StoreError::Failed(Status::internal_error(error))
}
