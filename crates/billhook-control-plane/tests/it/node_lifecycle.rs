//! Silent nodes, taints, and the pods on them (CP-85 to CP-87).

use std::collections::BTreeSet;
use std::time::Duration;

use billhook_apiserver::Server;
use billhook_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::support::{column, create, request, run, run_with};

const NODE: &str = "/api/v1/nodes/n1";
const POD: &str = "/api/v1/namespaces/default/pods/p";

/// Creates a node whose kubelet says that it is ready, once.
async fn register(plane: &ControlPlane) {
    create(plane, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}").await;
    let time = plane.clock().now().to_rfc3339();
    let ready = json!({"type": "Ready", "status": "True", "lastHeartbeatTime": time});
    let status = json!({"status": {"conditions": [ready]}});
    request(plane, "PATCH", &format!("{NODE}/status"), &status.to_string()).await;
    plane.settled().await.unwrap();
}

async fn create_pod(plane: &ControlPlane, spec: &str) {
    let pod = format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: p, namespace: default}}
spec: {{nodeName: n1, terminationGracePeriodSeconds: 0, containers: [{{name: c, image: i}}]{spec}}}
"
    );
    create(plane, &pod).await;
}

async fn get(plane: &ControlPlane, path: &str) -> Value {
    request(plane, "GET", path, "").await
}

