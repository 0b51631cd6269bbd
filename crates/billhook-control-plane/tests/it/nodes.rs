//! Simulated nodes (CP-100 to CP-117).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use billhook_control_plane::simulation::Rule;
use serde_json::Value;

use crate::support::{column, create, request, run, run_with};

const PODS: &str = "/api/v1/namespaces/default/pods";
const POD: &str = "/api/v1/namespaces/default/pods/p";

fn pod(spec: &str) -> String {
    let metadata = "{name: p, namespace: default}";
    format!("apiVersion: v1\nkind: Pod\nmetadata: {metadata}\nspec: {{{spec}}}")
}

async fn status(plane: &ControlPlane) -> Value {
    request(plane, "GET", POD, "").await["status"].clone()
}

fn is_true(status: &Value, kind: &str) -> bool {
    let conditions = status["conditions"].as_array().unwrap();
    let condition = conditions.iter().find(|condition| condition["type"] == kind).unwrap();
    condition["status"] == "True"
}

/// CP-100, CP-111: a pod is bound, gets an address, runs and is ready.
#[test]
fn a_pod_runs() {
    run(async |plane| {
        create(plane, &pod("containers: [{name: c, image: i}]")).await;
        let pod = request(plane, "GET", POD, "").await;
        assert_eq!(pod["spec"]["nodeName"], "node-0");
        let status = &pod["status"];
        assert_eq!(status["phase"], "Running");
        assert_eq!(status["podIP"], "10.244.0.1");
        assert_eq!(status["qosClass"], "BestEffort");
        for kind in ["PodScheduled", "Initialized", "ContainersReady", "Ready"] {
            assert!(is_true(status, kind), "{kind}");
        }
        let started = &status["containerStatuses"][0]["state"]["running"]["startedAt"];
        assert_eq!(started, "2026-01-01T00:00:00Z");
        let managers = column(plane, PODS, "/metadata/managedFields/1/manager").await;
        assert_eq!(managers, ["kubelet"]);
    });
}

/// CP-111: init containers run one after the other; sidecars stay.
#[test]
fn init_containers_come_first() {
    run(async |plane| {
        let init =
            "initContainers: [{name: a, image: i}, {name: b, image: i, restartPolicy: Always}]";
        create(plane, &pod(&format!("{init}, containers: [{{name: c, image: i}}]"))).await;
        let status = status(plane).await;
        let init = &status["initContainerStatuses"];
        assert_eq!(init[0]["state"]["terminated"]["reason"], "Completed");
        assert_eq!(init[0]["ready"], true);
        assert!(init[1]["state"].get("running").is_some());
        assert!(is_true(&status, "Ready"));
    });
}

/// CP-112: an init container that fails ends a pod that is never restarted.
#[test]
fn a_failed_init_container_ends_the_pod() {
    let fails = Rule::pods("p").container("a").exits(2);
    run_with(
        |builder| builder.simulate(fails),
        async |plane| {
            let spec = "restartPolicy: Never, initContainers: [{name: a, image: i}], \
                    containers: [{name: c, image: i}]";
            create(plane, &pod(spec)).await;
            assert_eq!(status(plane).await["phase"], "Failed");
        },
    );
}

/// CP-111: a readiness gate stays under the control of the test.
#[test]
fn readiness_gates_count() {
    run(async |plane| {
        let spec = "readinessGates: [{conditionType: x/gate}], containers: [{name: c, image: i}]";
        create(plane, &pod(spec)).await;
        let before = status(plane).await;
        assert!(is_true(&before, "ContainersReady") && !is_true(&before, "Ready"));
        let condition = r#"{"type": "x/gate", "status": "True"}"#;
        let mut conditions = before["conditions"].as_array().unwrap().clone();
        conditions.push(serde_json::from_str(condition).unwrap());
        let patch = serde_json::json!({"status": {"conditions": conditions}}).to_string();
        request(plane, "PATCH", &format!("{POD}/status"), &patch).await;
        plane.settled().await.unwrap();
        assert!(is_true(&status(plane).await, "Ready"));
    });
}

/// CP-113: the first restart is at once, the next ones wait 10 s, 20 s and so on.
#[test]
fn a_container_crash_loops() {
    let crashes = Rule::pods("p").exits(1);
    run_with(
        |builder| builder.simulate(crashes),
        async |plane| {
            create(plane, &pod("containers: [{name: c, image: i}]")).await;
            let state = async || status(plane).await["containerStatuses"][0].clone();
            let waiting = state().await;
            assert_eq!(waiting["restartCount"], 1);
            assert_eq!(waiting["state"]["waiting"]["reason"], "CrashLoopBackOff");
            assert_eq!(waiting["lastState"]["terminated"]["exitCode"], 1);
            let message = waiting["state"]["waiting"]["message"].as_str().unwrap();
            assert!(
                message.starts_with("back-off 10s restarting failed container=c pod=p_default(")
            );
            plane.advance(Duration::from_secs(9)).await.unwrap();
            assert_eq!(state().await["restartCount"], 1);
            plane.advance(Duration::from_secs(1)).await.unwrap();
            assert_eq!(state().await["restartCount"], 2);
            plane.advance(Duration::from_secs(20)).await.unwrap();
            assert_eq!(state().await["restartCount"], 3);
            assert_eq!(status(plane).await["phase"], "Running");
        },
    );
}

