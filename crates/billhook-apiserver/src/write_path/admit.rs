//! The write path of a resource, with the server's storage, clock and identifiers.

use std::sync::Arc;

use billhook::webhook::AdmissionAttributes;
use billhook_admission::{Admission, AdmissionOutcome, ChainOutcome, ObjectRequest, Warnings};
use billhook_apimachinery::{Status, UserInfo};
use serde_json::Value;

use super::binding::Binding;
use super::cluster::StoredObjects;
use crate::resources::Resource;
use crate::shared::Shared;

/// Takes a client's request through policies, webhooks and the write path to storage.
pub(crate) async fn admit(
    server: &Arc<Shared>,
    resource: &Resource,
    request: ObjectRequest,
) -> AdmissionOutcome {
    let chain = server.guard(resource, server.chain_of(resource));
    admitted(server, resource, admission(server, resource).chain(chain), &request).await
}

/// Takes a request of a controller that is elsewhere a client of the server, in an account of its own,
/// through policies, webhooks and the write path to storage (CP-01, CP-06).
pub(crate) async fn admit_as_controller(
    server: &Arc<Shared>,
    resource: &Resource,
    account: &str,
    request: ObjectRequest,
) -> AdmissionOutcome {
    let user = UserInfo::service_account("kube-system", account);
    admit(server, resource, request.user(user)).await
}

/// Whether an object is gone after its deletion, or was before.
pub(crate) fn is_gone(outcome: &AdmissionOutcome) -> bool {
    match &outcome.result {
        Ok(accepted) => accepted.stored.is_none(),
        Err(status) => status.code == 404,
    }
}

/// Takes a request of the server itself through the write path to storage.
pub(crate) async fn admit_own(
    server: &Arc<Shared>,
    resource: &Resource,
    request: ObjectRequest,
) -> AdmissionOutcome {
    admitted(server, resource, admission(server, resource), &request).await
}

/// Takes an object of a client's request that is not stored through policies and webhooks. Between the
/// stages `check` is asked about it.
pub(crate) async fn admit_unstored(
    server: &Arc<Shared>,
    resource: &Resource,
    attributes: AdmissionAttributes,
    request: &ObjectRequest,
    check: impl FnOnce(&mut Value) -> Result<(), Status> + Send,
) -> ChainOutcome {
    let prepare = |attributes: &mut AdmissionAttributes, _: &mut Warnings| {
        attributes.object.as_deref_mut().map_or(Ok(()), check)
    };
    let chain = server.guard_unstored(resource, server.chain_of(resource));
    let admission = admission(server, resource).chain(chain);
    let cluster = StoredObjects(server);
    admission.admit_unstored(attributes, request, &cluster, prepare).await
}

/// Takes an object of a client's request for no resource that is stored through webhooks. No policy is asked
/// about reviews (PO-21).
pub(crate) async fn admit_review(
    server: &Arc<Shared>,
    attributes: AdmissionAttributes,
    request: &ObjectRequest,
) -> ChainOutcome {
    let (attributes, cluster) = (request.attributes(attributes), StoredObjects(server));
    let chain = server.configured().chain;
    chain.run(attributes, &cluster, &request.options, |_, _| Ok(())).await
}

async fn admitted(
    server: &Arc<Shared>,
    resource: &Resource,
    admission: Admission,
    request: &ObjectRequest,
) -> AdmissionOutcome {
    let cluster = StoredObjects(server);
    match server.allocator(resource) {
        None => admission.admit(request, &cluster).await,
        Some(allocator) => {
            let _turn = server.allocating.lock().await;
            admission.allocator(allocator).admit(request, &cluster).await
        }
    }
}

fn admission(server: &Arc<Shared>, resource: &Resource) -> Admission {
    let mut admission = resource.admission.clone();
    if let Some(new_objects) = server.settings.new_objects.clone() {
        admission = admission.server_fields(move || new_objects());
    }
    let clock = server.settings.clock.clone();
    admission = admission.clock(move || clock.now());
    admission.store(Arc::new(Binding::new(server, resource)))
}
