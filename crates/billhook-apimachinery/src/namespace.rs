//! The names of Namespace objects: the one kind that requests for all others depend on.

use serde_json::Value;

/// The `apiVersion` of namespaces.
pub const API_VERSION: &str = "v1";
/// Their kind.
pub const KIND: &str = "Namespace";
/// Their resource, in the core group.
pub const RESOURCE: &str = "namespaces";

/// Returns whether a resource of a group is that of namespaces.
pub fn is_resource(group: &str, resource: &str) -> bool {
    group.is_empty() && resource == RESOURCE
}

/// Returns whether an object is a namespace.
pub fn is_namespace(object: &Value) -> bool {
    let is = |name: &str, wanted: &str| object.get(name).and_then(Value::as_str) == Some(wanted);
    is("apiVersion", API_VERSION) && is("kind", KIND)
}
