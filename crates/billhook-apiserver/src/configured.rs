//! The configuration of webhooks by stored objects, and the namespaces that they select.

use billhook::webhook::{NamespaceLabels, WebhookConfiguration};
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json;
use serde_json::Value;

use crate::storage::{Collection, Object, Range, Storage};

/// The label that a namespace has of itself.
pub(crate) const NAME_LABEL: &str = "kubernetes.io/metadata.name";

fn collections_of_webhooks() -> [Collection; 2] {
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
        .map(|plural| Collection::new("admissionregistration.k8s.io", plural))
}

/// Whether the objects of a collection configure webhooks.
pub(crate) fn is_of_webhooks(collection: &Collection) -> bool {
    collections_of_webhooks().contains(collection)
}

/// All webhook configurations that are stored.
pub(crate) fn webhook_configurations(storage: &impl Storage) -> Vec<WebhookConfiguration> {
    let list = |collection| storage.list(&collection, Range::default(), None).ok();
    let listed = collections_of_webhooks().into_iter().filter_map(list);
    let objects = listed.flat_map(|listing| listing.objects);
    let documents = objects.filter_map(|object| read(&object));
    documents.filter_map(|document| WebhookConfiguration::from_value(&document).ok()).collect()
}

/// The labels of a namespace, if it exists.
pub(crate) fn namespace_labels(storage: &impl Storage, name: &str) -> Option<NamespaceLabels> {
    let namespace = read(&storage.get(&Collection::new("", "namespaces"), name)?)?;
    let labels = namespace.pointer("/metadata/labels").and_then(Value::as_object);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let labels = labels.into_iter().flatten().map(|(name, value)| (name.clone(), text(value)));
    Some(labels.collect())
}

fn read(object: &Object) -> Option<DeepValue> {
    Some(read_json(&object.text).ok()?.into_value())
}