/// CP-115: a container crashes a number of times, then it runs.
#[test]
fn a_container_recovers() {
    let crashes = Rule::pods("p").exits(1).times(2);
    run_with(
        |builder| builder.simulate(crashes),
        async |plane| {
            create(plane, &pod("containers: [{name: c, image: i}]")).await;
            plane.advance(Duration::from_secs(10)).await.unwrap();
            let status = status(plane).await;
            assert_eq!(status["containerStatuses"][0]["restartCount"], 2);
            assert!(is_true(&status, "Ready"));
        },
    );
}

/// CP-112: the exit codes and the restart policy decide the phase.
#[test]
fn the_phase_follows_from_exit_codes() {
    for (policy, code, phase) in [
        ("Never", 0, "Succeeded"),
        ("Never", 3, "Failed"),
        ("OnFailure", 0, "Succeeded"),
        ("OnFailure", 3, "Running"),
        ("Always", 0, "Running"),
    ] {
        let exits = Rule::pods("p").container("c").exits(code).after(Duration::from_secs(3));
        run_with(
            |builder| builder.simulate(exits),
            async |plane| {
                let spec = format!("restartPolicy: {policy}, containers: [{{name: c, image: i}}]");
                create(plane, &pod(&spec)).await;
                assert_eq!(status(plane).await["phase"], "Running");
                plane.advance(Duration::from_secs(3)).await.unwrap();
                assert_eq!(status(plane).await["phase"], phase, "{policy} {code}");
            },
        );
    }
}

/// CP-116: what else may happen to a pod.
#[test]
fn rules_decide_what_happens() {
    let seconds = Duration::from_secs;
    let of = || Rule::pods("default/p*");
    for (rule, phase, pointer, value) in [
        (of().stay_pending(), "Pending", "/nodeName", ""),
        (
            of().fail_to_pull(),
            "Pending",
            "/containerStatuses/0/state/waiting/reason",
            "ImagePullBackOff",
        ),
        (of().never_get_ready(), "Running", "/conditions/3/reason", "ContainersNotReady"),
        (of().start().after(seconds(5)), "Running", "/startTime", "2026-01-01T00:00:00Z"),
        (of().get_ready().after(seconds(60)), "Running", "/conditions/3/status", "False"),
        (of().are_evicted().after(seconds(2)), "Failed", "/reason", "Evicted"),
        (
            of().run_out_of_memory(),
            "Running",
            "/containerStatuses/0/lastState/terminated/reason",
            "OOMKilled",
        ),
    ] {
        run_with(
            |builder| builder.simulate(rule.clone()),
            async |plane| {
                create(plane, &pod("containers: [{name: c, image: i}]")).await;
                plane.advance(seconds(8)).await.unwrap();
                let status = status(plane).await;
                assert_eq!(status["phase"], phase, "{rule:?}");
                let found = status.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                assert_eq!(found, value, "{rule:?}: {status}");
            },
        );
    }
}

/// CP-114: containers are stopped, then the pod goes; one that ignores SIGTERM is killed when its
/// grace period is over.
#[test]
fn a_deleted_pod_is_stopped() {
    let ignores = Rule::pods("p").ignore_sigterm();
    run_with(
        |builder| builder.simulate(ignores),
        async |plane| {
            create(plane, &pod("containers: [{name: c, image: i}]")).await;
            let deleted = request(plane, "DELETE", POD, "").await;
            assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], 30);
            plane.advance(Duration::from_secs(29)).await.unwrap();
            assert_eq!(column(plane, PODS, "/status/phase").await, ["Running"]);
            plane.simulate_nothing().await;
            plane.settled().await.unwrap();
            assert_eq!(column(plane, PODS, "/status/phase").await, [""; 0]);
        },
    );
}

/// CP-101: gates, unschedulable nodes and taints keep a pod from a node.
#[test]
fn a_pod_waits_for_a_node() {
    run(async |plane| {
        let node = "/api/v1/nodes/node-0";
        request(plane, "PATCH", node, r#"{"spec": {"unschedulable": true}}"#).await;
        create(plane, &pod("containers: [{name: c, image: i}]")).await;
        let status = status(plane).await;
        assert_eq!(status["phase"], "Pending");
        assert_eq!(status["conditions"][0]["reason"], "Unschedulable");
        let message = "0/1 nodes are available: 1 node(s) were unschedulable.";
        assert_eq!(status["conditions"][0]["message"], message);
        request(plane, "PATCH", node, r#"{"spec": {"unschedulable": null}}"#).await;
        plane.settled().await.unwrap();
        assert_eq!(column(plane, PODS, "/status/phase").await, ["Running"]);
    });
}

/// CP-102: a simulated node has a lease, which is renewed as time passes.
#[test]
fn a_simulated_node_renews_its_lease() {
    let path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-0";
    run(async |plane| {
        plane.settled().await.unwrap();
        let lease = request(plane, "GET", path, "").await;
        assert_eq!(lease["spec"]["holderIdentity"], "node-0");
        assert_eq!(lease["spec"]["leaseDurationSeconds"], 40);
        assert_eq!(lease["spec"]["renewTime"], "2026-01-01T00:00:00.000000Z");
        assert_eq!(lease["metadata"]["ownerReferences"][0]["kind"], "Node");
        plane.advance(Duration::from_secs(3600)).await.unwrap();
        let renewed = request(plane, "GET", path, "").await;
        assert_eq!(renewed["spec"]["renewTime"], "2026-01-01T01:00:00.000000Z");
        // Idle time costs nothing.
        let versions = [&lease, &renewed].map(|it| it["metadata"]["resourceVersion"].clone());
        let versions = versions.map(|it| it.as_str().unwrap().parse::<u64>().unwrap());
        assert!(versions[1] - versions[0] < 20, "{versions:?}");
    });
}
