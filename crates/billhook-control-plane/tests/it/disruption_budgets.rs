//! Disruption budgets (CP-80).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::support::{column, create, request, run};

const BUDGET: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b";

fn deployment(replicas: u32) -> String {
    format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: x}}}}
  template:
    metadata: {{labels: {{app: x}}}}
    spec: {{containers: [{{name: c, image: i}}]}}
"
    )
}

fn budget(wanted: &str) -> String {
    format!(
        "
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: b, namespace: default}}
spec: {{selector: {{matchLabels: {{app: x}}}}, {wanted}}}
"
    )
}

async fn status(plane: &ControlPlane) -> Value {
    request(plane, "GET", BUDGET, "").await["status"].clone()
}

/// CP-80: percentages are rounded up; what is wanted of 7 pods that are all healthy.
#[test]
fn the_arithmetic_of_budgets() {
    let cases = [
        ("minAvailable: 5", [7, 5, 2]),
        ("minAvailable: 50%", [7, 4, 3]),
        ("minAvailable: 100%", [7, 7, 0]),
        ("maxUnavailable: 2", [7, 5, 2]),
        ("maxUnavailable: 50%", [7, 3, 4]),
        ("maxUnavailable: 9", [7, 0, 7]),
    ];
    for (wanted, [expected, desired, allowed]) in cases {
        run(async |plane| {
            create(plane, &deployment(7)).await;
            create(plane, &budget(wanted)).await;
            let status = status(plane).await;
            let found = ["expectedPods", "desiredHealthy", "disruptionsAllowed"]
                .map(|name| status[name].as_i64().unwrap());
            assert_eq!(found, [expected, desired, allowed], "{wanted}");
        });
    }
}

/// CP-80: the scale of a custom controller counts; a controller without one is a failure.
#[test]
fn custom_controllers_are_asked_for_their_scale() {
    const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: teams.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: teams, kind: Team}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}, status: {type: object, properties: {size: {type: integer}}}}}}
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
---
apiVersion: example.com/v1
kind: Team
metadata: {name: t, namespace: default}
spec: {size: 3}
";
    let pod = |kind: &str, version: &str, name: &str, uid: &str| {
        format!(
            "
apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: default
  labels: {{app: x}}
  ownerReferences: [{{apiVersion: {version}, kind: {kind}, name: {name}, uid: {uid}, controller: true}}]
spec: {{containers: [{{name: c, image: i}}]}}
"
        )
    };
    run(async |plane| {
        create(plane, DEFINITION).await;
        let team =
            request(plane, "GET", "/apis/example.com/v1/namespaces/default/teams/t", "").await;
        let uid = team["metadata"]["uid"].as_str().unwrap();
        create(plane, &pod("Team", "example.com/v1", "t", uid)).await;
        create(plane, &budget("maxUnavailable: 1")).await;
        let status = status(plane).await;
        assert_eq!(status["expectedPods"], 3);
        assert_eq!(status["desiredHealthy"], 2);
    });
    for (kind, version, why) in [
        ("Node", "v1", "nodes does not implement the scale subresource"),
        ("Job", "batch/v9", "jobs.batch does not implement the scale subresource"),
        (
            "Nothing",
            "example.com/v1",
            "no matches for kind \"Nothing\" in version \"example.com/v1\"",
        ),
    ] {
        run(async |plane| {
            let node = request(plane, "GET", "/api/v1/nodes/node-0", "").await;
            let uid = node["metadata"]["uid"].as_str().unwrap();
            create(plane, &pod(kind, version, "node-0", uid)).await;
            create(plane, &budget("maxUnavailable: 1")).await;
            let status = status(plane).await;
            assert_eq!(status["disruptionsAllowed"], 0);
            assert_eq!(status["observedGeneration"], Value::Null);
            let condition = &status["conditions"][0];
            assert_eq!(
                (&condition["reason"], &condition["message"]),
                (&json!("SyncFailed"), &json!(why))
            );
            let reasons = column(plane, "/api/v1/namespaces/default/events", "/reason").await;
            let failures = reasons.iter().filter(|it| *it == "CalculateExpectedPodCountFailed");
            assert_eq!(failures.count(), 1, "{reasons:?}");
        });
    }
}

