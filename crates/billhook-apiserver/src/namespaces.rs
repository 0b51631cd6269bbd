//! Questions about namespaces: which there are, their labels, whether one is being deleted (RE-141).
//! Nothing else looks for a namespace.

use billhook::webhook::NamespaceLabels;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json;
use serde_json::{Value, json};

use crate::shared::Shared;
use crate::storage::Object;

/// The name of the definition of namespaces.
pub(crate) const NAMESPACES: &str = "namespaces.";

/// The namespaces that every server has.
pub(crate) const INITIAL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The label that a namespace has of itself.
pub(crate) const NAME_LABEL: &str = "kubernetes.io/metadata.name";

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
        let labels = json!({ NAME_LABEL: name });
        DeepValue::from(json!({"metadata": {"name": name, "labels": labels}}))
    };
    read().or_else(|| (!server.settings.has_namespaces).then(assumed))
}

/// Returns the labels of a namespace; one that need not exist has that of its name only.
pub(crate) fn labels(server: &Shared, name: &str) -> Option<NamespaceLabels> {
    let read = || {
        let found = find(server, name)?;
        let namespace = read_json(&found.text).ok()?.into_value();
        let labels = namespace.pointer("/metadata/labels").and_then(Value::as_object);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let labels = labels.into_iter().flatten().map(|(name, value)| (name.clone(), text(value)));
        Some(labels.collect())
    };
    let assumed = || NamespaceLabels::from([(NAME_LABEL.to_owned(), name.to_owned())]);
    read().or_else(|| (!server.settings.has_namespaces).then(assumed))
}

/// Whether a namespace is being deleted.
pub(crate) fn is_terminating(server: &Shared, name: &str) -> bool {
    find(server, name).is_some_and(|found| is_being_deleted(&found))
}

/// Whether a stored namespace is being deleted.
pub(crate) fn is_being_deleted(namespace: &Object) -> bool {
    // Hardly any namespace is; the text alone tells.
    let is_told =
        str::from_utf8(&namespace.text).is_ok_and(|text| text.contains("deletionTimestamp"));
    if !is_told {
        return false;
    }
    let object = read_json(&namespace.text);
    object.is_ok_and(|object| object.value().pointer("/metadata/deletionTimestamp").is_some())
}
