//! The write of an accepted object: encoded, stored and read back (RP-53).

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use billhook::scale;
use billhook_apimachinery::Status;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apply::ManagedFields;
use bytes::Bytes;
use serde_json::Value;

use super::body::{IncomingRequest, read_stored};
use super::deletion::Graceful;
use super::prepare::Before;
use super::request::UpdateForm;
use super::storage::{self, Encoded};
use super::store::{Store, StoreError, StoreWrite, StoredObject};
use crate::object_model::{metadata_member, metadata_text};
use crate::trace::{Action, RequestLog, Step};

/// An accepted request.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Accepted {
    /// The text written to storage (RP-53); none if the object is removed.
    pub stored: Option<Bytes>,
    /// Whether nothing is written because the same is stored already (RP-53).
    pub unchanged: bool,
    /// The place in the stored text where [`Accepted::returned`] has the member `resourceVersion` of
    /// its metadata, before another one, if it differs in nothing else. So its text can be had
    /// without printing it.
    pub revision_place: Option<usize>,
    returned: Option<DeepValue>,
    /// The managed fields of the object, if it does not have them itself.
    owners: Option<Arc<ManagedFields>>,
}

impl Accepted {
    /// Returns the object that the client gets: of a deletion the one that was removed, or the one
    /// that waits for its finalizers (RE-111).
    pub fn returned(&self) -> Option<Cow<'_, DeepValue>> {
        let (object, owners) = (self.returned.as_ref()?, self.owners.as_deref());
        Some(match owners {
            Some(owners) => Cow::Owned(with_owners(object.clone(), owners)),
            None => Cow::Borrowed(object),
        })
    }

    /// Returns the object of [`Accepted::returned`].
    pub fn into_returned(self) -> Option<DeepValue> {
        let (object, owners) = (self.returned?, self.owners.as_deref());
        Some(match owners {
            Some(owners) => with_owners(object, owners),
            None => object,
        })
    }

    /// Leaves `metadata.managedFields` out of the object of [`Accepted::returned`].
    pub fn leave_out_managed_fields(&mut self) {
        (self.owners, self.revision_place) = (None, None);
        if let Some(object) = &mut self.returned {
            ManagedFields::take_out(object);
        }
    }

    /// Returns a member of the metadata of the object that the client gets, other than
    /// `managedFields`; none if it is absent.
    pub fn metadata(&self, name: &str) -> Option<&Value> {
        metadata_member(self.returned.as_deref()?, name)
    }
}

fn with_owners(mut object: DeepValue, owners: &ManagedFields) -> DeepValue {
    owners.clone().write_to(&mut object);
    object
}

/// The outcome of a write that did not fail.
pub(super) enum Written {
    Accepted(Accepted),
    /// Something else is stored than was expected.
    Mismatch {
        name: String,
        found: Option<StoredObject>,
        /// The object that was not stored.
        object: Option<DeepValue>,
    },
}

/// An object that was written, as a read returns it.
struct ReadBack {
    object: DeepValue,
    /// The place of the revision in the stored text, if that says the same otherwise.
    revision_place: Option<usize>,
    /// Whether it is the object that was given to be written, and not one that was read.
    is_given: bool,
}