/// CP-80, CP-81: an evicted pod that is not deleted counts again after two minutes.
#[test]
fn an_eviction_that_did_not_come_counts_again() {
    run(async |plane| {
        create(plane, &deployment(2)).await;
        create(plane, &budget("minAvailable: 1")).await;
        let pods = column(plane, "/api/v1/namespaces/default/pods", "/metadata/name").await;
        let at = plane.clock().now().to_rfc3339();
        let disrupted = json!({"status": {"disruptedPods": {pods[0].as_str(): at}}});
        request(plane, "PATCH", &format!("{BUDGET}/status"), &disrupted.to_string()).await;
        plane.settled().await.unwrap();
        assert_eq!(status(plane).await["disruptionsAllowed"], 0);
        plane.advance(Duration::from_secs(119)).await.unwrap();
        assert_eq!(status(plane).await["disruptionsAllowed"], 0);
        plane.advance(Duration::from_secs(2)).await.unwrap();
        assert_eq!(status(plane).await["disruptionsAllowed"], 1);
        assert_eq!(status(plane).await["disruptedPods"], Value::Null);
    });
}

/// CP-80: pods without a controller do not count for a percentage, which an event says.
#[test]
fn loose_pods_have_an_event() {
    run(async |plane| {
        let pod = "
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default, labels: {app: x}}
spec: {containers: [{name: c, image: i}]}
";
        create(plane, &budget("maxUnavailable: 1")).await;
        create(plane, pod).await;
        assert_eq!(status(plane).await["expectedPods"], 0);
        let reasons = column(plane, "/api/v1/namespaces/default/events", "/reason").await;
        assert!(reasons.contains(&"NoPods".to_owned()), "{reasons:?}");
        assert!(reasons.contains(&"UnmanagedPods".to_owned()), "{reasons:?}");
    });
}

/// CP-80: pods without a controller are reported where their controllers would be counted.
#[test]
fn unmanaged_pods_are_reported() {
    const OBJECTS: &str = "
apiVersion: v1
kind: Pod
metadata: {name: loose, namespace: default, labels: {app: web}}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}, matchExpressions: [{key: app, operator: In, values: [web, x]}]}
";
    run(async |plane| {
        create(plane, OBJECTS).await;
        let events = request(plane, "GET", "/api/v1/namespaces/default/events", "").await;
        let events = events["items"].as_array().unwrap().iter();
        let found: Vec<_> = events
            .filter(|event| event["reason"] == "UnmanagedPods")
            .map(|event| event["message"].as_str().unwrap())
            .collect();
        let expected = "Pods selected by this PodDisruptionBudget (selector: \
                        &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:\
                        []LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,\
                        Values:[web x],},},}) were found to be unmanaged. As a result, the status of \
                        the PDB cannot be calculated correctly, which may result in undefined \
                        behavior. To account for these pods please set \".spec.minAvailable\" field \
                        of the PDB to an integer value.";
        assert_eq!(found, [expected]);
    });
}

/// CP-80: a budget without a selector is about no pod, one whose selector is empty about all of its
/// namespace.
#[test]
fn no_selector_selects_nothing_and_an_empty_one_everything() {
    for (selector, expected) in [("", 0), ("selector: {}, ", 7)] {
        run(async |plane| {
            create(plane, &deployment(7)).await;
            let budget = "
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b, namespace: default}
spec: {SELECTORminAvailable: 1}
";
            create(plane, &budget.replace("SELECTOR", selector)).await;
            assert_eq!(status(plane).await["expectedPods"], expected, "{selector:?}");
        });
    }
}
