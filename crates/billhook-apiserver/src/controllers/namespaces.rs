//! Namespaces: the first ones, what may be in them, and the end of one with all that is in it. Policies and
//! webhooks are asked about each deletion (CP-06), and no lock is held meanwhile.

use std::sync::Arc;

use billhook::Scope;
use billhook_admission::{Chain, ObjectRequest, Subresource};
use serde_json::Value;

use super::namespace_lifecycle::NamespaceLifecycle;
use crate::namespaces::{NAMESPACES, is_terminating};
use crate::recovery::UnderWay;
use crate::resources::Resource;
use crate::shared::{Controller, Shared, Work, Written};
use crate::storage::Range;
use crate::write_path::{admit_as_controller, is_gone};

/// The account of the controller of namespaces (CP-01).
const ACCOUNT: &str = "namespace-controller";

/// Ends namespaces, and keeps objects out of those that do not exist.
#[derive(Debug)]
pub(super) struct Namespaces;

impl Controller for Namespaces {
    fn watches(&self, _: &str, _: &str) -> bool {
        true
    }

    fn guard(&self, server: &Arc<Shared>, resource: &Resource, chain: Chain) -> Chain {
        let is_of_namespaces = resource.definition.name() == NAMESPACES;
        let is_in_namespace = resource.definition.scope() == Scope::Namespaced;
        if is_of_namespaces || is_in_namespace && server.settings.has_namespaces {
            let server = Arc::clone(server);
            return chain.plugin(NamespaceLifecycle { server, is_of_namespaces });
        }
        chain
    }

    fn guard_unstored(&self, server: &Arc<Shared>, resource: &Resource, chain: Chain) -> Chain {
        self.guard(server, resource, chain)
    }

    fn after<'w>(&self, server: &'w Arc<Shared>, written: &Written<'w>) -> Option<Work<'w>> {
        let namespace =
            unsettled(server, written).filter(|_| server.settings.has_namespace_controller)?;
        Some(Box::pin(settle_namespace(server, namespace)))
    }

    fn go_on<'w>(&self, server: &'w Arc<Shared>) -> Option<Work<'w>> {
        let settled = || -> Work<'w> { Box::pin(settle_namespaces(server)) };
        server.settings.has_namespace_controller.then(settled)
    }
}

/// The namespace that is being deleted and may be empty after a write.
fn unsettled<'w>(server: &Shared, written: &Written<'w>) -> Option<&'w str> {
    let (definition, accepted) = (&written.resource.definition, written.accepted?);
    if definition.scope() == Scope::Namespaced {
        let namespace = written.namespace?;
        let is_gone = accepted.stored.is_none();
        return (is_gone && is_terminating(server, namespace)).then_some(namespace);
    }
    if definition.name() != NAMESPACES {
        return None;
    }
    accepted.metadata("deletionTimestamp")?;
    written.name()
}

/// Deletes all that is in a namespace which is being deleted, and the namespace when it is empty.
async fn settle_namespace(server: &Arc<Shared>, namespace: &str) {
    if !is_terminating(server, namespace) {
        return;
    }
    let under_way = UnderWay::begin(server);
    let mut is_empty = true;
    let catalog = server.catalog();
    for listed in catalog.resources().filter(|listed| listed.is_namespaced()) {
        let prefix = format!("{namespace}/");
        let listing = server.storage.list(&listed.collection(), Range::of_prefix(&prefix));
        for object in listing.objects {
            let resource = listed.resource();
            let version = resource.and_then(|resource| resource.definition.storage().ok());
            let (Some(resource), Some(version)) = (resource, version) else {
                is_empty = false;
                break;
            };
            let request = ObjectRequest::delete(version.name(), &[])
                .stored(resource.stored(&object))
                .namespace(namespace);
            let outcome = admit_as_controller(server, resource, ACCOUNT, request).await;
            is_empty &= is_gone(&outcome);
            if outcome.result.is_err() && !is_gone(&outcome) {
                server.leave_undone();
            }
        }
    }
    if is_empty {
        finalize(server, namespace).await;
    }
    under_way.end();
}

/// [`settle_namespace`] for all namespaces.
async fn settle_namespaces(server: &Arc<Shared>) {
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
        .subresource(Subresource::Of("finalize"))
        .field_manager("kube-controller-manager");
    let outcome = admit_as_controller(server, &resource, ACCOUNT, request).await;
    if outcome.result.is_err_and(|status| status.code != 404) {
        server.leave_undone();
    }
}
