//! Which pods get which nodes (CP-100, CP-101).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::support::{column, create, request, run};

const PODS: &str = "/api/v1/namespaces/default/pods";
const NODE: &str = "/api/v1/nodes/node-0";

fn pod(name: &str, spec: &str) -> String {
    let metadata = format!("{{name: {name}, namespace: default}}");
    format!("apiVersion: v1\nkind: Pod\nmetadata: {metadata}\nspec: {{{spec}}}")
}

/// A pod that asks for so much CPU.
fn needs(name: &str, cpu: &str) -> String {
    let resources = format!("{{requests: {{cpu: {cpu}, memory: 1Gi}}}}");
    pod(name, &format!("containers: [{{name: c, image: i, resources: {resources}}}]"))
}

fn takes_port(name: &str, port: &str) -> String {
    pod(name, &format!("containers: [{{name: c, image: i, ports: [{port}]}}]"))
}

async fn limit(plane: &ControlPlane, allocatable: Value) {
    let patch = json!({"status": {"allocatable": allocatable}});
    request(plane, "PATCH", &format!("{NODE}/status"), &patch.to_string()).await;
}

/// The message of the condition `PodScheduled`; empty if the pod has a node.
async fn refusal(plane: &ControlPlane, name: &str) -> String {
    let pod = request(plane, "GET", &format!("{PODS}/{name}"), "").await;
    let conditions = pod["status"]["conditions"].as_array().unwrap();
    let scheduled = conditions.iter().find(|it| it["type"] == "PodScheduled").unwrap();
    assert_eq!(scheduled["status"] == "True", pod["spec"]["nodeName"] == "node-0");
    scheduled["message"].as_str().unwrap_or_default().to_owned()
}

/// CP-100: a pod gets a node only where there is room for all that it requests, and one that leaves makes
/// room.
#[test]
fn resources_count() {
    run(async |plane| {
        limit(plane, json!({"cpu": "2", "memory": "2Gi", "pods": "10"})).await;
        create(plane, &needs("a", "1500m")).await;
        create(plane, &needs("b", "600m")).await;
        create(plane, &needs("c", "500m")).await;
        assert_eq!(refusal(plane, "a").await, "");
        assert_eq!(refusal(plane, "b").await, "0/1 nodes are available: 1 Insufficient cpu.");
        assert_eq!(refusal(plane, "c").await, "");
        create(plane, &needs("d", "1")).await;
        let both = "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.";
        assert_eq!(refusal(plane, "d").await, both);
        request(plane, "DELETE", &format!("{PODS}/a?gracePeriodSeconds=0"), "").await;
        plane.settled().await.unwrap();
        assert_eq!(refusal(plane, "b").await, "");
        assert_eq!(refusal(plane, "d").await, both);
    });
}

/// CP-100: a node has room for a number of pods; those that have ended do not count.
#[test]
fn the_number_of_pods_counts() {
    run(async |plane| {
        limit(plane, json!({"cpu": "2", "memory": "2Gi", "pods": "1"})).await;
        create(plane, &pod("a", "containers: [{name: c, image: i}]")).await;
        create(plane, &pod("b", "containers: [{name: c, image: i}]")).await;
        assert_eq!(refusal(plane, "b").await, "0/1 nodes are available: 1 Too many pods.");
        let ended = r#"{"status": {"phase": "Failed"}}"#;
        request(plane, "PATCH", &format!("{PODS}/a/status"), ended).await;
        plane.settled().await.unwrap();
        assert_eq!(refusal(plane, "b").await, "");
    });
}

/// CP-100: no two pods of a node take the same port of it, by protocol and address.
#[test]
fn host_ports_count() {
    for (port, is_free) in [
        ("{containerPort: 80, hostPort: 80}", false),
        ("{containerPort: 81, hostPort: 80, hostIP: 10.0.0.1}", false),
        ("{containerPort: 80, hostPort: 80, protocol: UDP}", true),
        ("{containerPort: 80, hostPort: 81}", true),
        ("{containerPort: 80}", true),
    ] {
        run(async |plane| {
            create(plane, &takes_port("a", "{containerPort: 80, hostPort: 80}")).await;
            create(plane, &takes_port("b", port)).await;
            let refused = "0/1 nodes are available: 1 node(s) didn't have free ports for the \
                           requested pod ports.";
            let expected = if is_free { "" } else { refused };
            assert_eq!(refusal(plane, "b").await, expected, "{port}");
        });
    }
}

/// CP-101: a pod waits for its claims: until they are there, and until they have volumes.
#[test]
fn claims_count() {
    run(async |plane| {
        let volume = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]";
        create(plane, &pod("p", &format!("containers: [{{name: c, image: i}}], {volume}"))).await;
        let missing = "0/1 nodes are available: persistentvolumeclaim \"c\" not found.";
        assert_eq!(refusal(plane, "p").await, missing);
        let claim = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: slow
  resources: {requests: {storage: 1Gi}}
";
        create(plane, claim).await;
        let unbound = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.";
        assert_eq!(refusal(plane, "p").await, unbound);
        let class = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: slow}
provisioner: example.com/p
";
        create(plane, class).await;
        plane.advance(std::time::Duration::from_secs(15)).await.unwrap();
        assert_eq!(refusal(plane, "p").await, "");
    });
}

