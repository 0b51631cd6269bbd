//! One attempt to take a request from its body to storage: decoding, both stages with the
//! preparation between them, and the write (RP-40 to RP-53, AR-30 to AR-32).

use std::time::{Duration, Instant};

use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::{Map, Value};

use super::admission::{Accepted, ServerFields};
use super::body::{Arrived, Incoming, metadata_text};
use super::ownership::{ManagedFields, remove_repeated_owners};
use super::request::Subresource;
use super::storage;
use super::store::{Store, StoreError, StoreWrite, StoredObject};
use crate::audit::Warnings;
use crate::chain::Passage;
use crate::trace::{Action, Step};
use billhook::scale;
use billhook::webhook::{AdmissionAttributes, Operation};
use billhook::{ValidateOptions, Validation};
use billhook_apimachinery::Status;

/// How often a name is generated for an object (AR-31).
const MAX_NAMES: usize = 8;

/// The longest part of `generateName` that is left of a name.
const MAX_GENERATED_BASE: usize = 58;

/// Why the object of a request is not the one that it was made for.
const OUTDATED: &str = "the object has been modified; please apply your changes to the latest \
                        version and try again";

/// A request, and what an attempt needs besides.
pub(crate) struct Attempt<'a> {
    pub(crate) incoming: Incoming<'a>,
    pub(crate) stored: &'a StoredObject,
    pub(crate) store: Option<&'a dyn Store>,
    pub(crate) server_fields: &'a (dyn Fn() -> ServerFields + Send + Sync),
}

/// What came of an attempt that did not fail.
pub(crate) enum Attempted {
    Accepted(Accepted),
    /// This is stored by now, so that everything must be done again for it.
    Changed(StoredObject),
}

/// What is known of the object of a request before the mutating stage.
struct Before {
    old: Option<DeepValue>,
    revision: Option<String>,
    managed_fields: Option<ManagedFields>,
}

/// What came of a write that did not fail.
enum Written {
    Accepted(Accepted),
    /// Something else is stored than was expected.
    Mismatch {
        name: String,
        found: Option<StoredObject>,
    },
}

