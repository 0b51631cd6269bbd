//! The objects that a cluster begins with (BK-680).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use billhook_apiserver::{Presence, Server};
use http::Method;
use serde_json::{Value, json};

use crate::support::{call, text};

const SERVICE: &str = "/api/v1/namespaces/default/services/kubernetes";
const SLICE: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

async fn get(server: &Server, path: &str) -> Value {
    call(server, Method::GET, path, &[], "").await.json()
}

/// BK-680: how many objects of each kind a fresh server has, and one of them.
#[tokio::test]
async fn a_cluster_begins_with_objects() {
    let server = Server::builder().bootstrap().build();
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let flow = "/apis/flowcontrol.apiserver.k8s.io/v1";
    for (path, count, name) in [
        ("/api/v1/namespaces", 4, "kube-node-lease"),
        ("/api/v1/services", 1, "kubernetes"),
        ("/api/v1/componentstatuses", 0, ""),
        ("/apis/networking.k8s.io/v1/ipaddresses", 1, "10.0.0.1"),
        ("/apis/networking.k8s.io/v1/servicecidrs", 1, "kubernetes"),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", 2, "system-node-critical"),
        ("/apis/apiregistration.k8s.io/v1/apiservices", 21, "v2.autoscaling"),
        (&format!("{flow}/flowschemas"), 11, "catch-all"),
        (&format!("{flow}/prioritylevelconfigurations"), 8, "exempt"),
        (&format!("{rbac}/clusterroles"), 69, "system:node-bootstrapper"),
        (&format!("{rbac}/clusterrolebindings"), 50, "system:discovery"),
        (&format!("{rbac}/roles"), 7, "system::leader-locking-kube-scheduler"),
        (&format!("{rbac}/rolebindings"), 7, "system:controller:cloud-provider"),
    ] {
        let list = get(&server, path).await;
        let items = list["items"].as_array().unwrap();
        assert_eq!(items.len(), count, "{path}");
        let found = items.iter().any(|item| text(item, "/metadata/name") == name);
        assert_eq!(found, count > 0, "{path}");
    }
    let plain = Server::builder().build();
    assert_eq!(get(&plain, &format!("{rbac}/clusterroles")).await["items"], json!([]));
}

/// An object that was stored as it is can be read, is one that the server would accept, and has an
/// identity of its own.
#[tokio::test]
async fn initial_objects_are_as_if_they_were_written() {
    let server = Server::builder().bootstrap().build();
    let all = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let path = format!("{all}/cluster-admin");
    let role = get(&server, &path).await;
    let again = call(&server, Method::PUT, &path, &[], &role.to_string()).await;
    assert_eq!((again.code, again.json()), (200, role.clone()), "nothing changes");
    let uid = |role: &Value| text(role, "/metadata/uid").to_owned();
    assert_ne!(uid(&role), uid(&get(&server, &format!("{all}/view")).await));
    assert_eq!(server.dump().await.unwrap(), "");
}

/// BK-680, BK-771: services of the API are those of the groups that the version serves.
#[tokio::test]
async fn older_servers_begin_with_less() {
    for (version, services, ranges) in
        [(KubernetesVersion::V1_32, 20, 404), (KubernetesVersion::V1_34, 21, 200)]
    {
        let server = Server::builder().kubernetes(version).bootstrap().build();
        let list = get(&server, "/apis/apiregistration.k8s.io/v1/apiservices").await;
        assert_eq!(list["items"].as_array().unwrap().len(), services, "{version}");
        let path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
        assert_eq!(call(&server, Method::GET, path, &[], "").await.code, ranges, "{version}");
    }
}

