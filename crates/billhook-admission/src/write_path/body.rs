//! Decoding of a request: its stored object and its body, from which come the attributes that
//! the chain carries (RP-10, RP-30, RP-50, RP-70, RP-77).

use billhook::read_body;
use billhook::remove_server_fields;
use billhook::scale;
use billhook::webhook::{AdmissionAttributes, ApiResource, Operation};
use billhook::{BodyFormat, CrdVersion, Scope, Time, field_warnings};
use billhook_apimachinery::Status;
use billhook_apimachinery::metadata::WRITTEN_BY_SERVERS;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apply::ManagedFields;
use serde_json::{Map, Value};

use super::client_patch;
use super::deletion::Graceful;
use super::ownership::remove_repeated_owners;
use super::request::{ObjectRequest, Subresource, UpdateForm};
use super::storage;
use super::store::StoredObject;
use super::strategy::{Allocator, Strategy};
use crate::audit::Warnings;
use crate::object_model::CustomResources;
use crate::object_model::{metadata_member, metadata_text};
use crate::trace::FieldDifference;

/// A request, and what it is decoded with.
#[derive(Clone, Copy)]
pub(super) struct IncomingRequest<'i> {
    pub(super) model: &'i CustomResources,
    /// Where storage keeps the objects, as errors say.
    pub(super) registry: &'i str,
    pub(super) strategy: Option<&'i dyn Strategy>,
    pub(super) allocator: Option<&'i dyn Allocator>,
    pub(super) version: &'i CrdVersion,
    pub(super) resource: &'i ApiResource,
    pub(super) request: &'i ObjectRequest,
}

/// A request that was decoded.
pub(super) struct DecodedRequest {
    /// The stored object, as a read returns it, if the attributes do not have it.
    pub(super) old: Option<DeepValue>,
    /// Its resource version, if it is known.
    pub(super) revision: Option<String>,
    pub(super) attributes: AdmissionAttributes,
    /// The managed fields of the object, if it does not have them itself.
    pub(super) owners: Option<ManagedFields>,
}

