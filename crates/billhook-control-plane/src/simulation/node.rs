//! Nodes as simulated kubelets register them (CP-102).

use billhook_apimachinery::UserInfo;
use billhook_apiserver::Server;
use serde_json::{Value, json};

use crate::account::Account;
use crate::client::Client;
use crate::clock::Timestamp;
use crate::request::Request;
use crate::resource::NODES;

/// Creates a node as its kubelet registers it. Nothing keeps pods from it.
pub(crate) async fn register(server: &Server, manager: &str, name: &str, now: Timestamp) {
    let user = UserInfo::named(format!("system:node:{name}"));
    let user = user.group("system:nodes").group("system:authenticated");
    let client = Client::new(server.clone(), Account::new(user, manager));
    // There may be a node of this name already.
    client.send(Request::create(&NODES, "", &node(name, now))).await;
    // A server taints new nodes as not ready.
    client.send(Request::merge_patch(&NODES, name, &json!({"spec": {"taints": null}}))).await;
}

/// Returns a node that is ready and has room for any number of pods.
fn node(name: &str, now: Timestamp) -> Value {
    let time = now.to_rfc3339();
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": time, "lastTransitionTime": time,
        })
    };
    let room = json!({"cpu": "1k", "memory": "1Ti", "pods": "1M"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
        }},
        "status": {
            "capacity": room, "allocatable": room,
            "addresses": [
                {"type": "InternalIP", "address": "10.0.0.1"},
                {"type": "Hostname", "address": name},
            ],
            "conditions": [
                condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory",
                    "kubelet has sufficient memory available"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure",
                    "kubelet has no disk pressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID",
                    "kubelet has sufficient PID available"),
                condition("NetworkUnavailable", "False", "RouteCreated",
                    "RouteController created a route"),
            ],
        },
    })
}
