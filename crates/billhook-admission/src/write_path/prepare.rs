//! The preparation of a request's object between the stages, and its validation (RP-41 to
//! RP-45, RP-63).

use std::sync::Arc;

use billhook::webhook::AdmissionAttributes;
use billhook::{Time, ValidateOptions, Validation, keep_times_of_unchanged, scale};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{FieldError, FieldPath, Status};
use billhook_apply::ManagedFields;
use billhook_decode::{Document, read_json};
use serde_json::{Map, Value};

use super::body::IncomingRequest;
use super::client_patch;
use super::ownership::{keep_valid_owners, remove_repeated_owners};
use super::request::Subresource;
use super::server_fields::ServerFields;
use super::storage::{read_revision, set_revision};
use super::strategy::{Strategy, StrategyContext};
use crate::audit::Warnings;
use crate::object_model::{metadata_member, metadata_text};

/// The longest part of `generateName` that is left of a name.
const MAX_GENERATED_BASE: usize = 58;

/// Why the object of a request is not the one that it was made for.
const OUTDATED: &str = "the object has been modified; please apply your changes to the latest \
                        version and try again";

/// The object of a request before the mutating stage.
pub(super) struct Before {
    /// The stored object, as a read returns it.
    pub(super) old: Option<DeepValue>,
    /// Its resource version, if it is known.
    pub(super) revision: Option<String>,
    /// The object before the mutating stage, if that made another one of it.
    pub(super) replaced: Option<DeepValue>,
    /// Whether decoding leaves the object as it is, whatever the server does to its metadata.
    pub(super) is_decoded: bool,
    /// The managed fields of the object, if it does not have them itself.
    pub(super) owners: Option<Arc<ManagedFields>>,
}

impl Before {
    /// Takes the stored object from the attributes that have it.
    pub(super) fn take_old(&mut self, attributes: &mut AdmissionAttributes) {
        if self.old.is_none() {
            self.old = attributes.old_object.take();
        }
    }

    /// Hands the stored object to the attributes, unless they have another form of it.
    pub(super) fn give_old(&mut self, attributes: &mut AdmissionAttributes) {
        if attributes.old_object.is_none() {
            attributes.old_object = self.old.take();
        }
    }
}

/// The preparation of an object.
pub(super) struct Preparation<'p> {
    pub(super) incoming: IncomingRequest<'p>,
    pub(super) before: &'p Before,
    pub(super) server_fields: &'p (dyn Fn() -> ServerFields + Send + Sync),
    /// The errors for which the object is refused.
    pub(super) errors: Vec<FieldError>,
}

