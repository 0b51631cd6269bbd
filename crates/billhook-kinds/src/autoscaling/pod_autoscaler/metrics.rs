//! The metrics that a HorizontalPodAutoscaler scales by.

use billhook_apimachinery::names::{dns1123_label, path_segment};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use super::reference::validate_reference;
use crate::rules;
use crate::values::{integer, text};
use crate::workloads::part;

/// The types of metrics, in the order of errors.
const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/// The sources of metrics, in the order in which the first one is validated.
const SOURCES: [&str; 5] = ["object", "external", "pods", "resource", "containerResource"];

/// Validates a metric at a path.
pub(super) fn validate(
    metric: &Value,
    path: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let type_ = text(metric, "/type");
    let at = path.clone().name("type");
    if type_.is_empty() {
        errors.push(FieldError::required(at.clone(), "must specify a metric source type"));
    }
    rules::one_of(errors, &at, type_, &TYPES);
    let is_set = |source: &&str| metric.get(source).is_some_and(|source| !source.is_null());
    let mut present: Vec<&str> = SOURCES.into_iter().filter(is_set).collect();
    if let Some(source) = present.first() {
        let value = metric.get(source).unwrap_or(&Value::Null);
        validate_source(source, value, &path.clone().name(source), kubernetes, errors);
    }
    let expected = SOURCES.into_iter().find(|source| source.eq_ignore_ascii_case(type_));
    let expected = expected.filter(|_| TYPES.contains(&type_));
    if let Some(expected) = expected.filter(|expected| !present.contains(expected)) {
        let detail = "must populate information for the given metric source";
        errors.push(FieldError::required(path.clone().name(expected), detail));
    }
    if present.len() > 1 {
        present.retain(|source| Some(*source) != expected);
        present.sort_unstable();
        for source in present {
            let detail = "must populate the given metric source only";
            errors.push(FieldError::forbidden(path.clone().name(source), detail));
        }
    }
}

/// Validates the types of metrics at a path.
pub(super) fn validate_types(metrics: &[Value], path: &FieldPath, errors: &mut Vec<FieldError>) {
    for (index, metric) in metrics.iter().enumerate() {
        let at = path.clone().index(index).name("type");
        rules::one_of(errors, &at, text(metric, "/type"), &TYPES);
    }
}

fn validate_source(
    kind: &str,
    source: &Value,
    path: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let is_of_resource = ["resource", "containerResource"].contains(&kind);
    if is_of_resource {
        validate_resource(source, path, kind == "containerResource", kubernetes, errors);
    } else {
        if kind == "object" {
            let reference = part(source, "/describedObject");
            validate_reference(reference, &path.clone().name("describedObject"), errors);
        }
        let metric = part(source, "/metric");
        validate_metric(metric, &path.clone().name("metric"), errors);
    }
    let (target, at) = (part(source, "/target"), path.clone().name("target"));
    validate_target(target, &at, errors);
    let has = |name: &str| target.get(name).is_some_and(|value| !value.is_null());
    let (required, other, missing, both) = match kind {
        "object" => {
            ("averageValue", "value", "must set either a target value or averageValue", None)
        }
        "external" => (
            "averageValue",
            "value",
            "must set either a target value for metric or a per-pod target",
            Some(("value", "may not set both a target value for metric and a per-pod target")),
        ),
        "pods" => return require_positive(target, at.name("averageValue"), errors),
        _ => (
            "averageUtilization",
            "averageValue",
            "must set either a target raw value or a target utilization",
            Some(("averageValue", "may not set both a target raw value and a target utilization")),
        ),
    };
    if !has(required) && !has(other) {
        errors.push(FieldError::required(at.clone().name(required), missing));
    }
    if let Some((name, detail)) = both.filter(|_| has(required) && has(other)) {
        errors.push(FieldError::forbidden(at.name(name), detail));
    }
}

fn require_positive(target: &Value, path: FieldPath, errors: &mut Vec<FieldError>) {
    let value = target.get("averageValue").and_then(rules::quantity);
    if value.is_none_or(|value| value.signum() <= 0) {
        errors.push(FieldError::required(path, "must specify a positive target averageValue"));
    }
}

fn validate_resource(
    source: &Value,
    path: &FieldPath,
    is_of_container: bool,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let at = path.clone().name("name");
    match text(source, "/name") {
        "" => errors.push(FieldError::required(at, "must specify a resource name")),
        name if is_of_container => container_resource(errors, &at, name, kubernetes),
        _ => {}
    }
    if is_of_container {
        let at = path.clone().name("container");
        match text(source, "/container") {
            "" => errors.push(FieldError::required(at, "must specify a container")),
            name => rules::named(errors, &at, name, dns1123_label),
        }
    }
}

/// The name of a resource that containers ask for.
fn container_resource(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    kubernetes: KubernetesVersion,
) {
    const STANDARD: [&str; 3] = ["cpu", "ephemeral-storage", "memory"];
    let before = errors.len();
    rules::qualified_name(errors, path, name, kubernetes);
    let is_standard = STANDARD.contains(&name) || name.starts_with("hugepages-");
    if errors.len() == before && !name.contains('/') && !is_standard {
        let details = [
            "must be a standard resource type or fully qualified",
            "must be a standard resource for containers",
        ];
        rules::invalid(errors, path, name, details);
    }
}

fn validate_metric(metric: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let at = path.clone().name("name");
    match text(metric, "/name") {
        "" => errors.push(FieldError::required(at, "must specify a metric name")),
        name => rules::invalid(errors, &at, name, path_segment(name, false)),
    }
}

fn validate_target(target: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let (type_, at) = (text(target, "/type"), path.clone().name("type"));
    if type_.is_empty() {
        errors.push(FieldError::required(at.clone(), "must specify a metric target type"));
    }
    if !["Utilization", "Value", "AverageValue"].contains(&type_) {
        let detail = "must be either Utilization, Value, or AverageValue";
        errors.push(FieldError::invalid(at, type_, detail));
    }
    for name in ["value", "averageValue"] {
        let value = target.get(name).unwrap_or(&Value::Null);
        if rules::quantity(value).is_some_and(|value| value.signum() <= 0) {
            let at = path.clone().name(name);
            errors.push(FieldError::invalid(at, value.clone(), "must be positive"));
        }
    }
    if let Some(percent) = integer(target, "/averageUtilization").filter(|percent| *percent < 1) {
        let at = path.clone().name("averageUtilization");
        errors.push(FieldError::invalid(at, percent, "must be greater than 0"));
    }
}