async fn taints(plane: &ControlPlane) -> Vec<String> {
    let node = get(plane, NODE).await;
    let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
    let text = |taint: Value| {
        let key = taint["key"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        format!("{key}:{}", taint["effect"].as_str().unwrap())
    };
    taints.into_iter().map(text).collect()
}

/// CP-85: a node that is not heard of for 50 seconds is unreachable.
#[test]
fn a_silent_node_is_unreachable() {
    run(async |plane| {
        register(plane).await;
        create_pod(plane, "").await;
        plane.advance(Duration::from_secs(49)).await.unwrap();
        assert_eq!(taints(plane).await, [""; 0]);
        plane.advance(Duration::from_secs(2)).await.unwrap();
        let node = get(plane, NODE).await;
        let conditions = node["status"]["conditions"].as_array().unwrap();
        assert_eq!(conditions.len(), 4);
        let ready = conditions.iter().find(|it| it["type"] == "Ready").unwrap();
        assert_eq!(ready["status"], "Unknown");
        assert_eq!(ready["reason"], "NodeStatusUnknown");
        assert_eq!(ready["message"], "Kubelet stopped posting node status.");
        assert_eq!(taints(plane).await, ["unreachable:NoSchedule", "unreachable:NoExecute"]);
        let reasons = column(plane, "/api/v1/events", "/reason").await;
        assert!(reasons.contains(&"NodeNotReady".to_owned()), "{reasons:?}");
        // Admission lets pods stay for five minutes.
        assert_eq!(get(plane, POD).await["metadata"]["deletionTimestamp"], Value::Null);
        plane.advance(Duration::from_secs(301)).await.unwrap();
        assert_eq!(get(plane, POD).await["kind"], "Status");
    });
}

/// CP-85, CP-102: a simulated node is heard of until it loses its annotation.
#[test]
fn a_simulated_node_may_fall_silent() {
    let path = "/api/v1/nodes/node-0";
    run(async |plane| {
        plane.advance(Duration::from_secs(3600)).await.unwrap();
        assert_eq!(get(plane, path).await["spec"]["taints"], Value::Null);
        let silent = r#"{"metadata": {"annotations": {"billhook.dev/simulated": null}}}"#;
        request(plane, "PATCH", path, silent).await;
        plane.advance(Duration::from_secs(51)).await.unwrap();
        let taints = get(plane, path).await["spec"]["taints"].clone();
        assert_eq!(taints[0]["key"], "node.kubernetes.io/unreachable");
    });
}

/// CP-102: a simulated node that a client creates is ready, and has the room that it is given, or as much
/// as there may be.
#[test]
fn simulated_nodes_of_clients_are_ready() {
    run(async |plane| {
        let metadata = |name| {
            format!("metadata: {{name: {name}, annotations: {{billhook.dev/simulated: \"true\"}}}}")
        };
        let (large, small) = (metadata("large"), metadata("small"));
        let nodes = format!(
            "apiVersion: v1\nkind: Node\n{large}\n---\napiVersion: v1\nkind: Node\n{small}\n\
             status: {{capacity: {{cpu: '2', memory: 4Gi, pods: '3'}}}}"
        );
        create(plane, &nodes).await;
        for (name, pods) in [("large", "1M"), ("small", "3")] {
            let node = get(plane, &format!("/api/v1/nodes/{name}")).await;
            let status = &node["status"];
            let conditions = status["conditions"].as_array().unwrap();
            assert_eq!(conditions.len(), 5, "{name}");
            let ready = conditions.iter().find(|it| it["type"] == "Ready").unwrap();
            assert_eq!(
                (&ready["status"], &ready["reason"]),
                (&"True".into(), &"KubeletReady".into())
            );
            assert_eq!(status["capacity"]["pods"], pods);
            assert_eq!(status["allocatable"]["pods"], pods);
            assert_eq!(status["addresses"][1]["address"], name);
            assert_eq!(node["spec"]["taints"], Value::Null);
        }
        plane.advance(Duration::from_secs(3600)).await.unwrap();
        assert_eq!(get(plane, "/api/v1/nodes/large").await["spec"]["taints"], Value::Null);
    });
}

/// CP-102: pods come to such a node where no controller looks after taints; other taints stay.
#[test]
fn simulated_nodes_of_clients_need_no_controllers() {
    run_with(
        |builder| builder.controllers(Vec::new()),
        async |plane| {
            let node = "
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1}
  annotations: {billhook.dev/simulated: 'true'}
spec: {taints: [{key: a, effect: NoSchedule}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  nodeSelector: {kubernetes.io/hostname: n1}
  tolerations: [{key: a, operator: Exists}]
  containers: [{name: c, image: i}]
";
            create(plane, node).await;
            let taints = get(plane, "/api/v1/nodes/n1").await["spec"]["taints"].clone();
            assert_eq!(taints, serde_json::json!([{"key": "a", "effect": "NoSchedule"}]));
            assert_eq!(get(plane, POD).await["status"]["phase"], "Running");
        },
    );
}

/// CP-85, CP-102: a node that was silent says that it is ready when it is simulated again; what a client
/// says about one that is simulated stays.
#[test]
fn a_silent_node_comes_back() {
    let path = "/api/v1/nodes/node-0";
    run(async |plane| {
        let ready = async || {
            let node = get(plane, path).await;
            let conditions = node["status"]["conditions"].as_array().unwrap().clone();
            let ready = conditions.into_iter().find(|it| it["type"] == "Ready").unwrap();
            (ready["status"].as_str().unwrap().to_owned(), node["spec"]["taints"].is_null())
        };
        let annotated = |value: &str| {
            format!(r#"{{"metadata": {{"annotations": {{"billhook.dev/simulated": {value}}}}}}}"#)
        };
        request(plane, "PATCH", path, &annotated("null")).await;
        plane.advance(Duration::from_secs(51)).await.unwrap();
        assert_eq!(ready().await, ("Unknown".to_owned(), false));
        request(plane, "PATCH", path, &annotated(r#""true""#)).await;
        plane.settled().await.unwrap();
        assert_eq!(ready().await, ("True".to_owned(), true));
        for status in ["False", "Unknown"] {
            let said = format!(
                r#"{{"status": {{"conditions": [{{"type": "Ready", "status": "{status}", "reason": "Said"}}]}}}}"#
            );
            request(plane, "PATCH", &format!("{path}/status"), &said).await;
            plane.advance(Duration::from_secs(60)).await.unwrap();
            assert_eq!(ready().await, (status.to_owned(), false));
        }
    });
}

/// CP-85: two nodes that fall silent at the same time are left ten seconds after each other.
#[test]
fn nodes_are_left_one_by_one() {
    run(async |plane| {
        let nodes = ["a1", "b1"]
            .map(|name| format!("apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n---\n"));
        create(plane, &nodes.concat()).await;
        let left = async || {
            let nodes = get(plane, "/api/v1/nodes").await;
            nodes.to_string().matches("NoExecute").count()
        };
        plane.advance(Duration::from_secs(61)).await.unwrap();
        assert_eq!(left().await, 1);
        plane.advance(Duration::from_secs(10)).await.unwrap();
        assert_eq!(left().await, 2);
    });
}

/// CP-85: a lease that is renewed is enough.
#[test]
fn a_lease_keeps_a_node() {
    run(async |plane| {
        register(plane).await;
        let lease = |time: String| {
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": "n1", "namespace": "kube-node-lease"},
                "spec": {"holderIdentity": "n1", "renewTime": time},
            })
        };
        plane.advance(Duration::from_secs(40)).await.unwrap();
        let time = plane.clock().now().to_rfc3339().replace('Z', ".000000Z");
        let path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
        request(plane, "POST", path, &lease(time).to_string()).await;
        plane.advance(Duration::from_secs(40)).await.unwrap();
        assert_eq!(taints(plane).await, [""; 0]);
        plane.advance(Duration::from_secs(11)).await.unwrap();
        assert_eq!(taints(plane).await.len(), 2);
    });
}

/// CP-85: taints follow conditions, and those of others stay.
#[test]
fn taints_follow_conditions() {
    let cases = [
        ("Ready", "False", vec!["not-ready:NoSchedule", "not-ready:NoExecute"]),
        ("MemoryPressure", "True", vec!["memory-pressure:NoSchedule"]),
        ("DiskPressure", "True", vec!["disk-pressure:NoSchedule"]),
        ("PIDPressure", "True", vec!["pid-pressure:NoSchedule"]),
        ("NetworkUnavailable", "True", vec!["network-unavailable:NoSchedule"]),
        ("MemoryPressure", "False", vec![]),
    ];
    for (kind, status, mut expected) in cases {
        run(async |plane| {
            register(plane).await;
            let own = r#"{"spec": {"taints": [{"key": "own", "effect": "NoSchedule"}]}}"#;
            request(plane, "PATCH", NODE, own).await;
            let status = json!({"status": {"conditions": [{"type": kind, "status": status}]}});
            request(plane, "PATCH", &format!("{NODE}/status"), &status.to_string()).await;
            plane.settled().await.unwrap();
            expected.insert(0, "own:NoSchedule");
            assert_eq!(taints(plane).await, expected, "{kind}");
        });
    }
}

/// CP-85: a pod leaves a node when its tolerations end, or at once.
#[test]
fn pods_leave_a_tainted_node() {
    let cases = [
        ("", Some(0)),
        (", tolerations: [{key: x, operator: Exists}]", None),
        (", tolerations: [{key: x, operator: Exists, tolerationSeconds: 30}]", Some(30)),
        (", tolerations: [{key: x, operator: Equal, value: z}]", Some(0)),
    ];
    for (tolerations, stays) in cases {
        let tolerations = tolerations.replace("Exists", "Exists, effect: NoExecute");
        run(async |plane| {
            register(plane).await;
            create_pod(plane, &tolerations).await;
            let taint =
                r#"{"spec": {"taints": [{"key": "x", "value": "y", "effect": "NoExecute"}]}}"#;
            request(plane, "PATCH", NODE, taint).await;
            plane.settled().await.unwrap();
            for second in 0..40 {
                let is_there = get(plane, POD).await["kind"] == "Pod";
                assert_eq!(
                    is_there,
                    stays.is_none_or(|stays| second < stays),
                    "{tolerations} {second}"
                );
                plane.advance(Duration::from_secs(1)).await.unwrap();
            }
        });
    }
}

/// CP-86: pods of a node that is gone fail and are deleted after 40 seconds.
#[test]
fn pods_of_a_missing_node_go() {
    run(async |plane| {
        register(plane).await;
        create_pod(plane, "").await;
        request(plane, "PATCH", POD, r#"{"metadata": {"finalizers": ["x/y"]}}"#).await;
        request(plane, "DELETE", NODE, "").await;
        plane.settled().await.unwrap();
        plane.advance(Duration::from_secs(39)).await.unwrap();
        assert_eq!(get(plane, POD).await["status"]["phase"], "Running");
        plane.advance(Duration::from_secs(2)).await.unwrap();
        let pod = get(plane, POD).await;
        assert_eq!(pod["status"]["phase"], "Failed");
        let conditions = pod["status"]["conditions"].as_array().unwrap();
        let target = conditions.iter().find(|it| it["type"] == "DisruptionTarget").unwrap();
        assert_eq!(target["reason"], "DeletionByPodGC");
        assert_eq!(target["message"], "PodGC: node no longer exists");
        assert_ne!(pod["metadata"]["deletionTimestamp"], Value::Null);
    });
}

/// CP-87: the annotation for kubelets.
#[test]
fn nodes_say_how_long_things_may_be_kept() {
    run(async |plane| {
        register(plane).await;
        let annotations = get(plane, NODE).await["metadata"]["annotations"].clone();
        assert_eq!(annotations["node.alpha.kubernetes.io/ttl"], "0");
    });
}

/// CP-85: the pods of a silent node are not ready, and stay when they are deleted, until its kubelet
/// answers again.
#[test]
fn nobody_looks_after_the_pods_of_a_silent_node() {
    let (node, pod) = ("/api/v1/nodes/node-0", "/api/v1/namespaces/default/pods/p");
    run(async |plane| {
        create(
            plane,
            "
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: i}]}
",
        )
        .await;
        let ready = async || {
            let pod = get(plane, pod).await;
            let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.into_iter().find(|it| it["type"] == "Ready").map(|it| it["status"].clone())
        };
        assert_eq!(ready().await, Some("True".into()));
        let silent = r#"{"metadata": {"annotations": {"billhook.dev/simulated": null}}}"#;
        request(plane, "PATCH", node, silent).await;
        plane.advance(Duration::from_secs(60)).await.unwrap();
        assert_eq!(ready().await, Some("False".into()));
        plane.advance(Duration::from_secs(600)).await.unwrap();
        assert!(get(plane, pod).await["metadata"]["deletionTimestamp"].is_string());
        let status = r#"{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}"#;
        request(plane, "PATCH", &format!("{node}/status"), status).await;
        plane.advance(Duration::from_secs(2)).await.unwrap();
        assert_eq!(get(plane, pod).await["code"], 404);
    });
}

/// CP-01: each node is a user of its own.
#[test]
fn the_status_of_a_pod_is_written_by_its_node() {
    let server = || Server::builder().bootstrap().log_requests();
    run_with(
        |builder| builder.nodes(["a", "b"]).server(server()),
        async |plane| {
            for node in ["a", "b"] {
                let pod = format!(
                    "
apiVersion: v1
kind: Pod
metadata: {{name: on-{node}, namespace: default}}
spec: {{nodeName: {node}, containers: [{{name: c, image: i}}]}}
"
                );
                create(plane, &pod).await;
            }
            let requests = plane.server().requests();
            for node in ["a", "b"] {
                let user = format!("system:node:{node}");
                let writes = requests.by(&user).writes().of("pods");
                let names: BTreeSet<String> = writes.iter().map(|it| it.name.clone()).collect();
                assert_eq!(names, BTreeSet::from([format!("on-{node}")]));
            }
        },
    );
}
