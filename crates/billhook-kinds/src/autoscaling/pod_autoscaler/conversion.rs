//! HorizontalPodAutoscalers in both versions of their group. What version 1 has no fields for is in
//! annotations (BK-481).

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::record::{Record, Type, complete, declared_json};
use serde_json::{Map, Value, json};

use crate::generated::{autoscaling_v1, autoscaling_v2};
use crate::values::{integer, items, section, text, value_at};

pub(super) const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// The annotations of version 1.
pub(super) const ANNOTATIONS: [&str; 4] = [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR];

const V1: &str = "autoscaling/v1";
const V2: &str = "autoscaling/v2";

/// Whether a HorizontalPodAutoscaler is of version 1.
pub(super) fn is_v1(autoscaler: &Value) -> bool {
    text(autoscaler, "/apiVersion") == V1
}

/// Converts a HorizontalPodAutoscaler of `autoscaling/v2` to `autoscaling/v1` as a server does.
pub fn pod_autoscaler_to_v1(autoscaler: &mut Value, kubernetes: KubernetesVersion) {
    if is_v1(autoscaler) {
        return;
    }
    let annotations = annotations_of(autoscaler);
    let percent = items(autoscaler, "/spec/metrics").iter().find_map(cpu_target);
    let statuses = items(autoscaler, "/status/currentMetrics");
    let current = statuses.iter().find_map(cpu_status);
    if let Some(spec) = section(autoscaler, "spec") {
        spec.remove("metrics");
        spec.remove("behavior");
        set(spec, "targetCPUUtilizationPercentage", percent);
    }
    if let Some(status) = section(autoscaler, "status") {
        status.remove("currentMetrics");
        status.remove("conditions");
        set(status, "currentCPUUtilizationPercentage", current);
    }
    if !annotations.is_empty()
        && let Some(metadata) = section(autoscaler, "metadata")
    {
        let all = metadata.entry("annotations").or_insert_with(|| Map::new().into());
        if let Value::Object(all) = all {
            all.extend(annotations);
        }
    }
    finish(autoscaler, V1, &autoscaling_v1::HORIZONTAL_POD_AUTOSCALER, kubernetes);
}

/// Converts a HorizontalPodAutoscaler of `autoscaling/v1` to `autoscaling/v2` as a server does.
pub fn pod_autoscaler_to_v2(autoscaler: &mut Value, kubernetes: KubernetesVersion) {
    if !is_v1(autoscaler) {
        return;
    }
    let [metrics, current, conditions, behavior] = ANNOTATIONS.map(|name| taken(autoscaler, name));
    let mut metrics: Vec<Value> = items(&metrics, "").iter().map(spec_in_v2).collect();
    let mut statuses: Vec<Value> = items(&current, "").iter().map(status_in_v2).collect();
    if let Some(spec) = section(autoscaler, "spec") {
        if let Some(percent) = spec.remove("targetCPUUtilizationPercentage") {
            let target = json!({"type": "Utilization", "averageUtilization": percent});
            let resource = json!({"name": "cpu", "target": target});
            metrics.push(json!({"type": "Resource", "resource": resource}));
        }
        set(spec, "metrics", (!metrics.is_empty()).then_some(metrics));
        set(spec, "behavior", behavior.is_object().then(|| in_documents(&behavior)));
    }
    if let Some(status) = section(autoscaler, "status") {
        let percent = status.remove("currentCPUUtilizationPercentage");
        if let Some(percent) = percent.filter(|_| !statuses.iter().any(is_of_cpu)) {
            let current = json!({"averageUtilization": percent});
            let resource = json!({"name": "cpu", "current": current});
            statuses.push(json!({"type": "Resource", "resource": resource}));
        }
        set(status, "currentMetrics", (!statuses.is_empty()).then_some(statuses));
        set(status, "conditions", conditions.is_array().then_some(conditions));
    }
    finish(autoscaler, V2, &autoscaling_v2::HORIZONTAL_POD_AUTOSCALER, kubernetes);
}

