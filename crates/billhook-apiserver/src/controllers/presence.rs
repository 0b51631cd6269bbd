//! The objects by which a server is found in its cluster, and by which it is known to be alive (BK-680).

use std::sync::Arc;

use billhook_apimachinery::Status;
use billhook_apimachinery::metadata::{MicroTime, Time};
use serde_json::{Value, json};

use super::object::{create_object, put_object};
use crate::shared::Shared;
use crate::write_path::object_key;

const ENDPOINTS: &str = "endpoints.";
const SLICES: &str = "endpointslices.discovery.k8s.io";
const CONFIG_MAPS: &str = "configmaps.";
const LEASES: &str = "leases.coordination.k8s.io";

/// How long a server whose Lease is not renewed is taken for alive, in seconds.
const LIFETIME: u32 = 3600;

/// Writes where the service of the server leads to, if an endpoint can be made of its address.
pub(super) async fn publish_endpoints(server: &Arc<Shared>) -> Result<(), (String, Status)> {
    let Some(presence) = &server.settings.presence else { return Ok(()) };
    let Some(ip) = presence.endpoint() else { return Ok(()) };
    let (name, namespace) = ("kubernetes", "default");
    let port = json!({"name": "https", "port": presence.address().port(), "protocol": "TCP"});
    let endpoints = json!({
        "apiVersion": "v1", "kind": "Endpoints",
        "metadata": {
            "name": name, "namespace": namespace,
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{"addresses": [{"ip": ip}], "ports": [port]}],
    });
    put_object(server, ENDPOINTS, &endpoints).await?;
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {
            "name": name, "namespace": namespace,
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": if ip.is_ipv4() { "IPv4" } else { "IPv6" },
        "endpoints": [{"addresses": [ip], "conditions": {"ready": true}}],
        "ports": [port],
    });
    put_object(server, SLICES, &slice).await
}

/// Writes whom the server trusts, for other servers of the cluster, and since when it looks at old
/// tokens.
pub(super) async fn publish_maps(server: &Arc<Shared>) -> Result<(), (String, Status)> {
    let presence = server.settings.presence.as_ref();
    if let Some(authorities) = presence.and_then(|presence| presence.authorities()) {
        let name = "extension-apiserver-authentication";
        put_object(server, CONFIG_MAPS, &map(name, &json!({"client-ca-file": authorities})))
            .await?;
    }
    let now = server.now().to_rfc3339();
    let day = now.split_once('T').map_or("", |(day, _)| day);
    let name = "kube-apiserver-legacy-service-account-token-tracking";
    create_object(server, CONFIG_MAPS, &map(name, &json!({"since": day}))).await.map(drop)
}

/// Says that the server is alive, if it has a name.
pub(crate) async fn renew(server: &Arc<Shared>) -> Result<(), (String, Status)> {
    let Some(presence) = &server.settings.presence else { return Ok(()) };
    let Some((host, name)) = presence.identity() else { return Ok(()) };
    let seconds = server.now().seconds_since(Time::from_unix(0));
    let now = MicroTime::from_unix(seconds, 0).to_rfc3339();
    let mut spec = json!({"leaseDurationSeconds": LIFETIME, "renewTime": now});
    let key = object_key("kube-system", &name);
    if server.read_object("coordination.k8s.io", "leases", &key).is_none()
        && let Value::Object(members) = &mut spec
    {
        let uid = server.settings.server_fields().uid;
        members.insert("holderIdentity".to_owned(), format!("{name}_{uid}").into());
    }
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {
            "name": name, "namespace": "kube-system",
            "labels": {
                "apiserver.kubernetes.io/identity": "kube-apiserver",
                "kubernetes.io/hostname": host,
            },
            "annotations": {
                "kubernetes.io/peer-advertise-address": presence.address().to_string(),
            },
        },
        "spec": spec,
    });
    put_object(server, LEASES, &lease).await
}

fn map(name: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "kube-system"},
        "data": data,
    })
}
