//! Autoscalers (CP-82).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::support::{create, request, run};

const AUTOSCALER: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web";

/// A Deployment of three, and an autoscaler from two to five with metrics.
fn objects(metrics: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: c, image: i}}]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: default}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  minReplicas: 2
  maxReplicas: 5
  metrics: {metrics}
"
    )
}

const CPU: &str = "[{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]";

async fn replicas(plane: &ControlPlane) -> Value {
    let deployment = "/apis/apps/v1/namespaces/default/deployments/web";
    request(plane, "GET", deployment, "").await["status"]["readyReplicas"].clone()
}

async fn conditions(plane: &ControlPlane) -> Vec<String> {
    let autoscaler = request(plane, "GET", AUTOSCALER, "").await;
    let conditions = autoscaler["status"]["conditions"].as_array().unwrap().iter();
    let text = |condition: &Value| {
        let of = |name: &str| condition[name].as_str().unwrap().to_owned();
        format!("{} {} {}", of("type"), of("status"), of("reason"))
    };
    conditions.map(text).collect()
}

/// The reasons and the messages of the events of a reason about the autoscaler.
async fn messages(plane: &ControlPlane, reason: &str) -> Vec<String> {
    let events = request(plane, "GET", "/api/v1/namespaces/default/events", "").await;
    let events = events["items"].as_array().unwrap().iter();
    let events = events.filter(|event| event["reason"] == reason);
    events.map(|event| event["message"].as_str().unwrap().to_owned()).collect()
}

/// CP-82: the target gets the size that a test recommends, within the bounds.
#[test]
fn recommendations_are_followed() {
    for (recommended, size, limited, why) in [
        (
            4,
            4,
            "ScalingLimited False DesiredWithinRange",
            "New size: 4; reason: recommendation above target",
        ),
        (
            9,
            5,
            "ScalingLimited True TooManyReplicas",
            "New size: 5; reason: recommendation above target",
        ),
        (
            1,
            2,
            "ScalingLimited True TooFewReplicas",
            "New size: 2; reason: All metrics below target",
        ),
    ] {
        run(async |plane| {
            create(plane, &objects(CPU)).await;
            let annotation = json!({"billhook.dev/recommended-replicas": recommended.to_string()});
            let patch = json!({"metadata": {"annotations": annotation}});
            request(plane, "PATCH", AUTOSCALER, &patch.to_string()).await;
            plane.settled().await.unwrap();
            assert_eq!(replicas(plane).await, size);
            assert_eq!(messages(plane, "SuccessfulRescale").await, [why]);
            let rescaled = [
                "AbleToScale True ReadyForNewScale",
                "ScalingActive True ValidMetricFound",
                limited,
            ];
            plane.advance(Duration::from_secs(15)).await.unwrap();
            assert_eq!(conditions(plane).await, rescaled);
        });
    }
}

/// CP-82: of each metric that is missing there is an event, and one of all.
#[test]
fn missing_metrics_are_reported() {
    let pods =
        "{type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: 1}}}";
    let metrics = format!("{}, {pods}]", CPU.trim_end_matches(']'));
    run(async |plane| {
        create(plane, &objects(&metrics)).await;
        let conditions = conditions(plane).await;
        assert_eq!(conditions[1], "ScalingActive False FailedGetResourceMetric");
        let pods = "unable to get metric rps: unable to fetch metrics from custom metrics API: no \
                    custom metrics API (custom.metrics.k8s.io) registered";
        assert_eq!(messages(plane, "FailedGetPodsMetric").await, [pods]);
        let all = messages(plane, "FailedComputeMetricsReplicas").await;
        let expected = "invalid metrics (2 invalid out of 2), first error is: failed to get cpu \
                        resource metric value: failed to get cpu utilization: ";
        assert!(all[0].starts_with(expected), "{all:?}");
        assert_eq!(replicas(plane).await, 3);
    });
}

/// CP-82: an autoscaler that was written in version 1 is followed, too.
#[test]
fn version_1_is_followed() {
    let first = objects("[]").replace("autoscaling/v2", "autoscaling/v1");
    let first = first.replace("  metrics: []", "  targetCPUUtilizationPercentage: 80");
    run(async |plane| {
        create(plane, &first).await;
        let expected =
            ["AbleToScale True SucceededGetScale", "ScalingActive False FailedGetResourceMetric"];
        assert_eq!(conditions(plane).await, expected);
    });
}