/// The write of an object.
pub(super) struct Write<'w> {
    pub(super) incoming: IncomingRequest<'w>,
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
        let began = log.begin();
        let took = || began.map_or(Duration::ZERO, |began| began.elapsed());
        let given = object.as_deref().map_or("", |object| metadata_text(object, "resourceVersion"));
        let given = if self.before.old.is_none() { given.to_owned() } else { String::new() };
        let is_number =
            !given.is_empty() && storage::read_revision(&given).is_ok_and(|number| number > 0);
        let request = self.incoming.request;
        // An apply ignores it (SA-63).
        let is_apply = request.form == UpdateForm::ServerSideApply;
        if is_number && !is_apply && !request.dry_run {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::failure(500, "", message));
        }
        let mut owners = self.before.owners.as_deref();
        let mut encoded = self.encode(object.as_deref_mut(), owners).await?;
        let mut committed = match object.as_deref().or(self.before.old.as_deref()) {
            Some(subject) => self.commit(subject, encoded.as_ref()).await,
            None => return Ok(Written::Accepted(Accepted::default())),
        };
        if matches!(committed, Err(StoreError::TooLarge(_)))
            && let Some(object) = object.as_deref_mut()
            && (self.incoming.forget_owners(object) || owners.take().is_some())
        {
            encoded = self.encode(Some(object), owners).await?;
            committed = self.commit(object, encoded.as_ref()).await;
        }
        let revision = match committed {
            Ok(revision) => revision,
            Err(StoreError::Failed(status) | StoreError::TooLarge(status)) => return Err(status),
            Err(StoreError::Mismatch(found)) => {
                let subject = object.as_deref().or(self.before.old.as_deref());
                let name = subject.map_or("", |it| metadata_text(it, "name")).to_owned();
                log.step(Action::WriteRefused { name: name.clone() }, took());
                return Ok(Written::Mismatch { name, found, object });
            }
        };
        // Only a dry run leaves a new object the revision that it came with (RE-23).
        let shown = if revision.is_empty() && request.dry_run { &given } else { &revision };
        let written = if log.is_tracing { object.clone() } else { None };
        let read = self.read_back(object, encoded.as_ref(), shown).await?;
        let ReadBack { object: returned, revision_place: place, is_given } = read;
        let owners = self.before.owners.clone().filter(|_| is_given && owners.is_some());
        if let Some(written) = written.as_deref() {
            let step = Step::changing(Action::Store, took(), written, Some(&returned));
            log.steps.push(step);
        }
        let (returned, revision_place) = match self.incoming.scale() {
            Some(scale) => (scale::returned(scale, &returned)?, None),
            None => (returned, place),
        };
        Ok(Written::Accepted(Accepted {
            unchanged: encoded.as_ref().is_some_and(|encoded| encoded.unchanged),
            stored: encoded.map(|encoded| encoded.text),
            returned: Some(returned),
            revision_place,
            owners,
        }))
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

    /// Writes the outcome of a deletion that leaves the object some time. One whose time is over is
    /// marked and then removed, so that those who watch it see both (BK-109).
    pub(super) async fn end(
        &self,
        graceful: Graceful,
        log: &mut RequestLog,
    ) -> Result<Written, Status> {
        let marked = match graceful {
            Graceful::Unchanged => return self.run(self.before.old.clone(), log).await,
            Graceful::Stays(marked) => return self.run(Some(marked), log).await,
            Graceful::Ends(marked) => marked,
        };
        let mut written = self.run(Some(marked), log).await?;
        let Written::Accepted(Accepted { stored, returned, .. }) = &mut written else {
            return Ok(written);
        };
        let Some(text) = stored.take().filter(|_| !self.incoming.request.dry_run) else {
            return Ok(written);
        };
        let revision = returned.as_deref().map_or("", |it| metadata_text(it, "resourceVersion"));
        let marked = StoredObject::new(text).resource_version(revision);
        let write = StoreWrite {
            namespace: returned.as_deref().map_or("", |it| metadata_text(it, "namespace")),
            name: returned.as_deref().map_or("", |it| metadata_text(it, "name")),
            expected: Some(&marked),
            object: None,
            dry_run: false,
        };
        match self.store {
            Some(store) => match store.write(write).await {
                Ok(revision) => {
                    // The answer is about the removal, as the last event is.
                    if let Some(object) = returned.as_deref_mut().filter(|_| !revision.is_empty()) {
                        storage::set_revision(object, &revision);
                    }
                    Ok(written)
                }
                Err(StoreError::Failed(status) | StoreError::TooLarge(status)) => Err(status),
                Err(StoreError::Mismatch(found)) => {
                    let name = metadata_text(returned.as_deref().unwrap_or(&Value::Null), "name");
                    Ok(Written::Mismatch { name: name.to_owned(), found, object: None })
                }
            },
            None => Ok(written),
        }
    }

    async fn encode(
        &self,
        object: Option<&mut Value>,
        owners: Option<&ManagedFields>,
    ) -> Result<Option<Encoded>, Status> {
        let Some(object) = object else { return Ok(None) };
        storage::remove_revision(object);
        let IncomingRequest { model, version, .. } = self.incoming;
        let stored = self.before.old.is_some().then_some(self.stored);
        storage::encode(model, version, object, owners, stored).await.map(Some)
    }

    /// Has an object stored, unless the same is stored already. Returns its resource version.
    async fn commit(
        &self,
        subject: &Value,
        encoded: Option<&Encoded>,
    ) -> Result<String, StoreError> {
        if encoded.is_some_and(|encoded| encoded.unchanged) {
            return Ok(self.before.revision.clone().unwrap_or_default());
        }
        let write = StoreWrite {
            namespace: metadata_text(subject, "namespace"),
            name: metadata_text(subject, "name"),
            expected: self.before.old.is_some().then_some(self.stored),
            object: encoded.map(|encoded| &encoded.text),
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
        let IncomingRequest { model, strategy, version, .. } = self.incoming;
        if model.is_immediate() {
            return Ok(DeepValue::from(deep_clone(object)));
        }
        read_stored((model, strategy), version, self.stored).await.map(|(object, _)| object)
    }

    /// Whether a read returns an object as it was before it was encoded.
    fn reads_back(&self, object: &Value, encoded: &Encoded) -> bool {
        let IncomingRequest { model, version, .. } = self.incoming;
        let is_plain = || {
            metadata_member(object, "generation").is_some()
                && (self.before.is_decoded || version.decodes_to_itself(&encoded.text))
        };
        encoded.is_faithful && (model.record().is_some() || is_plain())
    }

    /// The object as a read returns it, with its new revision.
    async fn read_back(
        &self,
        object: Option<DeepValue>,
        encoded: Option<&Encoded>,
        revision: &str,
    ) -> Result<ReadBack, Status> {
        let IncomingRequest { model, strategy, version, request, .. } = self.incoming;
        let mut returned = match (object, encoded, &self.before.old) {
            (Some(mut object), Some(encoded), _) if self.reads_back(&object, encoded) => {
                let revision_place = encoded.revision_place.filter(|_| !revision.is_empty());
                storage::set_revision(&mut object, revision);
                return Ok(ReadBack { object, revision_place, is_given: true });
            }
            (_, Some(encoded), _) => {
                storage::decode((model, strategy), version, &encoded.text).await?
            }
            (_, None, Some(old)) if request.dry_run => old.clone(),
            (_, None, Some(old)) => self.read_again(old).await?,
            (object, None, None) => object.unwrap_or_default(),
        };
        if self.before.revision.is_none() {
            storage::remove_revision(&mut returned);
        }
        storage::set_revision(&mut returned, revision);
        Ok(ReadBack { object: returned, revision_place: None, is_given: false })
    }
}
