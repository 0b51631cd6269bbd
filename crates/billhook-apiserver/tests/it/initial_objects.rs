//! The objects that a cluster begins with (BK-680).

use billhook_apimachinery::KubernetesVersion;
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{call, text};

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
    assert_eq!(server.dump().await.unwrap().matches("kind: ClusterRole").count(), 0);
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
