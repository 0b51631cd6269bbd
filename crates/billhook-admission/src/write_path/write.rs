//! The write of an accepted object: encoded, stored and read back (RP-53).

use std::time::Instant;

use billhook::scale;
use billhook_apimachinery::Status;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use super::body::{Incoming, read_stored};
use super::prepare::Before;
use super::request::UpdateForm;
use super::storage;
use super::store::{Store, StoreError, StoreWrite, StoredObject};
use crate::object_model::metadata_text;
use crate::trace::{Action, RequestLog, Step};

/// An accepted request.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Accepted {
    /// The text written to storage (RP-53); none if the object is removed.
    pub stored: Option<Vec<u8>>,
    /// Whether nothing is written because the same is stored already (RP-53).
    pub unchanged: bool,
    /// The object that the client gets: of a deletion the one that was removed, or the one that
    /// waits for its finalizers (RE-111).
    pub returned: Option<DeepValue>,
    /// The place in the stored text where [`Accepted::returned`] has the member `resourceVersion` of
    /// its metadata, before another one, if it differs in nothing else. So its text can be had
    /// without printing it.
    pub revision_place: Option<usize>,
}

/// The outcome of a write that did not fail.
pub(super) enum Written {
    Accepted(Accepted),
    /// Something else is stored than was expected.
    Mismatch {
        name: String,
        found: Option<StoredObject>,
    },
}

/// Whether storage does not take an object because of its size.
fn is_too_large(committed: &Result<String, StoreError>) -> bool {
    matches!(committed, Err(StoreError::Failed(status)) if status.code == 413)
}

/// The write of an object.
pub(super) struct Write<'w> {
    pub(super) incoming: Incoming<'w>,
    pub(super) before: &'w Before,
    pub(super) stored: &'w StoredObject,
    pub(super) store: Option<&'w dyn Store>,
}

