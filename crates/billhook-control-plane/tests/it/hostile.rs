//! Whoever means it no good, or has no luck: work is bounded, and nothing is lost.

use std::time::Duration;

use billhook_control_plane::simulation::Stage;
use serde_json::{Value, json};

use crate::support::{column, create, request, run, run_with};

const PODS: &str = "/api/v1/namespaces/default/pods";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const LAST: &str = "9999-12-31T23:59:59Z";

fn pod(name: &str, spec: &Value) -> String {
    let container = json!({"name": "c", "image": "i"});
    let mut spec = spec.clone();
    spec.as_object_mut().unwrap().entry("containers").or_insert_with(|| json!([container]));
    let metadata = json!({"name": name, "namespace": "default"});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}).to_string()
}

/// Time ends with the last year that objects can have: they can be read and changed then.
#[test]
fn time_ends() {
    run(async |plane| {
        create(plane, &pod("early", &json!({}))).await;
        plane.clock().advance(Duration::MAX);
        plane.advance(Duration::MAX).await.unwrap();
        assert_eq!(plane.clock().now().to_rfc3339(), LAST);
        create(plane, &pod("late", &json!({}))).await;
        assert_eq!(column(plane, PODS, "/status/phase").await, ["Running", "Running"]);
        assert_eq!(column(plane, PODS, "/metadata/creationTimestamp").await[1], LAST);
        let late = format!("{PODS}/late");
        let labels = r#"{"metadata": {"labels": {"a": "b"}}}"#;
        assert_eq!(request(plane, "PATCH", &late, labels).await["metadata"]["labels"]["a"], "b");
        request(plane, "DELETE", &late, "").await;
        plane.settled().await.unwrap();
        assert_eq!(plane.next_timer().await, None);
    });
}

/// Stages that undo each other: it is said of which object, and other objects are looked after.
#[test]
fn stages_without_an_end() {
    let stage = |from: &str, to: &str| {
        let document = json!({
            "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": to},
            "spec": {
                "resourceRef": {"apiGroup": "v1", "kind": "ConfigMap"},
                "selector": {"matchLabels": {"is": from}},
                "next": {"patches": [{"type": "merge", "root": "metadata",
                    "template": format!("labels: {{is: {to}}}")}]},
            },
        });
        Stage::from_value(&document).unwrap()
    };
    run_with(
        |builder| builder.stage(stage("up", "down")).stage(stage("down", "up")),
        async |plane| {
            let map = json!({"metadata": {"name": "m", "labels": {"is": "up"}}}).to_string();
            request(plane, "POST", MAPS, &map).await;
            request(plane, "POST", PODS, &pod("p", &json!({}))).await;
            for _ in 0..2 {
                let error = plane.settled().await.unwrap_err();
                assert_eq!(
                    error.to_string(),
                    "kwok never comes to rest about /configmaps:default/m"
                );
            }
            assert_eq!(column(plane, PODS, "/status/phase").await, ["Running"]);
        },
    );
}

/// Templates that print nothing much, but look at much.
#[test]
fn templates_that_read_too_much() {
    let templates = [
        "{{ range $.data }}{{ range $.data }}{{ range $.data }}{{ end }}{{ end }}{{ end }}a: b",
        &format!("{}a: b", "{{ $all := $ }}".repeat(20_000)),
    ];
    for template in templates {
        let document = json!({
            "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "a"},
            "spec": {
                "resourceRef": {"apiGroup": "v1", "kind": "ConfigMap"},
                "selector": {"matchLabels": {"is": "long"}},
                "next": {"patches": [{"root": "metadata", "template": template}]},
            },
        });
        let stage = Stage::from_value(&document).unwrap();
        run_with(
            |builder| builder.stage(stage),
            async |plane| {
                let data: serde_json::Map<String, Value> =
                    (0..2_000).map(|index| (format!("k{index}"), "x".repeat(20).into())).collect();
                let labels = json!({"is": "long"});
                let map = json!({"metadata": {"name": "m", "labels": labels}, "data": data});
                request(plane, "POST", MAPS, &map.to_string()).await;
                plane.settled().await.unwrap();
                let stored = request(plane, "GET", &format!("{MAPS}/m"), "").await;
                assert_eq!(stored["metadata"].get("a"), None);
            },
        );
    }
}

/// Of pods that take ports of a node, each is compared with those that could have its own only.
#[test]
fn many_ports_of_a_node() {
    let pod = |name: &str, address: &str| {
        let ports: Vec<Value> = (1..10_000)
            .map(|port| json!({"containerPort": port, "hostPort": port, "hostIP": address}))
            .collect();
        pod(name, &json!({"containers": [{"name": "c", "image": "i", "ports": ports}]}))
    };
    run(async |plane| {
        create(plane, &pod("a", "10.0.0.1")).await;
        create(plane, &pod("b", "10.0.0.2")).await;
        for (name, address) in [("c", "10.0.0.1"), ("d", "0.0.0.0")] {
            create(plane, &pod(name, address)).await;
        }
        let nodes = column(plane, PODS, "/spec/nodeName").await;
        assert_eq!(nodes, ["node-0", "node-0", "", ""]);
        for name in ["a", "b"] {
            request(plane, "DELETE", &format!("{PODS}/{name}"), "").await;
        }
        plane.settled().await.unwrap();
        let nodes = column(plane, PODS, "/spec/nodeName").await;
        assert_eq!(nodes, ["node-0", ""]);
    });
}
