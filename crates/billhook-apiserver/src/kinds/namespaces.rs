//! Namespaces: the first ones, and the end of one with all that is in it.

use std::sync::Arc;

use billhook::Scope;
use billhook_admission::ObjectRequest;
use serde_json::{Value, json};

use crate::catalog::NAMESPACES;
use crate::state::Shared;
use crate::storage::{Range, Storage as _};
use crate::write_path::{admit_own, is_terminating};

/// The namespaces that every server has.
pub(crate) const INITIAL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Creates the namespaces that every server has.
pub(crate) async fn create_initial(server: &Arc<Shared>) {
    let Some(resource) = server.catalog().native(NAMESPACES) else { return };
    for name in INITIAL {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let body = billhook::to_json(&object).into_bytes();
        let request = ObjectRequest::create("v1", &body).field_manager("kube-apiserver");
        admit_own(server, &resource, request).await;
    }
}

/// Deletes all that is in a namespace which is being deleted, and the namespace when it is empty.
pub(crate) async fn settle_namespace(server: &Arc<Shared>, namespace: &str) {
    let _turn = server.settling.lock().await;
    if !is_terminating(server, namespace) {
        return;
    }
    let mut is_empty = true;
    let catalog = server.catalog();
    let namespaced = |scope| scope == Scope::Namespaced;
    for resource in catalog.resources().filter(|each| namespaced(each.definition.scope())) {
        let prefix = format!("{namespace}/");
        let listing = server.storage.list(&resource.collection, Range::of_prefix(&prefix));
        for object in listing.objects {
            let Ok(version) = resource.definition.storage() else {
                is_empty = false;
                break;
            };
            let request = ObjectRequest::delete(version.name(), &[])
                .stored(resource.stored(&object))
                .namespace(namespace);
            let outcome = admit_own(server, resource, request).await;
            is_empty &= outcome.result.is_ok_and(|accepted| accepted.stored.is_none());
        }
    }
    if is_empty {
        finalize(server, namespace).await;
    }
}

/// [`settle_namespace`] for all namespaces.
pub(crate) async fn settle_namespaces(server: &Arc<Shared>) {
    let Some(resource) = server.catalog().native(NAMESPACES) else { return };
    for namespace in server.storage.list(&resource.collection, Range::default()).objects {
        settle_namespace(server, &namespace.key).await;
    }
}

/// Takes away what keeps an empty namespace.
async fn finalize(server: &Arc<Shared>, namespace: &str) {
    let Some(resource) = server.catalog().native(NAMESPACES) else { return };
    let Some(stored) = server.storage.get(&resource.collection, namespace) else { return };
    let stored = resource.stored(&stored);
    let Ok(mut object) = resource.admission.read("v1", &stored).await else { return };
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("finalizers");
    }
    let request = ObjectRequest::replace_object("v1", object, stored)
        .name(namespace)
        .field_manager("kube-controller-manager");
    admit_own(server, &resource, request).await;
}
