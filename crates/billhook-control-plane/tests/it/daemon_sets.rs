//! DaemonSets (CP-58, CP-59).

use std::time::Duration;

use billhook_control_plane::simulation::Rule;
use billhook_control_plane::{ControlPlane, ControlPlaneBuilder};
use serde_json::Value;

use crate::support::{column, create, request, run_with};

const PATH: &str = "/apis/apps/v1/namespaces/default/daemonsets/agent";
const PODS: &str = "/api/v1/namespaces/default/pods";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn daemon_set(strategy: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent, namespace: default}}
spec:
  updateStrategy: {strategy}
  selector: {{matchLabels: {{app: agent}}}}
  template:
    metadata: {{labels: {{app: agent}}}}
    spec: {{terminationGracePeriodSeconds: 1, containers: [{{name: c, image: i}}]}}
"
    )
}

fn four_nodes(builder: ControlPlaneBuilder) -> ControlPlaneBuilder {
    builder.nodes(["n1", "n2", "n3", "n4"])
}

async fn pass(plane: &ControlPlane, seconds: u64) {
    plane.advance(Duration::from_secs(seconds)).await.unwrap();
}

async fn set_image(plane: &ControlPlane) {
    let patch =
        r#"{"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}}"#;
    request(plane, "PATCH", PATH, patch).await;
    plane.settled().await.unwrap();
}

async fn status(plane: &ControlPlane) -> Value {
    request(plane, "GET", PATH, "").await["status"].take()
}

/// Returns the nodes of the pods, sorted.
async fn nodes(plane: &ControlPlane) -> Vec<String> {
    let mut nodes = column(plane, PODS, "/spec/nodeName").await;
    nodes.sort();
    nodes
}

/// CP-58: which taints keep pods away, and which ones drive them out.
#[test]
fn taints_decide_about_nodes() {
    run_with(four_nodes, async |plane| {
        create(plane, &daemon_set("{type: RollingUpdate}")).await;
        assert_eq!(nodes(plane).await, ["n1", "n2", "n3", "n4"]);
        let taint = |key: &str, effect: &str| {
            format!(r#"{{"spec": {{"taints": [{{"key": {key:?}, "effect": {effect:?}}}]}}}}"#)
        };
        let cases = [
            ("n1", taint("example.com/own", "NoSchedule")),
            ("n2", taint("example.com/own", "NoExecute")),
            ("n3", taint("node.kubernetes.io/disk-pressure", "NoSchedule")),
            ("n4", r#"{"spec": {"unschedulable": true}}"#.to_owned()),
        ];
        for (node, change) in &cases {
            request(plane, "PATCH", &format!("/api/v1/nodes/{node}"), change).await;
        }
        pass(plane, 5).await;
        assert_eq!(nodes(plane).await, ["n1", "n3", "n4"]);
        let status = status(plane).await;
        assert_eq!(status["desiredNumberScheduled"], 2);
        assert_eq!(status["numberMisscheduled"], 1);
        request(plane, "DELETE", PODS, "").await;
        pass(plane, 5).await;
        assert_eq!(nodes(plane).await, ["n3", "n4"]);
    });
}

/// CP-59: so many nodes are without an available pod at one time, in percent rounded up.
#[test]
fn an_update_replaces_pods_in_steps() {
    for (limit, at_once) in [("1", 1), ("'30%'", 2), ("4", 4)] {
        let slow = |builder| {
            let rule = Rule::pods("agent-*").start().after(Duration::from_secs(10));
            four_nodes(builder).simulate(rule)
        };
        run_with(slow, async |plane| {
            let strategy =
                format!("{{type: RollingUpdate, rollingUpdate: {{maxUnavailable: {limit}}}}}");
            create(plane, &daemon_set(&strategy)).await;
            pass(plane, 15).await;
            set_image(plane).await;
            pass(plane, 5).await;
            assert_eq!(status(plane).await["numberUnavailable"], at_once, "{limit}");
            pass(plane, 100).await;
            assert_eq!(column(plane, PODS, "/spec/containers/0/image").await, ["j"; 4], "{limit}");
        });
    }
}

/// CP-59: with a surge a new pod is beside the old one until it is available.
#[test]
fn an_update_may_surge() {
    let slow = |builder| {
        let rule = Rule::pods("agent-*").start().after(Duration::from_secs(10));
        four_nodes(builder).simulate(rule)
    };
    run_with(slow, async |plane| {
        let strategy = "{type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 2}}";
        create(plane, &daemon_set(strategy)).await;
        pass(plane, 15).await;
        set_image(plane).await;
        assert_eq!(nodes(plane).await.len(), 6);
        assert_eq!(status(plane).await["numberAvailable"], 4);
        pass(plane, 100).await;
        assert_eq!(column(plane, PODS, "/spec/containers/0/image").await, ["j"; 4]);
        assert_eq!(status(plane).await["updatedNumberScheduled"], 4);
    });
}

/// CP-58: a pod that fails is replaced, each time after twice as long.
#[test]
fn failed_pods_are_replaced() {
    let failing = |builder: ControlPlaneBuilder| {
        builder.simulate(Rule::pods("agent-*").are_evicted().after(Duration::from_secs(1)))
    };
    run_with(failing, async |plane| {
        create(plane, &daemon_set("{type: RollingUpdate}")).await;
        pass(plane, 30).await;
        let reasons = column(plane, EVENTS, "/reason").await;
        let counts = column(plane, EVENTS, "/count").await;
        let deletions =
            reasons.iter().zip(&counts).filter(|(reason, _)| *reason == "FailedDaemonPod");
        let deletions: i64 = deletions.map(|(_, count)| count.parse::<i64>().unwrap()).sum();
        // After 1 s, then 1, 2, 4, 8 and 16 s later at the earliest.
        assert_eq!(deletions, 5);
    });
}

/// CP-59: of two revisions of one template the one with the higher number stays, and the pods of the other
/// are not replaced.
#[test]
fn revisions_of_one_template_are_merged() {
    run_with(four_nodes, async |plane| {
        create(plane, &daemon_set("{type: RollingUpdate}")).await;
        let before = column(plane, PODS, "/metadata/name").await;
        let revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
        let list = request(plane, "GET", revisions, "").await;
        let mut copy = list["items"][0].clone();
        copy["apiVersion"] = "apps/v1".into();
        copy["kind"] = "ControllerRevision".into();
        copy["revision"] = 7.into();
        copy["metadata"]["name"] = "agent-copy".into();
        copy["metadata"]["labels"]["controller-revision-hash"] = "copy".into();
        for name in ["resourceVersion", "uid", "creationTimestamp", "managedFields"] {
            copy["metadata"].as_object_mut().unwrap().remove(name);
        }
        request(plane, "POST", revisions, &copy.to_string()).await;
        plane.settled().await.unwrap();
        assert_eq!(column(plane, revisions, "/metadata/name").await, ["agent-copy"]);
        assert_eq!(column(plane, PODS, "/metadata/name").await, before);
        let hashes = column(plane, PODS, "/metadata/labels/controller-revision-hash").await;
        assert_eq!(hashes, ["copy"; 4]);
    });
}
