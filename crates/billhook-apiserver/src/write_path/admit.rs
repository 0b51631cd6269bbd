//! The write path of a resource, with the server's storage, clock and identifiers.

use std::sync::Arc;

use billhook::Scope;
use billhook::webhook::NamespaceLabels;
use billhook_admission::{Admission, AdmissionOutcome, ObjectRequest, StoreWrite};

use super::binding::Binding;
use super::cluster::StoredObjects;
use super::namespaces::NamespaceLifecycle;
use super::permissions::PolicyPermissions;
use crate::catalog::{NAMESPACES, Resource};
use crate::configured::{Configures, NAME_LABEL, namespace_labels};
use crate::state::Shared;

/// Takes a client's request through policies, webhooks and the write path to storage.
pub(crate) async fn admit(
    server: &Arc<Shared>,
    resource: &Resource,
    request: ObjectRequest,
) -> AdmissionOutcome {
    let of_namespaces = Arc::clone(server);
    let labels = move |name: &str| {
        let found = namespace_labels(&of_namespaces.storage, name);
        let assumed = || NamespaceLabels::from([(NAME_LABEL.to_owned(), name.to_owned())]);
        Ok(found.or_else(|| (!of_namespaces.settings.has_namespaces).then(assumed)))
    };
    let cluster = StoredObjects(Arc::clone(server));
    let mut chain = server.chain_of(resource).namespaces(labels).policy_cluster(cluster);
    let is_of_namespaces = resource.definition.name() == NAMESPACES;
    let is_in_namespace = resource.definition.scope() == Scope::Namespaced;
    if is_of_namespaces || is_in_namespace && server.settings.has_namespaces {
        chain = chain.plugin(NamespaceLifecycle { server: Arc::clone(server), is_of_namespaces });
    }
    if resource.configures == Some(Configures::Policies) {
        chain = chain.plugin(PolicyPermissions(Arc::clone(server)));
    }
    admission(server, resource).chain(chain).admit(&request).await
}

/// Takes a request of the server itself through the write path to storage.
pub(crate) async fn admit_own(
    server: &Arc<Shared>,
    resource: &Resource,
    request: ObjectRequest,
) -> AdmissionOutcome {
    admission(server, resource).admit(&request).await
}

fn admission(server: &Arc<Shared>, resource: &Resource) -> Admission {
    let mut admission = resource.admission.clone();
    if let Some(new_objects) = server.settings.new_objects.clone() {
        admission = admission.server_fields(move || new_objects());
    }
    let clock = server.settings.clock.clone();
    admission = admission.clock(move || clock.now());
    let binding = Binding::new(server, resource);
    admission.store(Arc::new(move |write: StoreWrite<'_>| binding.write(&write)))
}
