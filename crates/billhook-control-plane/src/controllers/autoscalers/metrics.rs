//! Metrics that autoscalers ask for, which no server of metrics has.

use billhook_kinds::selector_text;
use serde_json::Value;

/// Why a metric cannot be had.
pub(super) struct Missing {
    pub(super) reason: &'static str,
    pub(super) message: String,
    /// The metric, in a message about all.
    pub(super) what: String,
}

const OF_RESOURCES: &str = "unable to fetch metrics from resource metrics API: the server could not \
                            find the requested resource (get pods.metrics.k8s.io)";
const CUSTOM: &str = "unable to fetch metrics from custom metrics API: no custom metrics API \
                      (custom.metrics.k8s.io) registered";

/// Returns why a metric of an autoscaler in a namespace cannot be had.
pub(super) fn missing(metric: &Value, namespace: &str) -> Missing {
    let text = |pointer: &str| metric.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match text("/type") {
        "Resource" => Missing {
            reason: "FailedGetResourceMetric",
            message: of_resource(text("/resource/name"), text("/resource/target/type")),
            what: format!("{} resource", text("/resource/name")),
        },
        "ContainerResource" => Missing {
            reason: "FailedGetContainerResourceMetric",
            message: of_resource(
                text("/containerResource/name"),
                text("/containerResource/target/type"),
            ),
            what: format!("{} container", text("/containerResource/container")),
        },
        "Pods" => Missing {
            reason: "FailedGetPodsMetric",
            message: format!("unable to get metric {}: {CUSTOM}", text("/pods/metric/name")),
            what: "pods".to_owned(),
        },
        "Object" => {
            let of = |name: &str| text(&format!("/object/describedObject/{name}"));
            let object = format!("{} on {namespace} {}", of("kind"), of("name"));
            let name = text("/object/metric/name");
            Missing {
                reason: "FailedGetObjectMetric",
                message: format!("unable to get metric {name}: {object}/{CUSTOM}"),
                what: "object".to_owned(),
            }
        }
        _ => external(text("/external/metric/name"), metric, namespace),
    }
}

fn of_resource(name: &str, target: &str) -> String {
    let of = if target == "Utilization" { "utilization" } else { "usage" };
    format!("failed to get {name} {of}: unable to get metrics for resource {name}: {OF_RESOURCES}")
}

fn external(name: &str, metric: &Value, namespace: &str) -> Missing {
    let selector = metric.pointer("/external/metric/selector").unwrap_or(&Value::Null);
    let selector = selector_text(selector);
    let missing = format!(
        "unable to fetch metrics from external metrics API: the server could not find the requested \
         resource (get {name}.external.metrics.k8s.io)"
    );
    Missing {
        reason: "FailedGetExternalMetric",
        message: format!("unable to get external metric {namespace}/{name}/{selector}: {missing}"),
        what: format!("{name} external"),
    }
}