impl Write<'_> {
    /// Encodes the resource, has it stored, and reads it back.
    pub(super) async fn run(
        &self,
        mut object: Option<DeepValue>,
        log: &mut RequestLog,
    ) -> Result<Written, Status> {
        let began = Instant::now();
        let given = object.as_deref().map_or("", |object| metadata_text(object, "resourceVersion"));
        let given = if self.before.old.is_none() { given.to_owned() } else { String::new() };
        let is_number = storage::read_revision(&given).is_ok_and(|number| number > 0);
        let request = self.incoming.request;
        // An apply ignores it (SA-63).
        let is_apply = request.form == UpdateForm::ServerSideApply;
        if is_number && !is_apply && !request.dry_run {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::failure(500, "", message));
        }
        let mut accepted = self.encode(object.as_deref_mut()).await?;
        let mut committed = match object.as_deref().or(self.before.old.as_deref()) {
            Some(subject) => self.commit(subject, &accepted).await,
            None => return Ok(Written::Accepted(accepted)),
        };
        if is_too_large(&committed)
            && let Some(object) = object.as_deref_mut()
            && self.incoming.forget_owners(object)
        {
            accepted = self.encode(Some(object)).await?;
            committed = self.commit(object, &accepted).await;
        }
        let Some(subject) = object.as_deref().or(self.before.old.as_deref()) else {
            return Ok(Written::Accepted(accepted));
        };
        let revision = match committed {
            Ok(revision) => revision,
            Err(StoreError::Failed(status)) => return Err(status),
            Err(StoreError::Mismatch(found)) => {
                let name = metadata_text(subject, "name").to_owned();
                log.step(Action::WriteRefused { name: name.clone() }, began.elapsed());
                return Ok(Written::Mismatch { name, found });
            }
        };
        // Only a dry run leaves a new object the revision that it came with (RE-23).
        let shown = if revision.is_empty() && request.dry_run { &given } else { &revision };
        let written = if log.is_tracing { object.clone() } else { None };
        let returned = self.read_back(object, &mut accepted, shown).await?;
        if let Some(written) = written.as_deref() {
            let step = Step::changing(Action::Store, began.elapsed(), written, Some(&returned));
            log.steps.push(step);
        }
        accepted.returned = Some(match self.incoming.scale() {
            Some(scale) => {
                accepted.revision_place = None;
                scale::returned(scale, &returned)?
            }
            None => returned,
        });
        Ok(Written::Accepted(accepted))
    }

    /// Removes the stored object, whose last finalizer an update removes; the client gets what it
    /// would have become (RE-76).
    pub(super) async fn remove(
        &self,
        object: DeepValue,
        log: &mut RequestLog,
    ) -> Result<Written, Status> {
        self.read_again(&object).await?;
        let mut written = self.run(None, log).await?;
        if let Written::Accepted(accepted) = &mut written {
            accepted.returned = Some(match self.incoming.scale() {
                Some(scale) => scale::returned(scale, &object)?,
                None => object,
            });
        }
        Ok(written)
    }

    async fn encode(&self, object: Option<&mut Value>) -> Result<Accepted, Status> {
        let Some(object) = object else { return Ok(Accepted::default()) };
        storage::remove_revision(object);
        let Incoming { model, version, .. } = self.incoming;
        let (stored, revision_place) = storage::encode(model, version, object).await?;
        let unchanged =
            self.before.old.is_some() && storage::is_stored(&stored, &self.stored.bytes);
        Ok(Accepted { stored: Some(stored), unchanged, returned: None, revision_place })
    }

    /// Has an object stored, unless the same is stored already. Returns its resource version.
    async fn commit(&self, subject: &Value, accepted: &Accepted) -> Result<String, StoreError> {
        if accepted.unchanged {
            return Ok(self.before.revision.clone().unwrap_or_default());
        }
        let write = StoreWrite {
            namespace: metadata_text(subject, "namespace"),
            name: metadata_text(subject, "name"),
            expected: self.before.old.is_some().then_some(self.stored),
            object: accepted.stored.as_deref(),
            dry_run: self.incoming.request.dry_run,
        };
        if let Some(store) = self.store {
            return store.write(write).await;
        }
        // Without a store only the object that the request brought along can be in the way.
        let is_taken =
            write.expected.is_none() && self.stored.name().as_deref() == Some(write.name);
        if is_taken {
            return Err(StoreError::Mismatch(Some(self.stored.clone())));
        }
        Ok(String::new())
    }

    /// Reads the stored object once more, as a server does around a removal. Only a conversion
    /// webhook notices (CX-11).
    async fn read_again(&self, object: &Value) -> Result<DeepValue, Status> {
        let Incoming { model, version, .. } = self.incoming;
        if model.is_immediate() {
            return Ok(DeepValue::from(deep_clone(object)));
        }
        read_stored(model, version, self.stored).await.map(|(object, _)| object)
    }

    /// The object as a read returns it, with its new revision.
    async fn read_back(
        &self,
        object: Option<DeepValue>,
        accepted: &mut Accepted,
        revision: &str,
    ) -> Result<DeepValue, Status> {
        let Incoming { model, version, request, .. } = self.incoming;
        // Only then is it certain what the text says.
        let place = accepted.revision_place.take().filter(|_| !revision.is_empty());
        let mut returned = match (object, &accepted.stored, &self.before.old) {
            (Some(object), Some(stored), _) if storage::reads_back(version, &object, stored) => {
                accepted.revision_place = place;
                object
            }
            (_, Some(stored), _) => storage::decode(model, version, stored).await?,
            (_, None, Some(old)) if request.dry_run => old.clone(),
            (_, None, Some(old)) => self.read_again(old).await?,
            (object, None, None) => object.unwrap_or_default(),
        };
        if self.before.revision.is_none() {
            storage::remove_revision(&mut returned);
        }
        storage::set_revision(&mut returned, revision);
        Ok(returned)
    }
}
