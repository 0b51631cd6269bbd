//! The cell of the targets of a HorizontalPodAutoscaler (BK-722).

use serde_json::Value;

use crate::values::{integer, items, text};
use crate::workloads::{NONE, part};

/// How many targets are shown.
const SHOWN: usize = 2;

/// The cell of the targets and of what they are at.
pub(super) fn cell(autoscaler: &Value) -> String {
    let metrics = items(autoscaler, "/spec/metrics");
    if metrics.is_empty() {
        return NONE.to_owned();
    }
    let statuses = items(autoscaler, "/status/currentMetrics");
    let texts = metrics.iter().enumerate().take(SHOWN);
    let texts: Vec<_> = texts
        .map(|(index, metric)| target(metric, statuses.get(index).unwrap_or(&Value::Null)))
        .collect();
    let shown = texts.join(", ");
    match metrics.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

fn target(metric: &Value, status: &Value) -> String {
    let type_ = text(metric, "/type");
    let source = match type_ {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let (metric, current) = (metric.get(source), status.get(source));
    let metric = metric.unwrap_or(&Value::Null);
    let current = part(current.unwrap_or(&Value::Null), "/current");
    let target = part(metric, "/target");
    let at = |name: &str| current.get(name).and_then(Value::as_str).unwrap_or("<unknown>");
    let average = target.get("averageValue").and_then(Value::as_str);
    let prefix = match type_ {
        "Resource" | "ContainerResource" => format!("{}: ", text(metric, "/name")),
        _ => String::new(),
    };
    match (type_, average) {
        ("External" | "Object", Some(average)) => {
            format!("{}/{average} (avg)", at("averageValue"))
        }
        ("External" | "Object", None) => format!("{}/{}", at("value"), text(target, "/value")),
        (_, Some(average)) => format!("{prefix}{}/{average}", at("averageValue")),
        _ => {
            let percent = |value: &Value| {
                let percent = integer(value, "/averageUtilization");
                percent.map(|percent| format!("{percent}%"))
            };
            let current = percent(current).unwrap_or_else(|| "<unknown>".to_owned());
            format!("{prefix}{current}/{}", percent(target).unwrap_or_else(|| "<auto>".to_owned()))
        }
    }
}
