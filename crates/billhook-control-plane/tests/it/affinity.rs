//! Pods that are placed by what other pods are where (CP-100, CP-101).

use std::collections::BTreeMap;

use billhook_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::support::{column, create, request, run_with};

const PODS: &str = "/api/v1/namespaces/default/pods";

/// Runs a test on the nodes `a1`, `a2` and `b1`, whose first letter is their zone.
fn run(test: impl AsyncFnOnce(&ControlPlane)) {
    run_with(
        |builder| builder.nodes(["a1", "a2", "b1"]).preempt_pods(),
        async |plane| {
            for (node, zone) in [("a1", "a"), ("a2", "a"), ("b1", "b")] {
                let patch = json!({"metadata": {"labels": {"zone": zone}}});
                request(plane, "PATCH", &format!("/api/v1/nodes/{node}"), &patch.to_string()).await;
            }
            plane.settled().await.unwrap();
            test(plane).await;
        },
    );
}

/// A pod with the label `app`, and more in its spec.
fn pod(name: &str, app: &str, more: &Value) -> String {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    pod["spec"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    pod.to_string()
}

/// The term of pods with the label `app`, near each other by a label of nodes.
fn term(app: &str, label: &str) -> Value {
    json!([{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": label}])
}

fn near(app: &str, label: &str) -> Value {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    json!({"affinity": {"podAffinity": {required: term(app, label)}}})
}

fn far(app: &str, label: &str) -> Value {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    json!({"affinity": {"podAntiAffinity": {required: term(app, label)}}})
}

async fn node_of(plane: &ControlPlane, name: &str) -> String {
    let pod = request(plane, "GET", &format!("{PODS}/{name}"), "").await;
    pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned()
}

/// Why a pod has no node.
async fn refusal(plane: &ControlPlane, name: &str) -> String {
    let pod = request(plane, "GET", &format!("{PODS}/{name}"), "").await;
    let conditions = pod["status"]["conditions"].as_array().unwrap();
    let scheduled = conditions.iter().find(|it| it["type"] == "PodScheduled").unwrap();
    assert_eq!(scheduled["status"], "False", "{name} has a node");
    scheduled["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_pod_waits_for_the_one_it_wants_to_be_near() {
    run(async |plane| {
        create(plane, &pod("web", "web", &near("db", "zone"))).await;
        let none = "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.";
        assert_eq!(refusal(plane, "web").await, none);
        create(plane, &pod("db", "db", &json!({"nodeSelector": {"zone": "b"}}))).await;
        assert_eq!(node_of(plane, "web").await, "b1");
    });
}

#[test]
fn the_first_of_those_that_want_to_be_together_is_free() {
    run(async |plane| {
        create(plane, &pod("first", "web", &near("web", "zone"))).await;
        create(plane, &pod("second", "web", &near("web", "zone"))).await;
        let (first, second) = (node_of(plane, "first").await, node_of(plane, "second").await);
        assert_eq!(first.get(..1), second.get(..1));
        assert!(!first.is_empty());
    });
}

#[test]
fn pods_keep_away_from_each_other() {
    run(async |plane| {
        for name in ["x", "y", "z"] {
            create(plane, &pod(name, "web", &far("web", "kubernetes.io/hostname"))).await;
        }
        let mut nodes = column(plane, PODS, "/spec/nodeName").await;
        nodes.sort();
        assert_eq!(nodes, ["a1", "a2", "b1"]);
        create(plane, &pod("last", "web", &far("web", "kubernetes.io/hostname"))).await;
        let none = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.";
        assert_eq!(refusal(plane, "last").await, none);
        create(plane, &pod("other", "web", &json!({}))).await;
        let repelled = "0/3 nodes are available: 3 node(s) didn't satisfy existing pods anti-affinity \
                        rules.";
        assert_eq!(refusal(plane, "other").await, repelled);
        request(plane, "DELETE", &format!("{PODS}/y?gracePeriodSeconds=0"), "").await;
        plane.settled().await.unwrap();
        assert_ne!(node_of(plane, "last").await, "");
    });
}

#[test]
fn pods_are_spread_evenly() {
    run(async |plane| {
        let constraint = json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }]});
        for number in 0..6 {
            create(plane, &pod(&format!("p{number}"), "web", &constraint)).await;
        }
        let mut zones = BTreeMap::new();
        for node in column(plane, PODS, "/spec/nodeName").await {
            *zones.entry(node.get(..1).unwrap_or_default().to_owned()).or_insert(0) += 1;
        }
        assert_eq!(zones, BTreeMap::from([("a".to_owned(), 3), ("b".to_owned(), 3)]));
        let mut in_zone = constraint.clone();
        in_zone["nodeName"] = "b1".into();
        create(plane, &pod("ahead", "web", &in_zone)).await;
        let mut selected = constraint;
        selected["nodeSelector"] = json!({"kubernetes.io/hostname": "b1"});
        selected["topologySpreadConstraints"][0]["nodeAffinityPolicy"] = "Ignore".into();
        create(plane, &pod("late", "web", &selected)).await;
        let none = "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 2 \
                    node(s) didn't match Pod's node affinity/selector.";
        assert_eq!(refusal(plane, "late").await, none);
    });
}

/// CP-101: the pod of the lowest priority goes, and no more than has to.
#[test]
fn a_pod_makes_room_for_one_of_a_higher_priority() {
    run(async |plane| {
        let classes = "
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: low}
value: 1
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: middle}
value: 2
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 3
";
        create(plane, classes).await;
        let room = json!({"cpu": "2", "memory": "1Gi", "pods": "9"});
        let patch = json!({"status": {"allocatable": room}});
        request(plane, "PATCH", "/api/v1/nodes/b1/status", &patch.to_string()).await;
        plane.settled().await.unwrap();
        let needs = |class: &str, cpu: &str| {
            json!({
                "priorityClassName": class, "nodeSelector": {"zone": "b"},
                "containers": [{
                    "name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}},
                }],
            })
        };
        create(plane, &pod("low", "x", &needs("low", "1"))).await;
        create(plane, &pod("middle", "x", &needs("middle", "1"))).await;
        create(plane, &pod("equal", "x", &needs("low", "1"))).await;
        let full = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node \
                    affinity/selector.";
        assert_eq!(refusal(plane, "equal").await, full);
        create(plane, &pod("high", "x", &needs("high", "1"))).await;
        plane.advance(std::time::Duration::from_secs(40)).await.unwrap();
        assert_eq!(node_of(plane, "high").await, "b1");
        assert_eq!(node_of(plane, "middle").await, "b1");
        assert_eq!(node_of(plane, "equal").await, "");
        assert_eq!(column(plane, PODS, "/metadata/name").await, ["equal", "high", "middle"]);
        let events = "/api/v1/namespaces/default/events?fieldSelector=reason=Preempted";
        assert_eq!(column(plane, events, "/involvedObject/name").await, ["low"]);
    });
}

