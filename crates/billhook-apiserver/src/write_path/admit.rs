//! The write path of a resource, with the server's storage, clock and identifiers.

use std::sync::Arc;

use billhook_admission::{AdmissionOutcome, ObjectRequest, StoreWrite};

use super::binding::Binding;
use crate::catalog::Resource;
use crate::state::Shared;

/// Takes a request through the write path to storage.
pub(crate) async fn admit(
    server: &Arc<Shared>,
    resource: &Resource,
    request: ObjectRequest,
) -> AdmissionOutcome {
    let mut admission = resource.admission.clone();
    if let Some(new_objects) = server.new_objects.clone() {
        admission = admission.server_fields(move || new_objects());
    }
    let clock = server.clock.clone();
    admission = admission.clock(move || clock.now());
    let binding = Binding::new(server, resource);
    let store = Arc::new(move |write: StoreWrite<'_>| binding.write(&write));
    admission.store(store).admit(&request).await
}