impl Preparation<'_> {
    /// Prepares and validates the object of a request. Returns the resource if the object of the
    /// request is not the resource itself.
    pub(super) fn prepare(
        &mut self,
        attributes: &mut AdmissionAttributes,
        warnings: &mut Warnings,
    ) -> Result<Option<DeepValue>, Status> {
        let before = self.before;
        let Some(object) = attributes.object.as_mut() else { return Ok(None) };
        if let Some(replaced) = &before.replaced {
            keep_valid_owners(object, replaced, warnings);
        }
        remove_repeated_owners(object, " after mutating admission happens", warnings);
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            self.incoming.set_namespace(metadata, &attributes.namespace)?;
        }
        let Some(old) = before.old.as_deref() else {
            self.prepare_create(object);
            // A generated name is that of the request from now on (AR-30).
            if attributes.name.is_empty() {
                metadata_text(object, "name").clone_into(&mut attributes.name);
            }
            if let Some(strategy) = self.incoming.strategy {
                let now = (self.server_fields)().creation_timestamp;
                strategy.prepare(object, None, &self.context(&now));
                self.allocate(object, None)?;
                self.validate_by(strategy, object, None, warnings)?;
                return Ok(None);
            }
            let version = self.incoming.version;
            let validation = version.validate_create(object, &ValidateOptions::default());
            self.conclude(&validation, warnings)?;
            return Ok(None);
        };
        self.check_revision(object, old, before.revision.as_deref())?;
        if self.incoming.strategy.is_some() {
            // It is for what is stored, if it did not say so.
            keep_revision(object, old);
        }
        check_version(object)?;
        if let Some(scale) = self.incoming.scale() {
            let mut resource = DeepValue::from(deep_clone(old));
            scale::apply(scale, object, &mut resource)?;
            self.incoming.with_scale_management(Time::default(), |fields| {
                fields.update_owners(&mut resource, object);
            });
            self.prepare_update(&mut resource, old, warnings)?;
            *object = scale::of_resource(scale, &resource)?;
            // From here on the owners are not seen.
            attributes.old_object = Some(scale::of_resource(scale, old)?);
            return Ok(Some(resource));
        }
        self.prepare_update(object, old, warnings)?;
        Ok(None)
    }

    fn prepare_create(&self, object: &mut Value) {
        let status = self.status_of_body(object, None);
        let base = generated_base(object);
        let given = (self.server_fields)();
        if let Value::Object(members) = object {
            let metadata = members.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(metadata) = metadata {
                metadata.insert("uid".to_owned(), given.uid.into());
                metadata.insert("creationTimestamp".to_owned(), given.creation_timestamp.into());
                if !base.is_empty() {
                    let name = format!("{base}{}", given.name_suffix);
                    metadata.insert("name".to_owned(), name.into());
                }
            }
        }
        self.incoming.version.prepare_create(object, &self.incoming.request.namespace);
        set_status(object, status);
    }

    /// Returns the status in a body, if the write takes it over.
    fn status_of_body(&self, object: &Value, subresource: Option<Subresource>) -> Option<Value> {
        let strategy = self.incoming.strategy;
        strategy.filter(|strategy| strategy.takes_status(subresource))?;
        object.get("status").map(deep_clone)
    }

    fn prepare_update(
        &mut self,
        object: &mut Value,
        old: &Value,
        warnings: &mut Warnings,
    ) -> Result<(), Status> {
        let version = self.incoming.version;
        if let Some(strategy) = self.incoming.strategy {
            self.prepare_by(strategy, object, old);
            self.allocate(object, Some(old))?;
            keep_times_of_unchanged(object, old);
            return self.validate_by(strategy, object, Some(old), warnings);
        }
        let options = ValidateOptions::default();
        let validation = if self.incoming.request.is_for(Subresource::Status) {
            version.prepare_status_update(object, old);
            keep_times_of_unchanged(object, old);
            version.validate_status_update(object, old, &options)
        } else {
            keep_metadata(object, old);
            version.prepare_update(object, old);
            keep_times_of_unchanged(object, old);
            version.validate_update(object, old, &options)
        };
        self.conclude(&validation, warnings)
    }

    fn conclude(&mut self, validation: &Validation, warnings: &mut Warnings) -> Result<(), Status> {
        validation.warnings().iter().for_each(|warning| warnings.add(warning));
        self.errors = validation.errors().to_vec();
        validation.status().map_or(Ok(()), Err)
    }

    /// Prepares the update of a resource with rules of its own.
    fn prepare_by(&self, strategy: &dyn Strategy, object: &mut Value, old: &Value) {
        let version = self.incoming.version;
        let subresource = self.incoming.request.subresource;
        match subresource.filter(|subresource| *subresource == Subresource::Status) {
            None => {
                let status = subresource.and_then(|_| self.status_of_body(object, subresource));
                keep_metadata(object, old);
                version.prepare_update(object, old);
                set_status(object, status);
            }
            Some(status) => {
                let metadata = object.get_mut("metadata");
                let metadata = metadata.filter(|_| strategy.takes_metadata(status));
                let metadata = metadata.map(Value::take);
                version.prepare_status_update(object, old);
                if let (Some(metadata), Value::Object(members)) = (metadata, &mut *object) {
                    members.insert("metadata".to_owned(), metadata);
                }
                keep_metadata(object, old);
                if let Some(generation) = metadata_member(old, "generation")
                    && let Some(Value::Object(metadata)) = object.get_mut("metadata")
                {
                    metadata.insert("generation".to_owned(), generation.clone());
                }
            }
        }
        let now = (self.server_fields)().creation_timestamp;
        strategy.prepare(object, Some(old), &self.context(&now));
    }

    fn allocate(&self, object: &mut Value, old: Option<&Value>) -> Result<(), Status> {
        let request = self.incoming.request;
        match self.incoming.allocator.filter(|_| request.subresource.is_none()) {
            Some(allocator) => allocator.allocate(object, old, request.dry_run),
            None => Ok(()),
        }
    }

    /// Shows fields that are not stored because they are empty as they were sent (BK-791).
    fn as_sent(
        &self,
        errors: Vec<FieldError>,
        object: &Value,
        old: Option<&Value>,
    ) -> Vec<FieldError> {
        let is_absent = |error: &FieldError| {
            let found = object.pointer(&error.field().to_json_pointer());
            error.bad_value().is_some_and(Value::is_null) && found.is_none_or(Value::is_null)
        };
        if !errors.iter().any(is_absent) {
            return errors;
        }
        let Some(sent) = self.sent(old) else { return errors };
        let show = |error: FieldError| match sent.pointer(&error.field().to_json_pointer()) {
            Some(Value::Object(members)) if is_absent(&error) && members.is_empty() => {
                error.show_value_as("{}".to_owned())
            }
            Some(Value::Array(items)) if is_absent(&error) && items.is_empty() => {
                error.show_value_as("[]".to_owned())
            }
            Some(Value::String(text)) if is_absent(&error) && text.is_empty() => {
                error.show_value_as("\"\"".to_owned())
            }
            _ => error,
        };
        errors.into_iter().map(show).collect()
    }

    /// The object of a request as it was sent, or as its patch left it.
    fn sent(&self, old: Option<&Value>) -> Option<DeepValue> {
        let IncomingRequest { request, strategy, .. } = self.incoming;
        match old.and_then(|old| client_patch::apply(request, strategy, old)) {
            Some(patched) => patched.ok().map(|patched| patched.object),
            None => read_json(&request.body).ok().map(Document::into_value),
        }
    }

    /// The context that strategies see.
    fn context<'c>(&'c self, now: &'c str) -> StrategyContext<'c> {
        let request = self.incoming.request;
        let (subresource, user, body) = (request.subresource, &request.user, &request.body);
        StrategyContext { subresource, user, now, body }
    }

    fn validate_by(
        &mut self,
        strategy: &dyn Strategy,
        object: &Value,
        old: Option<&Value>,
        warnings: &mut Warnings,
    ) -> Result<(), Status> {
        let now = (self.server_fields)().creation_timestamp;
        let mut findings = strategy.validate(object, old, &self.context(&now));
        if strategy.has_plain_metadata() {
            let options = ValidateOptions::default().name_rule(strategy.name_rule());
            let errors = self.incoming.version.validate_metadata(object, old, &options);
            findings.errors.splice(0..0, errors);
        }
        if findings.errors.is_empty() {
            // Clients are warned of objects that are valid (BK-05).
            findings.warnings.iter().for_each(|warning| warnings.add(warning));
            return Ok(());
        }
        let kind = &self.incoming.resource.kind;
        let name = metadata_text(object, "name");
        self.errors = self.as_sent(findings.errors, object, old);
        let group = strategy.group_in_errors().unwrap_or(&kind.group);
        Err(Status::invalid(group, &kind.kind, name, &self.errors))
    }

    /// An update must be for the revision that is stored (RP-42). A `Scale` need not name one
    /// (RE-125), nor need objects of some of the server's own kinds (BK-10).
    fn check_revision(
        &self,
        object: &Value,
        old: &Value,
        revision: Option<&str>,
    ) -> Result<(), Status> {
        let resource = &self.incoming.resource.resource;
        let name = metadata_text(old, "name");
        let is_for_any = self.incoming.strategy.is_some_and(Strategy::updates_unconditionally);
        match metadata_text(object, "resourceVersion") {
            "" if self.incoming.request.is_for(Subresource::Scale) => Ok(()),
            "" | "0" if is_for_any => Ok(()),
            "" | "0" => {
                let path = FieldPath::default().name("metadata").name("resourceVersion");
                let error = FieldError::invalid(path, 0, "must be specified for an update");
                Err(Status::invalid(&resource.group, &resource.resource, name, &[error]))
            }
            given => {
                read_revision(given)?;
                match revision.is_none_or(|revision| revision == given) {
                    true => Ok(()),
                    false => Err(Status::conflict(resource, name, OUTDATED)),
                }
            }
        }
    }
}

