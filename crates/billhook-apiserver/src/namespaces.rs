//! Questions about namespaces: which there are, their labels, whether one is being deleted (RE-141).
//! Nothing else looks for a namespace.

use billhook::webhook::{NamespaceLabels, labels_of_name, labels_of_namespace};
use billhook_apimachinery::value::DeepValue;
use billhook_decode::{ObjectView, read_json};
use memchr::memmem;
use serde_json::json;

use crate::shared::Shared;
use crate::storage::Object;

/// The name of the definition of namespaces.
pub(crate) const NAMESPACES: &str = "namespaces.";

/// The namespaces that every server has.
pub(crate) const INITIAL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The member of the metadata of objects that are being deleted.
const DELETED: &str = "deletionTimestamp";

/// Finds a namespace that is stored.
pub(crate) fn find(server: &Shared, name: &str) -> Option<Object> {
    let namespaces = server.catalog().native(NAMESPACES)?;
    server.storage.get(&namespaces.collection, name)
}

/// Whether objects can be in a namespace: where namespaces need not exist, they can be in any.
pub(crate) fn exists(server: &Shared, name: &str) -> bool {
    !server.settings.has_namespaces || find(server, name).is_some()
}

/// Returns a namespace as expressions see it; one that need not exist has its name only.
pub(crate) fn object(server: &Shared, name: &str) -> Option<DeepValue> {
    let read = || {
        let namespaces = server.catalog().native(NAMESPACES)?;
        let found = server.storage.get(&namespaces.collection, name)?;
        let version = namespaces.definition.storage().ok()?;
        namespaces.admission.read_blocking(version.name(), &namespaces.stored(&found)).ok()
    };
    let assumed = || {
        let labels = json!(labels_of_name(name));
        DeepValue::from(json!({"metadata": {"name": name, "labels": labels}}))
    };
    read().or_else(|| (!server.settings.has_namespaces).then(assumed))
}

/// Returns the labels of a namespace; one that need not exist has that of its name only.
pub(crate) fn labels(server: &Shared, name: &str) -> Option<NamespaceLabels> {
    let read = || {
        let found = find(server, name)?;
        Some(labels_of_namespace(&read_json(&found.text).ok()?.into_value()))
    };
    read().or_else(|| (!server.settings.has_namespaces).then(|| labels_of_name(name)))
}

/// Whether a namespace is being deleted.
pub(crate) fn is_terminating(server: &Shared, name: &str) -> bool {
    find(server, name).is_some_and(|found| is_being_deleted(&found))
}

/// Whether a stored namespace is being deleted.
pub(crate) fn is_being_deleted(namespace: &Object) -> bool {
    let is_marked = || ObjectView::of_checked(&namespace.text).at(["metadata", DELETED]).is_some();
    // Most texts do not have the word at all.
    memmem::find(&namespace.text, DELETED.as_bytes()).is_some() && is_marked()
}