impl Attempt<'_> {
    pub(crate) async fn run(mut self, passage: &mut Passage<'_>) -> Result<Attempted, Status> {
        let Arrived { old, revision, mut attributes } = self.arrive(passage)?;
        let managed_fields = attributes.object.as_deref().map(ManagedFields::of);
        let before = Before { old, revision, managed_fields };
        passage.mutate(&mut attributes).await?;
        if attributes.operation == Operation::Create {
            let accepted = self.create(attributes, &before, passage).await?;
            return Ok(Attempted::Accepted(accepted));
        }
        match self.finish(attributes, &before, passage).await? {
            Written::Accepted(accepted) => Ok(Attempted::Accepted(accepted)),
            Written::Mismatch { found: Some(found), .. } => Ok(Attempted::Changed(found)),
            Written::Mismatch { found: None, name } => {
                Err(Status::not_found(&self.incoming.resource.resource, &name))
            }
        }
    }

    fn arrive(&self, passage: &mut Passage<'_>) -> Result<Arrived, Status> {
        let record = &mut passage.record;
        let began = Instant::now();
        let mut step = Step { action: Action::Decode, took: Duration::ZERO, changes: Vec::new() };
        let arrived = self.incoming.arrive(self.stored, &mut record.warnings, &mut step.changes);
        step.took = began.elapsed();
        if record.is_tracing {
            record.steps.push(step);
        }
        arrived
    }

    /// Stores a new object; if its name is generated and taken, under another one (AR-31).
    async fn create(
        &mut self,
        attributes: AdmissionAttributes,
        before: &Before,
        passage: &mut Passage<'_>,
    ) -> Result<Accepted, Status> {
        let generated_base = attributes.object.as_deref().map(generated_base).unwrap_or_default();
        let spare_names = if generated_base.is_empty() { 0 } else { MAX_NAMES - 1 };
        for _ in 0..spare_names {
            let written = self.finish(attributes.clone(), before, passage).await?;
            if let Written::Accepted(accepted) = written {
                return Ok(accepted);
            }
            if passage.deadline.is_over() {
                return Err(Status::timeout());
            }
        }
        match self.finish(attributes, before, passage).await? {
            Written::Accepted(accepted) => Ok(accepted),
            Written::Mismatch { name, .. } => {
                let resource = &self.incoming.resource.resource;
                Err(Status::already_exists(resource, &name, spare_names > 0))
            }
        }
    }

    /// Everything behind the mutating stage.
    async fn finish(
        &mut self,
        mut attributes: AdmissionAttributes,
        before: &Before,
        passage: &mut Passage<'_>,
    ) -> Result<Written, Status> {
        let mut resource = None;
        passage.prepare(&mut attributes, |attributes, warnings| {
            resource = self.prepare(attributes, before, warnings)?;
            Ok(())
        })?;
        passage.validate(&mut attributes).await?;
        let object = resource.or(attributes.object);
        self.write(object, before, passage).await
    }

    /// What the server does to the object between the stages, and its validation (RP-41 to RP-45,
    /// RP-63). Gives the resource if the object of the request is not the resource itself.
    fn prepare(
        &mut self,
        attributes: &mut AdmissionAttributes,
        before: &Before,
        warnings: &mut Warnings,
    ) -> Result<Option<DeepValue>, Status> {
        let Some(object) = attributes.object.as_mut() else { return Ok(None) };
        if let Some(managed_fields) = &before.managed_fields {
            managed_fields.keep_valid(object, warnings);
        }
        remove_repeated_owners(object, warnings);
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            self.incoming.set_namespace(metadata, &attributes.namespace)?;
        }
        let Some(old) = before.old.as_deref() else {
            self.prepare_create(object);
            let name = metadata_text(object, "name");
            // A generated name is that of the request from now on (AR-30).
            if attributes.name.is_empty() {
                name.clone_into(&mut attributes.name);
            }
            let version = self.incoming.version;
            let validation = version.validate_create(object, &ValidateOptions::default());
            self.conclude(&validation, name, warnings)?;
            return Ok(None);
        };
        self.check_revision(object, old, before.revision.as_deref())?;
        let scale = self.incoming.version.scale();
        if let Some(scale) = scale.filter(|_| self.is_for(Subresource::Scale)) {
            let mut resource = DeepValue::from(deep_clone(old));
            scale::apply(scale, object, &mut resource)?;
            self.prepare_update(&mut resource, old, warnings)?;
            *object = scale::of_resource(scale, &resource)?;
            return Ok(Some(resource));
        }
        self.prepare_update(object, old, warnings)?;
        Ok(None)
    }

    fn is_for(&self, subresource: Subresource) -> bool {
        self.incoming.request.subresource == Some(subresource)
    }

    fn prepare_create(&self, object: &mut Value) {
        self.incoming.version.prepare_create(object, &self.incoming.request.namespace);
        let base = generated_base(object);
        let given = (self.server_fields)();
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.insert("uid".to_owned(), given.uid.into());
            metadata.insert("creationTimestamp".to_owned(), given.creation_timestamp.into());
            if !base.is_empty() {
                metadata.insert("name".to_owned(), format!("{base}{}", given.name_suffix).into());
            }
        }
    }

    fn prepare_update(
        &mut self,
        object: &mut Value,
        old: &Value,
        warnings: &mut Warnings,
    ) -> Result<(), Status> {
        let version = self.incoming.version;
        let options = ValidateOptions::default();
        let validation = if self.is_for(Subresource::Status) {
            version.prepare_status_update(object, old);
            version.validate_status_update(object, old, &options)
        } else {
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                keep_server_fields(metadata, old);
            }
            version.prepare_update(object, old);
            version.validate_update(object, old, &options)
        };
        self.conclude(&validation, metadata_text(object, "name"), warnings)
    }

    fn conclude(
        &mut self,
        validation: &Validation,
        name: &str,
        warnings: &mut Warnings,
    ) -> Result<(), Status> {
        validation.warnings().iter().for_each(|warning| warnings.add(warning));
        match validation.errors() {
            [] => Ok(()),
            errors => {
                let definition = self.incoming.version.definition();
                let (group, kind) = (definition.group(), definition.kind());
                Err(Status::invalid(group, kind, name, errors))
            }
        }
    }

    /// An update must be for the revision that is stored (RP-42). A `Scale` need not name one.
    fn check_revision(
        &self,
        object: &Value,
        old: &Value,
        revision: Option<&str>,
    ) -> Result<(), Status> {
        let resource = &self.incoming.resource.resource;
        let name = metadata_text(old, "name");
        match metadata_text(object, "resourceVersion") {
            "" | "0" if self.is_for(Subresource::Scale) => Ok(()),
            "" | "0" => {
                let path = FieldPath::default().name("metadata").name("resourceVersion");
                let error = FieldError::invalid(path, 0, "must be specified for an update");
                Err(Status::invalid(&resource.group, &resource.resource, name, &[error]))
            }
            given if revision.is_some_and(|revision| revision != given) => {
                Err(Status::conflict(resource, name, OUTDATED))
            }
            _ => Ok(()),
        }
    }

    /// Encodes the resource, has it stored, and reads it back (RP-53).
    async fn write(
        &self,
        mut object: Option<DeepValue>,
        before: &Before,
        passage: &mut Passage<'_>,
    ) -> Result<Written, Status> {
        let Incoming { model, version, .. } = self.incoming;
        let began = Instant::now();
        let mut accepted = Accepted::default();
        if let Some(object) = &mut object {
            storage::remove_revision(object);
            let stored = storage::encode(model, version, object)?;
            accepted.unchanged =
                before.old.is_some() && storage::is_stored(&stored, &self.stored.bytes);
            accepted.stored = Some(stored);
        }
        let Some(subject) = object.as_deref().or(before.old.as_deref()) else {
            return Ok(Written::Accepted(accepted));
        };
        let revision = if accepted.unchanged {
            before.revision.clone().unwrap_or_default()
        } else {
            let write = StoreWrite {
                namespace: metadata_text(subject, "namespace"),
                name: metadata_text(subject, "name"),
                expected: before.old.is_some().then_some(self.stored),
                object: accepted.stored.as_deref(),
                dry_run: self.incoming.request.dry_run,
            };
            match self.store(write).await {
                Ok(revision) => revision,
                Err(StoreError::Failed(status)) => return Err(status),
                Err(StoreError::Mismatch(found)) => {
                    let name = write.name.to_owned();
                    passage
                        .record
                        .step(Action::WriteRefused { name: name.clone() }, began.elapsed());
                    return Ok(Written::Mismatch { name, found });
                }
            }
        };
        let mut returned = match &accepted.stored {
            Some(stored) => storage::decode(model, version, stored)?,
            None => DeepValue::from(deep_clone(subject)),
        };
        if before.revision.is_none() {
            storage::remove_revision(&mut returned);
        }
        storage::set_revision(&mut returned, &revision);
        if let Some(object) = object.as_deref().filter(|_| passage.record.is_tracing) {
            let step = Step::changing(Action::Store, began.elapsed(), object, Some(&returned));
            passage.record.steps.push(step);
        }
        let scale = version.scale().filter(|_| self.is_for(Subresource::Scale));
        accepted.returned = Some(match scale {
            Some(scale) => scale::returned(scale, &returned)?,
            None => returned,
        });
        Ok(Written::Accepted(accepted))
    }

    /// Hands a write to the store. Without one only the object that the request brought along can
    /// be in the way.
    async fn store(&self, write: StoreWrite<'_>) -> Result<String, StoreError> {
        if let Some(store) = self.store {
            return store.write(write).await;
        }
        let is_taken =
            write.expected.is_none() && self.stored.name().as_deref() == Some(write.name);
        if is_taken {
            return Err(StoreError::Mismatch(Some(self.stored.clone())));
        }
        Ok(String::new())
    }
}

/// What an update cannot change, and what it may leave out.
fn keep_server_fields(metadata: &mut Map<String, Value>, old: &Value) {
    let old = |name: &str| old.get("metadata").and_then(|metadata| metadata.get(name)).cloned();
    if let Some(uid) = old("uid").filter(|_| !metadata.contains_key("uid")) {
        metadata.insert("uid".to_owned(), uid);
    }
    for name in ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        match old(name) {
            Some(value) => metadata.insert(name.to_owned(), value),
            None => metadata.remove(name),
        };
    }
}

/// What the generated name of an object begins with; empty if it has a name, or gets none.
fn generated_base(object: &Value) -> String {
    if !metadata_text(object, "name").is_empty() {
        return String::new();
    }
    metadata_text(object, "generateName").chars().take(MAX_GENERATED_BASE).collect()
}
