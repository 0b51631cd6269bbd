//! Writes of single objects that the server itself has (BK-680).

use std::sync::Arc;

use billhook_admission::ObjectRequest;
use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use serde_json::Value;

use crate::shared::Shared;
use crate::write_path::{admit_own, object_key};

/// Creates an object and returns true, unless it is there already or its kind is not served; names it
/// if it cannot be created.
pub(super) async fn create_object(
    server: &Arc<Shared>,
    resource: &str,
    object: &Value,
) -> Result<bool, (String, Status)> {
    let Some(resource) = server.catalog().native(resource) else { return Ok(false) };
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    let name = text(metadata, "name");
    let key = object_key(text(metadata, "namespace"), name);
    if server.storage.get(&resource.collection, &key).is_some() {
        return Ok(false);
    }
    let request = ObjectRequest::create("v1", &[])
        .body(billhook::to_json(object))
        .field_manager("kube-apiserver");
    let created = admit_own(server, &resource, request).await.result;
    created.map(|_| true).map_err(|status| (name.to_owned(), status))
}

/// Creates an object, or changes the one that is there.
pub(super) async fn put_object(
    server: &Arc<Shared>,
    resource: &str,
    object: &Value,
) -> Result<(), (String, Status)> {
    if create_object(server, resource, object).await? {
        return Ok(());
    }
    let Some(resource) = server.catalog().native(resource) else { return Ok(()) };
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    let (namespace, name) = (text(metadata, "namespace"), text(metadata, "name"));
    let key = object_key(namespace, name);
    let Some(stored) = server.storage.get(&resource.collection, &key) else { return Ok(()) };
    let request = ObjectRequest::merge_patch("v1", &[], &[])
        .body(billhook::to_json(object))
        .stored(resource.stored(&stored))
        .namespace(namespace)
        .name(name)
        .field_manager("kube-apiserver");
    let changed = admit_own(server, &resource, request).await.result;
    changed.map(drop).map_err(|status| (name.to_owned(), status))
}
