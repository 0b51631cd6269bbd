//! The objects that every server has from its start (BK-680).

use std::sync::Arc;

use billhook_admission::ObjectRequest;
use billhook_apimachinery::{Status, namespace};
use billhook_kinds::InitialObject;
use serde_json::json;

use super::object::create_object;
use super::presence;
use crate::future::{BoxFuture, together};
use crate::namespaces::{INITIAL, NAMESPACES};
use crate::shared::Shared;
use crate::storage::{Collection, Write, WriteError};
use crate::write_path::admit_own;

const SERVICES: &str = "services.";
const SERVICE_CIDRS: &str = "servicecidrs.networking.k8s.io";
const SERVICE_CIDR_CONTROLLER: &str = "kubernetes-service-cidr-controller";
const PRIORITY_CLASSES: &str = "priorityclasses.scheduling.k8s.io";

/// The groups, resources and keys of the objects that a cluster begins with beside those that are
/// stored as they are (BK-680).
pub(crate) const BEGUN_WITH: [(&str, &str, &str); 8] = [
    ("", "configmaps", "kube-system/extension-apiserver-authentication"),
    ("", "configmaps", "kube-system/kube-apiserver-legacy-service-account-token-tracking"),
    ("", "endpoints", "default/kubernetes"),
    ("", "services", "default/kubernetes"),
    ("discovery.k8s.io", "endpointslices", "default/kubernetes"),
    ("networking.k8s.io", "servicecidrs", "kubernetes"),
    ("scheduling.k8s.io", "priorityclasses", "system-cluster-critical"),
    ("scheduling.k8s.io", "priorityclasses", "system-node-critical"),
];

/// Creates the namespaces that every server has, and the other objects that a cluster begins with if
/// they are asked for.
pub(crate) async fn create(server: &Arc<Shared>) -> Result<(), (String, Status)> {
    for name in INITIAL {
        let object = json!({
            "apiVersion": namespace::API_VERSION, "kind": namespace::KIND,
            "metadata": {"name": name},
        });
        create_object(server, NAMESPACES, &object).await?;
    }
    if !server.settings.bootstraps {
        return Ok(());
    }
    create_service(server).await?;
    presence::publish_endpoints(server).await?;
    for (name, value, description) in [
        (
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
        (
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to \
             another node if necessary.",
        ),
    ] {
        let object = json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": name}, "value": value, "description": description,
        });
        create_object(server, PRIORITY_CLASSES, &object).await?;
    }
    create_service_cidr(server).await?;
    presence::publish_maps(server).await?;
    presence::renew(server).await?;
    // Those that wait for a backend share its sync.
    let without = &server.settings.disabled_versions;
    let is_served = |object: &&'static InitialObject| {
        let version = object.key.split_once('.').filter(|_| object.plural == "apiservices");
        version.is_none_or(|(version, group)| !without.contains(&format!("{group}/{version}")))
    };
    let objects = InitialObject::all(server.settings.kubernetes).filter(is_served);
    let stored = objects.map(|object| -> BoxFuture<'_, _> { Box::pin(store(server, object)) });
    together(stored.collect()).await
}

/// Creates the service of the server itself, which is there again if it is deleted.
pub(super) async fn create_service(server: &Arc<Shared>) -> Result<bool, (String, Status)> {
    let address = server.settings.service_ranges.first_address();
    let presence = server.settings.presence.as_ref();
    let port = presence.map_or(6443, |presence| presence.address().port());
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": "kubernetes", "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": address,
            "ports": [{"name": "https", "port": 443, "targetPort": port}],
        },
    });
    create_object(server, SERVICES, &service).await
}

/// Creates the range of the addresses of services, which is ready at once.
async fn create_service_cidr(server: &Arc<Shared>) -> Result<(), (String, Status)> {
    let name = "kubernetes";
    let object = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
        "metadata": {"name": name},
        "spec": {"cidrs": [server.settings.service_ranges.addresses()]},
    });
    let status = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
        "status": {"conditions": [{
            "type": "Ready", "status": "True", "lastTransitionTime": server.now().to_rfc3339(),
            "message": "Kubernetes default Service CIDR is ready",
        }]},
    });
    if !create_object(server, SERVICE_CIDRS, &object).await? {
        return Ok(());
    }
    let Some(resource) = server.catalog().native(SERVICE_CIDRS) else { return Ok(()) };
    let Some(created) = server.storage.get(&resource.collection, name) else { return Ok(()) };
    let status = billhook::to_json(&status);
    let request = ObjectRequest::apply("v1", status.as_bytes(), &[], SERVICE_CIDR_CONTROLLER);
    let request = request.stored(resource.stored(&created)).name(name).status_update();
    let applied = admit_own(server, &resource, request).await.result;
    applied.map(drop).map_err(|status| (name.to_owned(), status))
}

/// Stores an object as it is.
async fn store(server: &Shared, object: &InitialObject) -> Result<(), (String, Status)> {
    let collection = Collection::new(object.group, object.plural);
    if server.storage.get(&collection, object.key).is_some() {
        return Ok(());
    }
    let uid = server.settings.server_fields().uid;
    let text = object.text(&uid, &server.now().to_rfc3339());
    let written = server.storage.write(&collection, object.key, Write::create(text)).await;
    let failed =
        |error: WriteError| (object.key.to_owned(), Status::failure(500, "", error.to_string()));
    written.map(drop).map_err(failed)
}
