//! The server as the cluster around requests: parameters, namespaces and permissions (PO-30, PO-31,
//! PO-46).

use std::borrow::Cow;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use billhook::Scope;
use billhook::webhook::{Authorizer, NamespaceError, NamespaceLabels, Namespaces};
use billhook_apimachinery::label_selector::Selector;
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::DeepValue;
use billhook_policy::{Cluster, ParamKind};
use serde_json::Value;

use super::binding::object_key;
use crate::namespaces;
use crate::resources::Resource;
use crate::shared::Shared;
use crate::storage::{Object, Range};

/// The objects that a server stores.
pub(super) struct StoredObjects<'s>(pub(super) &'s Shared);

impl StoredObjects<'_> {
    /// Does something with the resource and the version of a kind, if it is served.
    fn of_kind<T>(&self, kind: &ParamKind, then: impl FnOnce(&Resource, &str) -> T) -> Option<T> {
        let api_version = kind.api_version.as_str();
        let (group, version) = split_api_version(api_version);
        Some(then(self.0.catalog().serving(group, version, &kind.kind)?, version))
    }
}

impl Namespaces for StoredObjects<'_> {
    fn labels<'n>(
        &'n self,
        name: &str,
    ) -> Result<Option<Cow<'n, NamespaceLabels>>, NamespaceError> {
        Ok(namespaces::labels(self.0, name).map(Cow::Owned))
    }
}

impl Cluster for StoredObjects<'_> {
    fn scope(&self, kind: &ParamKind) -> Option<Scope> {
        self.of_kind(kind, |resource, _| resource.definition.scope())
    }

    fn object(&self, kind: &ParamKind, namespace: &str, name: &str) -> Option<DeepValue> {
        self.of_kind(kind, |resource, version| {
            let found = self.0.storage.get(&resource.collection, &object_key(namespace, name))?;
            read(resource, version, &found)
        })?
    }

    fn objects(&self, kind: &ParamKind, namespace: &str, selector: &Selector) -> Vec<DeepValue> {
        let found = self.of_kind(kind, |resource, version| {
            let prefix = object_key(namespace, "");
            let range = Range::of_prefix(&prefix);
            let listing = self.0.storage.list(&resource.collection, range);
            let objects =
                listing.objects.iter().filter_map(|object| read(resource, version, object));
            objects.filter(|object| is_selected(selector, object)).collect()
        });
        found.unwrap_or_default()
    }

    fn namespace(&self, name: &str) -> Option<DeepValue> {
        namespaces::object(self.0, name)
    }

    fn has_namespace(&self, name: &str) -> bool {
        namespaces::exists(self.0, name)
    }

    fn authorizer(&self) -> Option<&Arc<dyn Authorizer>> {
        Some(&self.0.asked_by_expressions)
    }
}

fn is_selected(selector: &Selector, object: &Value) -> bool {
    match object.pointer("/metadata/labels") {
        Some(Value::Object(labels)) => selector.matches(labels),
        _ => selector.matches(&()),
    }
}

/// Reads an object in a version; none if it cannot be read, or not without waiting for a webhook.
fn read(resource: &Resource, version: &str, object: &Object) -> Option<DeepValue> {
    let stored = resource.stored(object);
    let reading = std::pin::pin!(resource.admission.read(version, &stored));
    match reading.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(read) => read.ok(),
        Poll::Pending => None,
    }
}