/// CP-76, CP-100: a claim that waits for its consumer gets a volume that the node of this can use.
#[test]
fn a_volume_is_chosen_with_the_node() {
    run(async |plane| {
        let objects = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: local
  resources: {requests: {storage: 1Gi}}
";
        create(plane, objects).await;
        let volume = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]";
        create(plane, &pod("p", &format!("containers: [{{name: c, image: i}}], {volume}"))).await;
        create(plane, &volume_on("far", "node-9")).await;
        let none = "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to \
                    bind.";
        assert_eq!(refusal(plane, "p").await, none);
        create(plane, &volume_on("near", "node-0")).await;
        assert_eq!(refusal(plane, "p").await, "");
        let claim =
            request(plane, "GET", "/api/v1/namespaces/default/persistentvolumeclaims/c", "").await;
        assert_eq!(claim["spec"]["volumeName"], "near");
        let annotations = &claim["metadata"]["annotations"];
        assert_eq!(annotations["volume.kubernetes.io/selected-node"], "node-0");
    });
}

fn volume_on(name: &str, node: &str) -> String {
    format!(
        "
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  capacity: {{storage: 1Gi}}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  local: {{path: /x}}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [{node}]}}]
"
    )
}

/// CP-76: the claim of an ephemeral volume is created for the pod, and goes with it.
#[test]
fn ephemeral_volumes_have_claims() {
    run(async |plane| {
        let template =
            "{spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}";
        let volume =
            format!("volumes: [{{name: v, ephemeral: {{volumeClaimTemplate: {template}}}}}]");
        create(plane, &pod("p", &format!("containers: [{{name: c, image: i}}], {volume}"))).await;
        let path = "/api/v1/namespaces/default/persistentvolumeclaims/p-v";
        let claim = request(plane, "GET", path, "").await;
        assert_eq!(claim["metadata"]["ownerReferences"][0]["kind"], "Pod");
        request(plane, "DELETE", &format!("{PODS}/p"), "").await;
        plane.settled().await.unwrap();
        assert_eq!(request(plane, "GET", path, "").await["code"], 404);
    });
}

/// CP-101: each reason has its message, in the condition and in the event, and both are the same.
#[test]
fn each_reason_has_its_message() {
    let node = "0/1 nodes are available: 1";
    let affinity = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
        [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: none}}}]}}";
    let spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, \
        whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]";
    let taint = r#"{"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}"#;
    let cordon = r#"{"spec": {"unschedulable": true}}"#;
    let claim = "volumes: [{name: v, persistentVolumeClaim: {claimName: none}}]";
    for (patch, spec, reason) in [
        ("{}", "nodeSelector: {a: b}", "node(s) didn't match Pod's node affinity/selector"),
        ("{}", affinity, "node(s) didn't match pod affinity rules"),
        (
            "{}",
            spread,
            "node(s) didn't match pod topology spread constraints (missing required label)",
        ),
        (taint, "", "node(s) had untolerated taint(s)"),
        (cordon, "", "node(s) were unschedulable"),
        (r#"{"status": {"allocatable": {"pods": "0"}}}"#, "", "Too many pods"),
        ("{}", claim, ""),
    ] {
        run(async |plane| {
            let path = match patch.contains("status") {
                true => format!("{NODE}/status"),
                false => NODE.to_owned(),
            };
            request(plane, "PATCH", &path, patch).await;
            plane.settled().await.unwrap();
            let spec = match spec {
                "" => "containers: [{name: c, image: i}]".to_owned(),
                spec => format!("{spec}, containers: [{{name: c, image: i}}]"),
            };
            create(plane, &pod("p", &spec)).await;
            let expected = match reason {
                "" => "0/1 nodes are available: persistentvolumeclaim \"none\" not found.".into(),
                reason => format!("{node} {reason}."),
            };
            assert_eq!(refusal(plane, "p").await, expected);
            let events = "/api/v1/namespaces/default/events";
            assert_eq!(column(plane, events, "/message").await, std::slice::from_ref(&expected));
            assert_eq!(column(plane, events, "/reason").await, ["FailedScheduling"]);
        });
    }
    run(async |plane| {
        request(plane, "DELETE", NODE, "").await;
        create(plane, &pod("p", "containers: [{name: c, image: i}]")).await;
        assert_eq!(refusal(plane, "p").await, "no nodes available to schedule pods");
    });
}

/// CP-101: a pod that no node admits is tried again after 1 s, doubled up to 10 s, then every five minutes,
/// which the event counts, and at once when a node has become another one.
#[test]
fn pods_are_tried_again() {
    run(async |plane| {
        create(plane, &pod("p", "nodeSelector: {a: b}, containers: [{name: c, image: i}]")).await;
        let events = "/api/v1/namespaces/default/events";
        let path = "/api/v1/namespaces/default/pods/p";
        let before = request(plane, "GET", path, "").await;
        let mut count = 1;
        for delay in [1, 2, 4, 8, 10, 300, 300] {
            plane.advance(Duration::from_millis(delay * 1000 - 1)).await.unwrap();
            assert_eq!(column(plane, events, "/count").await, [count.to_string()], "{delay}");
            plane.advance(Duration::from_millis(1)).await.unwrap();
            count += 1;
            assert_eq!(column(plane, events, "/count").await, [count.to_string()], "{delay}");
        }
        // Nothing is written that is there already.
        assert_eq!(request(plane, "GET", path, "").await, before);
        let label = r#"{"metadata": {"labels": {"a": "b"}}}"#;
        request(plane, "PATCH", NODE, label).await;
        plane.settled().await.unwrap();
        assert_eq!(request(plane, "GET", path, "").await["status"]["phase"], "Running");
    });
}