fn finish(
    autoscaler: &mut Value,
    api_version: &str,
    record: &'static Record,
    kubernetes: KubernetesVersion,
) {
    if let Value::Object(members) = &mut *autoscaler {
        members.insert("apiVersion".to_owned(), api_version.into());
    }
    complete(autoscaler, record, kubernetes);
}

fn set(members: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        members.insert(name.to_owned(), value.into());
    }
}

/// The annotations for what version 1 has no fields for.
fn annotations_of(autoscaler: &Value) -> Map<String, Value> {
    let mut annotations = Map::new();
    let mut is_found = false;
    let others = items(autoscaler, "/spec/metrics").iter().filter(|metric| {
        // The first target of the processor has a field.
        let is_target = !is_found && cpu_target(metric).is_some();
        is_found |= is_target;
        !is_target
    });
    let metrics: Vec<_> = others.map(spec_in_v1).collect();
    let statuses = items(autoscaler, "/status/currentMetrics");
    let statuses: Vec<_> = statuses.iter().map(status_in_v1).collect();
    for (name, list) in [(METRICS, metrics), (CURRENT_METRICS, statuses)] {
        if !list.is_empty() {
            annotations.insert(name.to_owned(), format!("[{}]", list.join(",")).into());
        }
    }
    let conditions = items(autoscaler, "/status/conditions");
    if !conditions.is_empty() {
        let record = &autoscaling_v2::HORIZONTAL_POD_AUTOSCALER_CONDITION;
        let list: Vec<_> =
            conditions.iter().map(|condition| declared_json(condition, record)).collect();
        annotations.insert(CONDITIONS.to_owned(), format!("[{}]", list.join(",")).into());
    }
    if let Some(behavior) = value_at(autoscaler, "/spec/behavior").filter(|all| !all.is_null()) {
        let record = Type::Record(|| &autoscaling_v2::HORIZONTAL_POD_AUTOSCALER_BEHAVIOR);
        annotations.insert(BEHAVIOR.to_owned(), show(Some(behavior), record).into());
    }
    annotations
}

/// The utilization of processors that a metric is a target of.
fn cpu_target(metric: &Value) -> Option<i64> {
    is_of_cpu(metric).then(|| integer(metric, "/resource/target/averageUtilization")).flatten()
}

/// The utilization of processors that a metric has found.
fn cpu_status(metric: &Value) -> Option<i64> {
    is_of_cpu(metric).then(|| integer(metric, "/resource/current/averageUtilization")).flatten()
}

fn is_of_cpu(metric: &Value) -> bool {
    text(metric, "/type") == "Resource" && text(metric, "/resource/name") == "cpu"
}

/// Takes an annotation of JSON away; null if absent.
fn taken(autoscaler: &mut Value, name: &str) -> Value {
    let Some(metadata) = section(autoscaler, "metadata") else { return Value::Null };
    let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else {
        return Value::Null;
    };
    let annotation = annotations.remove(name);
    let annotation = annotation.as_ref().and_then(Value::as_str).unwrap_or_default();
    serde_json::from_str(annotation).unwrap_or_default()
}

/// The members of a source that both versions have, with their places there: version 1, version 2.
fn members(source: &str, part: &str) -> Vec<(&'static str, &'static str)> {
    let is_target = part == "target";
    let choose = |of_target, of_status| if is_target { of_target } else { of_status };
    let average = choose("targetAverageValue", "currentAverageValue");
    let value = choose("targetValue", "currentValue");
    let average_at = choose("/target/averageValue", "/current/averageValue");
    let value_at = choose("/target/value", "/current/value");
    let utilization = choose("targetAverageUtilization", "currentAverageUtilization");
    let utilization_at = choose("/target/averageUtilization", "/current/averageUtilization");
    let name = ("metricName", "/metric/name");
    match source {
        "object" => vec![
            ("target", "/describedObject"),
            name,
            (value, value_at),
            ("selector", "/metric/selector"),
            ("averageValue", average_at),
        ],
        "pods" => vec![name, (average, average_at), ("selector", "/metric/selector")],
        "external" => vec![
            name,
            ("metricSelector", "/metric/selector"),
            (value, value_at),
            (average, average_at),
        ],
        _ => vec![
            ("name", "/name"),
            (utilization, utilization_at),
            (average, average_at),
            ("container", "/container"),
        ],
    }
}

