//! One attempt to take a request from its body to storage: decoding, both stages with the
//! preparation between them, and the write (RP-40 to RP-53, AR-30 to AR-32).

use std::sync::Arc;

use billhook::Time;
use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_apimachinery::Status;
use serde_json::Value;

use super::body::{DecodedRequest, IncomingRequest, read_stored};
use super::deletion::ends_deletion;
use super::prepare::{Before, Preparation, generated_base};
use super::request::UpdateForm;
use super::server_fields::ServerFields;
use super::store::{Store, StoredObject};
use super::strategy::Strategy;
use super::write::{Accepted, Write, Written};
use crate::chain::Run;
use crate::object_model::metadata_text;
use crate::trace::{Action, Step};

/// How often a name is generated for an object (AR-31).
const MAX_NAMES: usize = 8;

/// A request, with everything that an attempt needs.
pub(super) struct Attempt<'a> {
    pub(super) incoming: IncomingRequest<'a>,
    pub(super) stored: &'a StoredObject,
    pub(super) store: Option<&'a dyn Store>,
    pub(super) server_fields: &'a (dyn Fn() -> ServerFields + Send + Sync),
    pub(super) now: Time,
}

/// The outcome of an attempt that did not fail.
pub(super) enum Attempted {
    Accepted(Accepted),
    /// This is stored by now, so that everything must be done again for it.
    Changed(StoredObject),
}