/// A patch may take away what an object is; validation cannot begin without a version.
fn check_version(object: &Value) -> Result<(), Status> {
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if api_version.rsplit('/').next().is_some_and(|version| !version.is_empty()) {
        return Ok(());
    }
    let error = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
    Err(Status::internal_error(error))
}

fn set_status(object: &mut Value, status: Option<Value>) {
    if let (Some(status), Value::Object(members)) = (status, object) {
        members.insert("status".to_owned(), status);
    }
}

fn keep_revision(object: &mut Value, old: &Value) {
    if matches!(metadata_text(object, "resourceVersion"), "" | "0") {
        set_revision(object, metadata_text(old, "resourceVersion"));
    }
}

/// Restores the fields that an update cannot change, and those that it may leave out. One that the
/// stored object does not have is an error if it is new (RE-74).
fn keep_metadata(object: &mut Value, old: &Value) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    for (name, may_be_left_out) in [
        ("uid", true),
        ("creationTimestamp", false),
        ("deletionTimestamp", false),
        ("deletionGracePeriodSeconds", true),
    ] {
        let is_given = metadata.get(name).is_some_and(|value| *value != "");
        if let Some(value) = metadata_member(old, name)
            && !(may_be_left_out && is_given)
        {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
}

/// The beginning of the generated name of an object; empty if it has a name, or gets none.
pub(super) fn generated_base(object: &Value) -> String {
    if !metadata_text(object, "name").is_empty() {
        return String::new();
    }
    metadata_text(object, "generateName").chars().take(MAX_GENERATED_BASE).collect()
}
