//! A request for objects of a resource, with everything that a verb needs.

use std::sync::Arc;

use billhook::{CrdVersion, Scope};
use billhook_admission::{Admission, StoredObject};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionResource, Status};

use crate::catalog::Resource;
use crate::request::{Request, ResourcePath};
use crate::response::Form;
use crate::state::Shared;
use crate::storage::{Object, Storage};

/// A request for objects of a resource in a version.
pub(crate) struct Context<'r> {
    pub(crate) server: &'r Arc<Shared>,
    pub(crate) request: &'r Request,
    pub(crate) path: &'r ResourcePath,
    pub(crate) resource: Arc<Resource>,
    pub(crate) version: CrdVersion,
    pub(crate) form: Form,
}

impl Context<'_> {
    pub(crate) fn storage(&self) -> &dyn Storage {
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
        self.prefix() + name
    }

    /// The beginning of the keys of the path's objects.
    pub(crate) fn prefix(&self) -> String {
        match &self.path.namespace {
            Some(namespace) if self.is_namespaced() => format!("{namespace}/"),
            _ => String::new(),
        }
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.resource.definition.scope() == Scope::Namespaced
    }

    /// The object in the path, as it is stored.
    pub(crate) fn stored(&self) -> Result<Object, Status> {
        let name = self.name()?;
        let found = self.storage().get(&self.resource.collection, &self.key(name));
        found.ok_or_else(|| Status::not_found(&self.resource_name(), name))
    }

    /// The write path of the resource.
    pub(crate) fn admission(&self) -> Admission {
        let new_objects = Arc::clone(&self.server.new_objects);
        self.resource.admission.clone().server_fields(move || new_objects())
    }

    /// Reads a stored object in the version of the request (RP-50).
    pub(crate) fn read(&self, object: &Object) -> Result<DeepValue, Status> {
        self.resource.admission.read(self.version.name(), &stored_object(object))
    }
}

/// An object of storage, as the write path takes it.
pub(crate) fn stored_object(object: &Object) -> StoredObject {
    StoredObject::new(object.text.to_vec()).resource_version(object.modified.to_string())
}