impl Attempt<'_> {
    pub(super) async fn run(self, run: &mut Run<'_>) -> Result<Attempted, Status> {
        let DecodedRequest { old, revision, mut attributes, mut owners } =
            self.decode_request(run).await?;
        if run.sees_owners()
            && let (Some(owners), Some(object)) = (owners.take(), attributes.object.as_deref_mut())
        {
            owners.write_to(object);
        }
        let is_decoded = self.is_decoded(&attributes);
        run.mutate(&mut attributes).await?;
        let replaced = run.context.replaced.take();
        let is_decoded = is_decoded && !run.context.is_changed;
        let owners = owners.map(Arc::new);
        let mut before = Before { old, revision, replaced, is_decoded, owners };
        before.take_old(&mut attributes);
        if attributes.operation == Operation::Create {
            let accepted = self.create(&mut attributes, &mut before, run).await?;
            return Ok(Attempted::Accepted(accepted));
        }
        match self.finish(&mut attributes, &mut before, run).await? {
            Written::Accepted(accepted) => Ok(Attempted::Accepted(accepted)),
            Written::Mismatch { found: Some(found), .. } => Ok(Attempted::Changed(found)),
            Written::Mismatch { found: None, name, .. } => {
                Err(Status::not_found(&self.incoming.resource.resource, &name))
            }
        }
    }

    /// Whether the object of a request is a decoded body, which decoding leaves as it is. A status is
    /// not certain to stay, and without it there may be a default.
    fn is_decoded(&self, attributes: &AdmissionAttributes) -> bool {
        let IncomingRequest { request, strategy, .. } = self.incoming;
        attributes.operation == Operation::Create
            && request.form != UpdateForm::ServerSideApply
            && request.object.is_none()
            && strategy.is_none()
            && attributes.object.as_deref().is_some_and(|object| object.get("status").is_none())
    }

    async fn decode_request(&self, run: &mut Run<'_>) -> Result<DecodedRequest, Status> {
        let log = &mut run.context.log;
        let began = log.begin();
        let mut changes = Vec::new();
        let warnings = &mut log.warnings;
        let arrived =
            self.incoming.decode_request(self.stored, self.now, warnings, &mut changes).await;
        if let Some(began) = began {
            log.steps.push(Step { action: Action::Decode, took: began.elapsed(), changes });
        }
        arrived
    }

    /// Stores a new object; if its name is generated and taken, under another one (AR-31).
    async fn create(
        &self,
        attributes: &mut AdmissionAttributes,
        before: &mut Before,
        run: &mut Run<'_>,
    ) -> Result<Accepted, Status> {
        let object = attributes.object.as_deref().unwrap_or(&Value::Null);
        let is_generated = !generated_base(object).is_empty();
        let generates_name = !metadata_text(object, "generateName").is_empty();
        let given_name = attributes.name.clone();
        // An attempt may leave in the object what the next one must not see: allocated addresses, and
        // copies of the name.
        let IncomingRequest { strategy, allocator, .. } = self.incoming;
        let is_marked = allocator.is_some() || strategy.is_some_and(Strategy::copies_identity);
        let keeps_object = is_generated && is_marked;
        let given = attributes.object.clone().filter(|_| keeps_object);
        let mut spare_names = if is_generated { MAX_NAMES - 1 } else { 0 };
        loop {
            let (name, found, object) = match self.finish(attributes, before, run).await? {
                Written::Accepted(accepted) => return Ok(accepted),
                Written::Mismatch { name, found, object } => (name, found, object),
            };
            let is_being_deleted = self.is_being_deleted(found.as_ref()).await;
            if spare_names == 0 {
                let resource = &self.incoming.resource.resource;
                let mut status = Status::already_exists(resource, &name, generates_name);
                if is_being_deleted {
                    status.message = format!("object is being deleted: {}", status.message);
                }
                return Err(status);
            }
            if run.context.deadline.is_over() {
                return Err(Status::timeout());
            }
            spare_names -= 1;
            attributes.object = given.clone().or(object);
            let metadata = attributes.object.as_deref_mut().and_then(|it| it.get_mut("metadata"));
            if let Some(Value::Object(metadata)) = metadata {
                metadata.remove("name");
            }
            attributes.name.clone_from(&given_name);
        }
    }

    /// Whether the object that is in the way of a new one waits for its finalizers (RE-66).
    async fn is_being_deleted(&self, found: Option<&StoredObject>) -> bool {
        let Some(found) = found else { return false };
        let objects = (self.incoming.model, self.incoming.strategy);
        let read = read_stored(objects, self.incoming.version, found).await;
        read.is_ok_and(|(object, _)| !metadata_text(&object, "deletionTimestamp").is_empty())
    }

    /// Everything after the mutating stage.
    async fn finish(
        &self,
        attributes: &mut AdmissionAttributes,
        before: &mut Before,
        run: &mut Run<'_>,
    ) -> Result<Written, Status> {
        let Attempt { incoming, stored, store, server_fields, .. } = *self;
        let errors = Vec::new();
        let mut preparation = Preparation { incoming, before: &*before, server_fields, errors };
        let mut resource = None;
        let prepared = run.prepare(attributes, |attributes, warnings| {
            resource = preparation.prepare(attributes, warnings)?;
            Ok(())
        });
        run.context.log.field_errors = preparation.errors;
        prepared?;
        before.give_old(attributes);
        run.validate(attributes).await?;
        before.take_old(attributes);
        if run.context.deadline.is_over() {
            return Err(Status::timeout());
        }
        let log = &mut run.context.log;
        let before = &*before;
        let write = Write { incoming, before, stored, store };
        let Some(old) = before.old.as_deref() else {
            return write.run(attributes.object.take(), log).await;
        };
        if attributes.operation == Operation::Delete {
            let now = server_fields().creation_timestamp;
            if let Some(graceful) = incoming.graceful(old, &now) {
                return write.end(graceful, log).await;
            }
            let marked = incoming.marked(old, &now);
            let marked = marked.or_else(|| {
                let orphans = incoming.strategy.is_some_and(Strategy::orphans_by_default);
                let options = &incoming.request.delete_options;
                match incoming.strategy.is_none_or(Strategy::has_dependents) {
                    true => options.marked(old, &now, orphans),
                    false => options.without_policy().marked(old, &now, orphans),
                }
            });
            return write.run(marked, log).await;
        }
        match resource.or(attributes.object.take()) {
            Some(new) if ends_deletion(old, &new) && !incoming.is_kept(&new) => {
                write.remove(new, log).await
            }
            object => write.run(object, log).await,
        }
    }
}
