//! A request for objects of a resource, with everything that a verb needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use billhook::webhook::AdmissionAttributes;
use billhook::{CrdVersion, Scope};
use billhook_admission::{AdmissionOutcome, ObjectRequest, Warnings};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionResource, Status, UserInfo};
use http::StatusCode;
use serde_json::{Map, Value};

use super::options::WriteOptions;
use crate::definitions::find_lost;
use crate::request::{Request, ResourcePath};
use crate::resources::{Resource, WatchCache};
use crate::response::{Form, Response};
use crate::shared::{Shared, Written};
use crate::storage::{Object, Revision, Storage};
use crate::view::View;
use crate::write_path::{admit, admit_unstored};

/// A request for objects of a resource in a version.
pub(crate) struct Context<'r> {
    pub(crate) server: &'r Arc<Shared>,
    pub(crate) request: &'r Request,
    /// Who asks.
    pub(crate) user: &'r UserInfo,
    pub(crate) path: &'r ResourcePath,
    pub(crate) resource: Arc<Resource>,
    pub(crate) cache: Arc<WatchCache>,
    pub(crate) version: CrdVersion,
    pub(crate) form: Form,
    pub(crate) view: View,
    /// Whether something was accepted of which nothing is written, so that no write finds out whether
    /// others have written before.
    pub(crate) is_unwritten: AtomicBool,
}