impl<'i> IncomingRequest<'i> {
    /// The paths of the `scale` subresource, if the request is for it.
    pub(super) fn scale(&self) -> Option<&'i scale::ScalePaths> {
        self.version.scale().filter(|_| self.request.is_for(Subresource::Scale))
    }

    /// Decodes the stored object and the body.
    pub(super) async fn decode_request(
        &self,
        stored: &StoredObject,
        now: Time,
        warnings: &mut Warnings,
        changes: &mut Vec<FieldDifference>,
    ) -> Result<DecodedRequest, Status> {
        let request = self.request;
        self.check_field_options()?;
        if request.operation == Operation::Delete {
            request.delete_options.check()?;
            let warning = self.strategy.and_then(Strategy::deletion_warning);
            warning
                .filter(|_| !request.delete_options.has_policy())
                .into_iter()
                .for_each(|warning| warnings.add(warning));
            if let Some(why) = self.strategy.and_then(|it| it.undeletable(&request.name)) {
                return Err(Status::forbidden(&self.resource.resource, &request.name, why));
            }
        }
        let operation = self.operation(stored);
        let (old, revision) = match operation {
            Operation::Create => (None, None),
            _ if stored.bytes.is_empty() => return Err(self.not_found(warnings, changes)),
            Operation::Delete if request.subresource.is_none() => {
                let (mut old, revision) = self.read_old(stored).await?;
                self.check_deletion(&old, revision.as_deref())?;
                if !self.model.is_immediate() {
                    // A server reads the object again; a conversion webhook notices (CX-11).
                    (old, _) = self.read_old(stored).await?;
                }
                (Some(old), revision)
            }
            _ => self.read_old(stored).await.map(|(old, revision)| (Some(old), revision))?,
        };
        let (mut attributes, old, owners) = match (operation, old) {
            (Operation::Create, _) if request.subresource.is_none() => {
                let (attributes, owners) = self.create(now, warnings, changes).await?;
                (attributes, None, owners)
            }
            (Operation::Update, Some(old)) => {
                let (attributes, old) = self.update(old, now, warnings, changes).await?;
                (attributes, old, None)
            }
            (Operation::Delete, Some(old)) if request.subresource.is_none() => {
                (self.resource.delete(old), None, None)
            }
            _ => {
                let message = "the server does not allow this method on the requested resource";
                return Err(Status::failure(405, "MethodNotAllowed", message));
            }
        };
        if let Some(subresource) = request.subresource {
            subresource.name().clone_into(&mut attributes.subresource);
        }
        if request.is_in_collection {
            attributes.name.clear();
        }
        if operation == Operation::Create && !request.name.is_empty() {
            // The object is called as it says, but admission sees the name in the URL (RE-08).
            request.name.clone_into(&mut attributes.name);
        }
        attributes.dry_run = request.dry_run;
        attributes.options = Some(request.options_object(operation));
        attributes.user = request.user.clone();
        Ok(DecodedRequest { old, revision, attributes, owners })
    }

    /// The attributes of a creation, and the managed fields of its object if it does not have them
    /// itself.
    async fn create(
        &self,
        now: Time,
        warnings: &mut Warnings,
        changes: &mut Vec<FieldDifference>,
    ) -> Result<(AdmissionAttributes, Option<ManagedFields>), Status> {
        let mut owners = None;
        let object = if self.request.form == UpdateForm::ServerSideApply {
            self.apply(None, now, warnings).await?
        } else {
            let mut object = self.body(None, warnings, changes)?;
            owners = self.owners_beside(&object, now).await;
            if owners.is_none() {
                self.track_fields(&mut object, None, now).await;
            }
            object
        };
        let name = metadata_text(&object, "name");
        let is_post = self.request.operation == Operation::Create;
        let definition = self.version.definition();
        match definition.creation_refusal(self.version.name(), name, is_post) {
            Some(status) => Err(status),
            None => Ok((self.resource.create(object), owners)),
        }
    }

    /// Reads the stored object of a request, if it exists, and its resource version, if it
    /// is known.
    async fn read_old(&self, stored: &StoredObject) -> Result<(DeepValue, Option<String>), Status> {
        let objects = (self.model, self.strategy);
        let (mut old, revision) = read_stored(objects, self.version, stored).await?;
        if revision.is_none() {
            // Every stored object has one, and webhooks see it.
            storage::set_revision(&mut old, "1");
        }
        Ok((old, revision))
    }

    /// The failure of a request for an object that does not exist. A replacement is decoded first
    /// (RE-71).
    fn not_found(&self, warnings: &mut Warnings, changes: &mut Vec<FieldDifference>) -> Status {
        let request = self.request;
        if request.form == UpdateForm::Replacement && !request.name.is_empty() {
            let body = self.body(None, warnings, changes);
            if let Err(status) = body.and_then(|object| self.check_name(&object, None)) {
                return status;
            }
        }
        let name = match request.name.as_str() {
            "" => self.name_in_body(),
            name => name.to_owned(),
        };
        Status::not_found(&self.resource.resource, &name)
    }

    /// The name in a body that is not decoded; empty if absent.
    fn name_in_body(&self) -> String {
        let kind = self.version.definition().kind();
        let read = read_body(&self.request.body, BodyFormat::Detect, kind);
        read.map_or(String::new(), |object| metadata_text(&object, "name").to_owned())
    }

    /// The attributes of an update, and the stored object if they do not have it.
    async fn update(
        &self,
        mut old: DeepValue,
        now: Time,
        warnings: &mut Warnings,
        changes: &mut Vec<FieldDifference>,
    ) -> Result<(AdmissionAttributes, Option<DeepValue>), Status> {
        match self.scale() {
            None => {
                let object = self.updated(&mut old, now, warnings, changes).await?;
                self.check_uid(&object, &old)?;
                Ok((self.resource.update(object, old), None))
            }
            Some(scale) => {
                let (object, old_scale) = self.scales(scale, &old, now, warnings, changes)?;
                self.check_uid(&object, &old)?;
                let mut attributes = self.resource.update(object, old_scale);
                attributes.kind = scale::kind();
                Ok((attributes, Some(old)))
            }
        }
    }

    /// The new and the old `Scale` of an object, with the owners of its replicas.
    fn scales(
        &self,
        scale: &scale::ScalePaths,
        old: &Value,
        now: Time,
        warnings: &mut Warnings,
        changes: &mut Vec<FieldDifference>,
    ) -> Result<(DeepValue, DeepValue), Status> {
        let mut old_scale = scale::of_resource(scale, old)?;
        self.with_scale_management(now, |fields| fields.add_owners(&mut old_scale, old));
        if self.request.form == UpdateForm::ServerSideApply {
            let object = self.apply_to_scale(&old_scale, now, warnings)?;
            return Ok((object, old_scale));
        }
        let mut object = self.body(Some(&old_scale), warnings, changes)?;
        if !self.request.name.is_empty() {
            self.check_name(&object, Some(&old_scale))?;
        }
        self.with_scale_management(now, |fields| fields.track(&mut object, &mut old_scale));
        Ok((object, old_scale))
    }

    /// The object that waits for others after its deletion, where the resource has it so; none if
    /// it waits already.
    pub(super) fn marked(&self, old: &Value, now: &str) -> Option<DeepValue> {
        let strategy = self.strategy.filter(|strategy| strategy.marks_deletions())?;
        let mut marked = DeepValue::from(deep_clone(old));
        if metadata_member(old, "deletionTimestamp").is_some() {
            return Some(marked).filter(|_| self.is_kept(old));
        }
        strategy.mark(&mut marked, now, self.request.delete_options.finalizers(old));
        Some(marked)
    }

    /// The outcome of the deletion of an object that has some time left, where the resource has it
    /// so.
    pub(super) fn graceful(&self, old: &Value, now: &str) -> Option<Graceful> {
        let options = &self.request.delete_options;
        let grace = self.strategy?.grace_period(old, options.grace_period_seconds)?;
        options.graceful(old, grace, Time::parse(now).unwrap_or_default())
    }

    /// Whether an object stays although it is being deleted and has no finalizers.
    pub(super) fn is_kept(&self, object: &Value) -> bool {
        self.strategy.is_some_and(|strategy| strategy.is_kept(object))
    }

    /// The operation of the request: an apply creates what is not stored (SA-63), and so does a
    /// replacement of some of the server's own kinds (BK-09).
    fn operation(&self, stored: &StoredObject) -> Operation {
        let request = self.request;
        let may_create = match request.form {
            UpdateForm::ServerSideApply => true,
            UpdateForm::Replacement => self.strategy.is_some_and(Strategy::creates_on_update),
            _ => false,
        };
        let creates = may_create
            && request.operation == Operation::Update
            && request.subresource.is_none()
            && stored.bytes.is_empty();
        if creates { Operation::Create } else { request.operation }
    }

    /// The new object of an update of the resource itself, with the owners of its fields.
    async fn updated(
        &self,
        old: &mut DeepValue,
        now: Time,
        warnings: &mut Warnings,
        changes: &mut Vec<FieldDifference>,
    ) -> Result<DeepValue, Status> {
        if self.request.form == UpdateForm::ServerSideApply {
            return self.apply(Some(old), now, warnings).await;
        }
        let mut object = self.body(Some(old), warnings, changes)?;
        if !self.request.name.is_empty() {
            self.check_name(&object, Some(old))?;
        }
        self.track_fields(&mut object, Some(old), now).await;
        Ok(object)
    }

    /// Decodes the body, or what a patch makes of the stored object, and puts it where it belongs.
    fn body(
        &self,
        old: Option<&DeepValue>,
        warnings: &mut Warnings,
        changes: &mut Vec<FieldDifference>,
    ) -> Result<DeepValue, Status> {
        let request = self.request;
        let apply =
            || old.and_then(|old| client_patch::apply(request, self.strategy, old)).transpose();
        let mut patched = apply()?;
        let mut whole = None;
        if let Some(plain) = patched.take_if(|patched| self.is_plain(patched)) {
            whole = self.decode_in_place(plain.object);
            if whole.is_none() {
                patched = apply()?;
            }
        }
        if let Some(patched) = &mut patched {
            changes.append(&mut patched.changes);
        }
        let decoded = match (&patched, whole.or_else(|| request.object.clone())) {
            (Some(patched), _) => self.decode_patched(patched, changes),
            (None, Some(object)) => Ok((object, Vec::new())),
            (None, None) => self.decode(&request.body, request.field_validation, changes),
        };
        let (mut object, found) = decoded.map_err(|error| {
            field_warnings(&error.warnings).for_each(|warning| warnings.add(warning));
            match &patched {
                Some(patched) => patched.undecodable(&error.error),
                None => Status::bad_request(error.message),
            }
        })?;
        let mut entries = found;
        if let Some(patched) = patched {
            patched.check_strict(request, &entries)?;
            entries.splice(0..0, patched.entries);
        }
        field_warnings(&entries).for_each(|warning| warnings.add(warning));
        let Value::Object(members) = &mut *object else { return Ok(object) };
        // An object without metadata is in the namespace of the request, too.
        let metadata = members.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(metadata) = metadata else { return Ok(object) };
        if let Some(old) = old.filter(|_| request.form == UpdateForm::Applied) {
            fill_in(metadata, old, self.request.is_for(Subresource::Scale));
        }
        self.set_namespace(metadata, &request.namespace)?;
        if old.is_none() {
            if request.operation == Operation::Update {
                self.check_absent(&object)?;
            }
            remove_server_fields(&mut object);
        }
        // Those of a patched object are removed after the mutating stage only.
        if !request.is_patch() {
            remove_repeated_owners(&mut object, "", warnings);
        }
        Ok(object)
    }

    /// Sets the namespace of the request in metadata; if it is empty, that of the object counts.
    pub(super) fn set_namespace(
        &self,
        metadata: &mut Map<String, Value>,
        namespace: &str,
    ) -> Result<(), Status> {
        if self.resource.scope == Scope::Cluster {
            metadata.remove("namespace");
            return Ok(());
        }
        match metadata.get("namespace").and_then(Value::as_str).unwrap_or_default() {
            "" => {
                let namespace = if namespace.is_empty() { "default" } else { namespace };
                metadata.insert("namespace".to_owned(), namespace.into());
                Ok(())
            }
            own if namespace.is_empty() || own == namespace => Ok(()),
            _ => Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the \
                 request",
            )),
        }
    }
}

/// A stored object in a version, and its resource version if that is known.
pub(super) async fn read_stored(
    objects: (&CustomResources, Option<&dyn Strategy>),
    version: &CrdVersion,
    stored: &StoredObject,
) -> Result<(DeepValue, Option<String>), Status> {
    let mut object = storage::decode(objects, version, &stored.bytes).await?;
    // Storage knows which revision it is; the bytes need not.
    storage::set_revision(&mut object, &stored.resource_version);
    let revision = metadata_text(&object, "resourceVersion").to_owned();
    Ok((object, Some(revision).filter(|revision| !revision.is_empty())))
}

/// Completes what a manifest leaves out.
fn fill_in(metadata: &mut Map<String, Value>, old: &Value, is_scale: bool) {
    let own: &[&str] = if is_scale { &["name", "namespace"] } else { &["managedFields"] };
    for name in WRITTEN_BY_SERVERS.iter().chain(own) {
        if let Some(value) = metadata_member(old, name)
            && !metadata.contains_key(*name)
        {
            metadata.insert((*name).to_owned(), deep_clone(value));
        }
    }
}
