//! Requests of controllers, and their outcomes.

use billhook_apimachinery::Status;
use billhook_apimachinery::print::compact_json;
use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::object::Object;
use crate::reading::read_name;
use crate::resource::Resource;

/// A request to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) content_type: &'static str,
    /// The form of the answer; JSON if it is empty.
    pub(crate) accept: &'static str,
    pub(crate) body: String,
}

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";
const ALL_RESOURCES: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

impl Request {
    fn new(method: Method, path: String, content_type: &'static str, body: &Value) -> Self {
        let body = if body.is_null() { String::new() } else { compact_json(body) };
        Request { method, path, content_type, accept: "", body }
    }

    /// Reads an object.
    pub fn get(resource: &Resource, key: &str) -> Self {
        Request::new(Method::GET, resource.path_of(key), JSON, &Value::Null)
    }

    /// Reads what is at a path.
    pub fn read(path: &str) -> Self {
        Request::new(Method::GET, path.to_owned(), JSON, &Value::Null)
    }

    /// Reads which resources there are, of the core group at `/api`, and of the others at `/apis`.
    pub(crate) fn discover(path: &str) -> Self {
        Request { accept: ALL_RESOURCES, ..Request::read(path) }
    }

    /// Replaces what is at a path.
    pub fn replace(path: &str, object: &Value) -> Self {
        Request::new(Method::PUT, path.to_owned(), JSON, object)
    }

    /// Creates an object in a namespace, which does not count for a resource of the cluster.
    pub fn create(resource: &Resource, namespace: &str, object: &Value) -> Self {
        Request::new(Method::POST, resource.path(namespace), JSON, object)
    }

    /// Posts to a subresource of an object, such as `binding`.
    pub fn create_in(resource: &Resource, key: &str, subresource: &str, object: &Value) -> Self {
        let path = format!("{}/{subresource}", resource.path_of(key));
        Request::new(Method::POST, path, JSON, object)
    }

    /// Replaces an object. One with a resource version is only replaced if it has not changed.
    pub fn update(resource: &Resource, key: &str, object: &Value) -> Self {
        Request::new(Method::PUT, resource.path_of(key), JSON, object)
    }

    /// Replaces a subresource of an object, such as `status`.
    pub fn update_in(resource: &Resource, key: &str, subresource: &str, object: &Value) -> Self {
        let path = format!("{}/{subresource}", resource.path_of(key));
        Request::new(Method::PUT, path, JSON, object)
    }

    /// Changes an object by a strategic merge patch, which only built-in kinds support.
    pub fn patch(resource: &Resource, key: &str, patch: &Value) -> Self {
        Request::new(Method::PATCH, resource.path_of(key), STRATEGIC_PATCH, patch)
    }

    /// Changes a subresource of an object by a strategic merge patch.
    pub fn patch_in(resource: &Resource, key: &str, subresource: &str, patch: &Value) -> Self {
        let path = format!("{}/{subresource}", resource.path_of(key));
        Request::new(Method::PATCH, path, STRATEGIC_PATCH, patch)
    }

    /// Changes an object by a JSON merge patch.
    pub fn merge_patch(resource: &Resource, key: &str, patch: &Value) -> Self {
        Request::new(Method::PATCH, resource.path_of(key), MERGE_PATCH, patch)
    }

    /// Changes what is at a path, by a strategic merge patch or by a JSON merge patch.
    pub(crate) fn patch_at(path: &str, is_strategic: bool, patch: &Value) -> Self {
        let content_type = if is_strategic { STRATEGIC_PATCH } else { MERGE_PATCH };
        Request::new(Method::PATCH, path.to_owned(), content_type, patch)
    }

    /// Changes what is at a path, by the operations of a JSON patch.
    pub(crate) fn json_patch_at(path: &str, operations: &Value) -> Self {
        Request::new(Method::PATCH, path.to_owned(), JSON_PATCH, operations)
    }

    /// Deletes the object at a path, with `DeleteOptions`.
    pub(crate) fn delete_at(path: &str, options: &Value) -> Self {
        Request::new(Method::DELETE, path.to_owned(), JSON, options)
    }

    /// Applies a configuration, by force.
    pub fn apply(resource: &Resource, key: &str, manager: &str, configuration: &Value) -> Self {
        let path = format!("{}?fieldManager={manager}&force=true", resource.path_of(key));
        Request::new(Method::PATCH, path, APPLY_PATCH, configuration)
    }

    /// Deletes an object, with `DeleteOptions`; null for none.
    pub fn delete(resource: &Resource, key: &str, options: &Value) -> Self {
        Request::new(Method::DELETE, resource.path_of(key), JSON, options)
    }

    /// Deletes all objects of a collection, by its path, with `DeleteOptions`.
    pub fn delete_all(path: &str, options: &Value) -> Self {
        Request::new(Method::DELETE, path.to_owned(), JSON, options)
    }

    /// Deletes the object that a controller has seen, and no other one of its name.
    pub fn delete_seen(resource: &Resource, object: &Object) -> Self {
        let options = json!({"preconditions": {"uid": object.uid()}});
        Request::delete(resource, object.key(), &options)
    }
}

/// The answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub(crate) code: StatusCode,
    pub(crate) body: Bytes,
}

impl Outcome {
    /// Returns whether the server has done it.
    pub fn is_success(&self) -> bool {
        self.code.is_success()
    }

    /// Returns the status code.
    pub fn code(&self) -> u16 {
        self.code.as_u16()
    }

    /// Returns the object in the answer; null if absent.
    pub fn object(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns the name of the object in the answer; empty if absent.
    pub fn name(&self) -> String {
        read_name(&self.body)
    }

    /// Returns why the server has refused it; `None` if it has not.
    pub fn failure(&self) -> Option<Status> {
        if self.is_success() {
            return None;
        }
        let other = || Status::failure(self.code.as_u16().into(), "", self.code.to_string());
        Some(Status::of_failure(&self.object()).unwrap_or_else(other))
    }

    /// Returns whether the server has refused it because the namespace is being deleted, about which
    /// controllers say nothing (CP-07).
    pub fn is_of_terminating_namespace(&self) -> bool {
        let causes = self.failure().and_then(|status| Some(status.details?.causes));
        let mut causes = causes.into_iter().flatten();
        self.code == StatusCode::FORBIDDEN
            && causes.any(|cause| cause.reason == "NamespaceTerminating")
    }
}
