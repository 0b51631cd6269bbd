//! Nodes as simulated kubelets register them (CP-102).

use billhook_apimachinery::UserInfo;
use billhook_apiserver::Server;
use serde_json::{Value, json};

use super::status::HOST;
use crate::account::Account;
use crate::client::Client;
use crate::clock::Timestamp;
use crate::controllers::SIMULATED;
use crate::object::Object;
use crate::request::Request;
use crate::resource::{CLUSTER_ROLE_BINDINGS, NODES, SELF_SUBJECT_ACCESS_REVIEWS};

/// The group of all nodes, and the role that they have.
const GROUP: &str = "system:nodes";
const ROLE: &str = "system:node";
/// The binding that lets simulated nodes work where roles decide what users may do.
const BINDING: &str = "billhook:nodes";

/// Returns the account of a node.
pub(super) fn account(manager: &str, name: &str) -> Account {
    Account::new(user(name), manager)
}

/// Returns the user that a node is.
pub(super) fn user(name: &str) -> UserInfo {
    let user = UserInfo::named(format!("system:node:{name}"));
    user.group(GROUP).group("system:authenticated")
}

/// Returns whether the kubelet of a node is there, if known.
pub(super) fn is_heard_of(node: &Object) -> bool {
    let ready = node.condition("Ready").and_then(|ready| ready.get("status"));
    ready.is_none_or(|status| status != "Unknown")
}

/// Returns the version of a server, which kubelets have, too.
pub(crate) async fn version(server: &Server, manager: &str) -> Value {
    let client = Client::new(server.clone(), account(manager, "node-0"));
    let version = client.send(Request::read("/version")).await;
    version.object().get("gitVersion").cloned().unwrap_or_default()
}

/// Creates a node as its kubelet registers it. Nothing keeps pods from it.
pub(crate) async fn register(
    server: &Server,
    manager: &str,
    name: &str,
    version: &Value,
    now: Timestamp,
) {
    let client = Client::new(server.clone(), account(manager, name));
    // There may be a node of this name already.
    client.send(Request::create(&NODES, "", &node(name, version, now))).await;
    // A server taints new nodes as not ready.
    client.send(Request::merge_patch(&NODES, name, &json!({"spec": {"taints": null}}))).await;
}

/// Lets nodes do what they have to, if they may not yet.
pub(crate) async fn permit(server: &Server, manager: &str) {
    let client = Client::new(server.clone(), account(manager, "node-0"));
    let asked = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "create", "resource": "nodes"}},
    });
    let answer = client.send(Request::create(&SELF_SUBJECT_ACCESS_REVIEWS, "", &asked)).await;
    if answer.object().pointer("/status/allowed") == Some(&Value::Bool(true)) {
        return;
    }
    let server_itself = UserInfo::named("system:apiserver").group("system:masters");
    let client = Client::new(server.clone(), Account::new(server_itself, "kube-apiserver"));
    let group = "rbac.authorization.k8s.io";
    let binding = json!({
        "apiVersion": format!("{group}/v1"), "kind": "ClusterRoleBinding",
        "metadata": {"name": BINDING},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": ROLE},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": GROUP}],
    });
    // There may be such a binding already.
    client.send(Request::create(&CLUSTER_ROLE_BINDINGS, "", &binding)).await;
}

/// Returns a node of a version that is ready and has room for any number of pods.
fn node(name: &str, version: &Value, now: Timestamp) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "annotations": {SIMULATED: "true"}, "labels": {
            "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
        }},
        "status": {
            "capacity": room(), "allocatable": room(), "nodeInfo": info(version),
            "addresses": places(name), "conditions": conditions(now),
        },
    })
}

/// Returns the room of a node.
pub(super) fn room() -> Value {
    json!({"cpu": "1k", "memory": "1Ti", "pods": "1M"})
}

/// Returns what a kubelet of a version says of its machine.
pub(super) fn info(version: &Value) -> Value {
    json!({"architecture": "amd64", "kubeletVersion": version, "operatingSystem": "linux"})
}

/// Returns the addresses of a node.
pub(super) fn places(name: &str) -> Value {
    json!([
        {"type": "InternalIP", "address": HOST},
        {"type": "Hostname", "address": name},
    ])
}

/// Returns the conditions of a node that is ready.
pub(super) fn conditions(now: Timestamp) -> Vec<Value> {
    let time = now.to_rfc3339();
    let conditions = [
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        (
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
    ];
    let conditions = conditions.into_iter().map(|(kind, status, reason, message)| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": time, "lastTransitionTime": time,
        })
    });
    conditions.collect()
}