/// BK-680: what a server says about itself.
#[tokio::test]
async fn a_server_says_where_it_is() {
    let presence = Presence::at("192.0.2.1:17863".parse().unwrap());
    let presence = presence.host("box").client_authorities("<pem>");
    let server = Server::builder().bootstrap().presence(presence).build();
    let service = get(&server, SERVICE).await;
    assert_eq!(service["spec"]["ports"][0]["targetPort"], 17863);

    let endpoints = get(&server, "/api/v1/namespaces/default/endpoints/kubernetes").await;
    assert_eq!(
        endpoints["metadata"]["labels"],
        json!({"endpointslice.kubernetes.io/skip-mirror": "true"})
    );
    let port = json!({"name": "https", "port": 17863, "protocol": "TCP"});
    assert_eq!(
        endpoints["subsets"],
        json!([{"addresses": [{"ip": "192.0.2.1"}], "ports": [port]}])
    );
    let fields = &endpoints["metadata"]["managedFields"][0];
    assert_eq!(
        (&fields["manager"], &fields["operation"]),
        (&json!("kube-apiserver"), &json!("Update"))
    );
    assert_eq!(
        fields["fieldsV1"],
        json!({
            "f:metadata": {"f:labels": {
                ".": {}, "f:endpointslice.kubernetes.io/skip-mirror": {}}},
            "f:subsets": {},
        })
    );

    let slice = get(&server, SLICE).await;
    assert_eq!(slice["metadata"]["generation"], 1);
    assert_eq!(slice["metadata"]["labels"], json!({"kubernetes.io/service-name": "kubernetes"}));
    assert_eq!(slice["addressType"], "IPv4");
    assert_eq!(
        slice["endpoints"],
        json!([{"addresses": ["192.0.2.1"], "conditions": {"ready": true}}])
    );
    assert_eq!(slice["ports"], json!([port]));

    let maps = get(&server, "/api/v1/namespaces/kube-system/configmaps").await;
    let names: Vec<_> = maps["items"].as_array().unwrap().iter().collect();
    assert_eq!(
        names.iter().map(|map| text(map, "/metadata/name")).collect::<Vec<_>>(),
        [
            "extension-apiserver-authentication",
            "kube-apiserver-legacy-service-account-token-tracking"
        ]
    );
    assert_eq!(names[0]["data"], json!({"client-ca-file": "<pem>"}));
}

/// BK-680: a server that is alive says so in its Lease.
#[tokio::test]
async fn the_lease_of_a_server_is_renewed() {
    let seconds = Arc::new(AtomicI64::new(1_700_000_000));
    let clock = Arc::clone(&seconds);
    let presence = Presence::at("192.0.2.1:17863".parse().unwrap()).host("box");
    let builder = Server::builder().bootstrap().presence(presence);
    let server = builder.clock(move || Time::from_unix(clock.load(Ordering::Relaxed))).build();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    let before = get(&server, leases).await["items"][0].clone();
    let name = text(&before, "/metadata/name").to_owned();
    assert!(name.starts_with("apiserver-"), "{name}");
    assert_eq!(
        before["metadata"]["labels"],
        json!({"apiserver.kubernetes.io/identity": "kube-apiserver",
            "kubernetes.io/hostname": "box"})
    );
    assert_eq!(
        before["metadata"]["annotations"],
        json!({"kubernetes.io/peer-advertise-address": "192.0.2.1:17863"})
    );
    assert!(text(&before, "/spec/holderIdentity").starts_with(&format!("{name}_")));
    assert_eq!(before["spec"]["leaseDurationSeconds"], 3600);
    assert_eq!(before["spec"]["renewTime"], "2023-11-14T22:13:20.000000Z");

    seconds.fetch_add(10, Ordering::Relaxed);
    server.renew().await.unwrap();
    let after = get(&server, leases).await["items"][0].clone();
    assert_eq!(after["spec"]["renewTime"], "2023-11-14T22:13:30.000000Z");
    assert_eq!(after["spec"]["holderIdentity"], before["spec"]["holderIdentity"]);
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);

    let nameless = Server::builder().bootstrap().build();
    nameless.renew().await.unwrap();
    assert_eq!(get(&nameless, leases).await["items"], json!([]));
}

/// BK-206, BK-680: no endpoint can be made of a loopback address, and of others there is one again
/// when the service was deleted.
#[tokio::test]
async fn a_service_leads_to_addresses_that_others_reach() {
    for (address, code) in
        [("127.0.0.1:6443", 404), ("0.0.0.0:6443", 404), ("[2001:db8::1]:6443", 200)]
    {
        let presence = Presence::at(address.parse().unwrap());
        let server = Server::builder().bootstrap().presence(presence).build();
        assert_eq!(call(&server, Method::GET, SLICE, &[], "").await.code, code, "{address}");
        assert_eq!(call(&server, Method::DELETE, SERVICE, &[], "").await.code, 200);
        assert_eq!(call(&server, Method::GET, SERVICE, &[], "").await.code, 200, "{address}");
        assert_eq!(call(&server, Method::GET, SLICE, &[], "").await.code, code, "{address}");
        let endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";
        assert_eq!(call(&server, Method::GET, endpoints, &[], "").await.code, code, "{address}");
    }
}

/// BK-488: the failure names the resource in the singular.
#[tokio::test]
async fn component_statuses_are_not_found() {
    let server = Server::builder().build();
    let answer = call(&server, Method::GET, "/api/v1/componentstatuses/none", &[], "").await;
    assert_eq!(
        (answer.code, answer.message().as_str()),
        (404, "componentstatus \"none\" not found")
    );
}