impl Context<'_> {
    /// Answers with an object, in the form that the client asks for.
    pub(crate) fn object(&self, code: StatusCode, object: &Value) -> Result<Response, Status> {
        Ok(self.form.json(code, self.view.object(object)?))
    }

    /// Answers with a failure, whose form may be another one than that of objects.
    pub(crate) fn failure(&self, status: &Status) -> Response {
        Form::of_failures(self.request).status(status)
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.server.storage
    }

    /// Names the resource in errors.
    pub(crate) fn resource_name(&self) -> GroupVersionResource {
        self.resource.name(self.version.name())
    }

    /// The name in the path; it must be there (RE-09).
    pub(crate) fn name(&self) -> Result<&str, Status> {
        let name = self.path.name.as_deref();
        name.ok_or_else(|| Status::bad_request("name must be provided"))
    }

    pub(crate) fn namespace(&self) -> &str {
        self.path.namespace.as_deref().unwrap_or_default()
    }

    /// The key of an object in storage.
    pub(crate) fn key(&self, name: &str) -> String {
        match self.namespace_of_keys() {
            Some(namespace) => [namespace, "/", name].concat(),
            None => name.to_owned(),
        }
    }

    /// The beginning of the keys of the path's objects.
    pub(crate) fn prefix(&self) -> String {
        self.namespace_of_keys().map_or_else(String::new, |namespace| [namespace, "/"].concat())
    }

    fn namespace_of_keys(&self) -> Option<&str> {
        self.path.namespace.as_deref().filter(|_| self.is_namespaced())
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.resource.definition.scope() == Scope::Namespaced
    }

    /// Waits until all is visible that was written by now. Returns whether there are other servers.
    pub(crate) async fn catch_up(&self) -> Result<bool, Status> {
        self.storage().catch_up().await.map_err(|error| unreadable(&error))
    }

    /// Waits for a while for a revision that other servers may have reached.
    pub(crate) async fn reach(&self, revision: Revision) -> Result<(), Status> {
        self.storage().reach(revision).await.map_err(|error| unreadable(&error))
    }

    /// The object in the path as it is stored, if there is one.
    pub(crate) fn find(&self) -> Result<Option<Object>, Status> {
        let name = self.name()?;
        check_name(name)?;
        Ok(self.storage().get(&self.resource.collection, &self.key(name)))
    }

    /// The object in the path, as it is stored.
    pub(crate) fn stored(&self) -> Result<Object, Status> {
        let name = self.name()?;
        let missing = || {
            let mut resource = self.resource_name();
            let named = self.resource.kind.and_then(|kind| kind.behavior().missing_resource());
            resource.resource = named.map_or(resource.resource, str::to_owned);
            Status::not_found(&resource, name)
        };
        self.find()?.ok_or_else(missing)
    }

    /// Takes a request through the write path to storage.
    pub(crate) async fn admit(&self, request: ObjectRequest) -> AdmissionOutcome {
        let request = self.complete(request);
        let (server, resource) = (Arc::clone(self.server), Arc::clone(&self.resource));
        let (namespace, is_tried) = (self.path.namespace.clone(), request.dry_run);
        let admitted = async move {
            let outcome = admit(&server, &resource, request).await;
            let written = Written {
                resource: &resource,
                namespace: namespace.as_deref(),
                accepted: outcome.result.as_ref().ok(),
            };
            server.after(&written).await;
            outcome
        };
        let outcome = self.server.to_its_end(admitted).await;
        self.request.annotate(&outcome.annotations);
        if outcome.result.as_ref().is_ok_and(|accepted| is_tried || accepted.unchanged) {
            self.is_unwritten.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// Adds to a request what each has: where, by whom and until when it is made.
    fn complete(&self, request: ObjectRequest) -> ObjectRequest {
        let options = self.request.options();
        request.namespace(self.namespace()).user(self.user.clone()).options(options)
    }

    /// Takes what is sent to a subresource and not stored, or the options of a connection, through policies and
    /// webhooks (AR-36, AR-37). Between the stages `check` is asked about it. Returns it as they leave it.
    pub(crate) async fn admit_unstored(
        &self,
        attributes: AdmissionAttributes,
        options: &WriteOptions,
        warnings: &mut Warnings,
        check: impl FnOnce(&mut Value) -> Result<(), Status> + Send,
    ) -> Result<DeepValue, Status> {
        let attributes = attributes.subresource(&*self.path.subresource).name(self.name()?);
        let request = options.set(ObjectRequest::create(self.version.name(), &[]));
        let request = self.complete(request);
        let (server, resource) = (self.server, &self.resource);
        let outcome = admit_unstored(server, resource, attributes, &request, check).await;
        self.request.object_of(outcome, warnings)
    }

    /// Puts an object that is not stored in the namespace of the path, which it may name, and no other (RE-63).
    pub(crate) fn put_in_namespace(&self, object: &mut Value) -> Result<(), Status> {
        let Value::Object(members) = object else { return Ok(()) };
        let metadata = members.entry("metadata").or_insert_with(|| Map::new().into());
        let Value::Object(metadata) = metadata else { return Ok(()) };
        let named = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
        if !named.is_empty() && named != self.namespace() {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the \
                 request",
            ));
        }
        metadata.insert("namespace".to_owned(), self.namespace().into());
        Ok(())
    }

    /// Fails if a server could not list or watch the objects, or not yet.
    pub(crate) fn check_cache(&self) -> Result<(), Status> {
        let takes_time = self.server.settings.settles_like_a_server;
        let find_lost = || find_lost(&self.resource, &self.server.storage, self.version.name());
        self.cache.check_filled(&self.resource, &self.version, takes_time, find_lost)
    }

    /// Reads a stored object in the version of the request (RP-50).
    pub(crate) async fn read(&self, object: &Object) -> Result<DeepValue, Status> {
        self.resource.admission.read(self.version.name(), &self.resource.stored(object)).await
    }

    /// The text of an object that is shown as it is, without a tree if that is how it is stored.
    pub(crate) async fn read_text(&self, object: &Object) -> Result<Vec<u8>, Status> {
        match self.resource.text(self.version.name(), object, object.modified) {
            Some(text) => Ok(text),
            None => self.view.object(&*self.read(object).await?).map(String::into_bytes),
        }
    }
}

/// The failure of a storage that cannot be read (ES-60).
pub(super) fn unreadable(why: &impl ToString) -> Status {
    Status::failure(500, "", why.to_string())
}

/// Some names cannot be in a URL (RE-42).
pub(crate) fn check_name(name: &str) -> Result<(), Status> {
    let why = match name {
        "." | ".." => format!("may not be '{name}'"),
        name if name.contains('%') => "may not contain '%'".to_owned(),
        _ => return Ok(()),
    };
    Err(Status::bad_request(format!("Name parameter invalid: {}: {why}", quote(name))))
}
