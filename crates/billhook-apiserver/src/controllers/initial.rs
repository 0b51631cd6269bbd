//! The objects that every server has from its start (BK-680).

use std::sync::Arc;

use billhook_admission::ObjectRequest;
use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use serde_json::{Value, json};

use crate::namespaces::{INITIAL, NAMESPACES};
use crate::shared::Shared;
use crate::write_path::{admit_own, object_key};

const SERVICES: &str = "services.";
const PRIORITY_CLASSES: &str = "priorityclasses.scheduling.k8s.io";

/// Creates the namespaces that every server has, and the other objects that a cluster begins with if
/// they are asked for.
pub(crate) async fn create(server: &Arc<Shared>) -> Result<(), (String, Status)> {
    for name in INITIAL {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        create_object(server, NAMESPACES, &object).await?;
    }
    if !server.settings.bootstraps {
        return Ok(());
    }
    let address = server.settings.service_ranges.first_address();
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": "kubernetes", "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": address,
            "ports": [{"name": "https", "port": 443, "targetPort": 6443}],
        },
    });
    create_object(server, SERVICES, &service).await?;
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
    Ok(())
}

/// Creates an object, unless it is there already; names it if it cannot be.
async fn create_object(
    server: &Arc<Shared>,
    resource: &str,
    object: &Value,
) -> Result<(), (String, Status)> {
    let Some(resource) = server.catalog().native(resource) else { return Ok(()) };
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    let name = text(metadata, "name");
    let key = object_key(text(metadata, "namespace"), name);
    if server.storage.get(&resource.collection, &key).is_some() {
        return Ok(());
    }
    let request = ObjectRequest::create("v1", &[])
        .body(billhook::to_json(object))
        .field_manager("kube-apiserver");
    let created = admit_own(server, &resource, request).await.result;
    created.map(drop).map_err(|status| (name.to_owned(), status))
}