/// CP-100: nodes with fewer pods come first, then the order of names decides.
#[test]
fn ties_are_in_the_order_of_names() {
    run(async |plane| {
        for name in ["p1", "p2", "p3", "p4"] {
            create(plane, &pod(name, "x", &json!({}))).await;
        }
        let nodes = column(plane, PODS, "/spec/nodeName").await;
        assert_eq!(nodes, ["a1", "a2", "b1", "a1"]);
    });
}

/// CP-100: of the nodes that admit a pod, it gets the one that it prefers by the sum of weights.
#[test]
fn what_is_preferred_decides_among_nodes() {
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    let zone = |weight: i64, zone: &str| {
        let expression = json!({"key": "zone", "operator": "In", "values": [zone]});
        json!({"weight": weight, "preference": {"matchExpressions": [expression]}})
    };
    let beside = |weight: i64, app: &str, label: &str| json!([{"weight": weight, "podAffinityTerm": term(app, label)[0]}]);
    run(async |plane| {
        create(plane, &pod("db", "db", &json!({"nodeName": "a2"}))).await;
        let wishes = [
            ("zone", json!({"nodeAffinity": {preferred: [zone(1, "b")]}}), "b1"),
            (
                "near",
                json!({"podAffinity": {preferred: beside(1, "db", "kubernetes.io/hostname")}}),
                "a2",
            ),
            ("far", json!({"podAntiAffinity": {preferred: beside(1, "db", "zone")}}), "b1"),
            (
                "sum",
                json!({
                    "nodeAffinity": {preferred: [zone(2, "b")]},
                    "podAffinity": {preferred: beside(5, "db", "zone")},
                    "podAntiAffinity": {preferred: beside(1, "db", "kubernetes.io/hostname")},
                }),
                "a1",
            ),
        ];
        for (name, affinity, node) in wishes {
            create(plane, &pod(name, "x", &json!({"affinity": affinity}))).await;
            assert_eq!(node_of(plane, name).await, node, "{name}");
        }
    });
}

/// CP-100: taints that only advise against a node, and spreading that is only preferred.
#[test]
fn advice_counts_where_there_is_a_choice() {
    let advice = json!({"spec": {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}});
    let spread = json!({"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }]});
    run(async |plane| {
        request(plane, "PATCH", "/api/v1/nodes/a1", &advice.to_string()).await;
        create(plane, &pod("p1", "x", &spread)).await;
        create(plane, &pod("p2", "x", &spread)).await;
        create(plane, &pod("p3", "y", &json!({"nodeSelector": {"kubernetes.io/hostname": "a1"}})))
            .await;
        assert_eq!(column(plane, PODS, "/spec/nodeName").await, ["a2", "b1", "a1"]);
    });
}