const SOURCES: [&str; 5] = ["object", "pods", "resource", "containerResource", "external"];

fn spec_in_v1(metric: &Value) -> String {
    in_v1(metric, "target")
}

fn status_in_v1(metric: &Value) -> String {
    in_v1(metric, "current")
}

fn spec_in_v2(metric: &Value) -> Value {
    in_v2(metric, "target")
}

fn status_in_v2(metric: &Value) -> Value {
    in_v2(metric, "current")
}

/// Prints a metric in the form of version 1.
fn in_v1(metric: &Value, part: &str) -> String {
    let mut out = format!("{{\"type\":{}", compact_json(&text(metric, "/type").into()));
    for source in SOURCES {
        let Some(value) = metric.get(source).filter(|value| value.is_object()) else { continue };
        let printed = members(source, part).into_iter().filter_map(|(name, place)| {
            // A value is there even if there is only an average.
            let is_required = source == "object" && ["targetValue", "currentValue"].contains(&name)
                || source == "external" && name == "currentValue";
            let zero = Value::from("0");
            let value = value_at(value, place).filter(|value| !value.is_null());
            let value = value.or(is_required.then_some(&zero))?;
            let printed = match name {
                "target" => declared_json(value, &autoscaling_v2::CROSS_VERSION_OBJECT_REFERENCE),
                "selector" | "metricSelector" => crate::workloads::shown_selector(value),
                _ => compact_json(value),
            };
            Some(format!("\"{name}\":{printed}"))
        });
        let printed: Vec<_> = printed.collect();
        out.push_str(&format!(",\"{source}\":{{{}}}", printed.join(",")));
    }
    out.push('}');
    out
}

/// Returns a metric of the form of version 1 as version 2 has it.
fn in_v2(metric: &Value, part: &str) -> Value {
    let mut converted = json!({"type": text(metric, "/type")});
    for source in SOURCES {
        let Some(value) = metric.get(source).filter(|value| value.is_object()) else { continue };
        let mut target = Map::new();
        let mut members_of = Map::new();
        for (name, place) in members(source, part) {
            let Some(value) = value.get(name).filter(|value| !value.is_null()) else { continue };
            let names: Vec<&str> = place.trim_start_matches('/').split('/').collect();
            match names.as_slice() {
                [outer, inner] if *outer == part => {
                    target.insert((*inner).to_owned(), value.clone());
                }
                [outer, inner] => {
                    let outer = members_of.entry(*outer).or_insert_with(|| Map::new().into());
                    if let Value::Object(outer) = outer {
                        outer.insert((*inner).to_owned(), value.clone());
                    }
                }
                _ => {
                    members_of.insert(names.concat(), value.clone());
                }
            }
        }
        if part == "target" {
            set_target_type(source, &mut target);
        }
        members_of.insert(part.to_owned(), target.into());
        if let Value::Object(converted) = &mut converted {
            converted.insert(source.to_owned(), members_of.into());
        }
    }
    converted
}

/// Version 1 tells the type of a target by its members.
fn set_target_type(source: &str, target: &mut Map<String, Value>) {
    let type_ = match source {
        "object" | "external" if target.contains_key("averageValue") => {
            target.remove("value");
            "AverageValue"
        }
        "object" | "external" => "Value",
        _ if target.contains_key("averageUtilization") => "Utilization",
        _ => "AverageValue",
    };
    target.insert("type".to_owned(), type_.into());
}

/// Returns a value of the internal form as documents have it.
fn in_documents(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, member)| !member.is_null());
            members.map(|(name, member)| (lower(name), in_documents(member))).collect()
        }
        Value::Array(items) => items.iter().map(in_documents).collect(),
        value => value.clone(),
    }
}

/// A name of the internal form as documents have it.
fn lower(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
