//! The spec of a HorizontalPodAutoscaler.

use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::metrics;
use super::reference::{validate_group, validate_reference};
use crate::behavior::WriteContext;
use crate::edition::EDITIONS;
use crate::rules;
use crate::values::{integer, items, path, text};
use crate::workloads::part;

/// The longest window, in seconds.
const MAX_WINDOW: i64 = 3600;

/// The longest period of a policy, in seconds.
const MAX_PERIOD: i64 = 1800;

/// Validates a spec that may replace another one.
pub(super) fn validate(
    spec: &Value,
    old: Option<&Value>,
    context: &WriteContext<'_>,
    errors: &mut Vec<FieldError>,
) {
    let (at, edition) = (path(&["spec"]), EDITIONS.of(context.kubernetes));
    validate_replicas(spec, &at, errors);
    let target = part(spec, "/scaleTargetRef");
    let at_target = at.clone().name("scaleTargetRef");
    validate_reference(target, &at_target, errors);
    let old_version = old.map(|old| text(old, "/scaleTargetRef/apiVersion"));
    if edition.requires_target_groups && old_version != Some(text(target, "/apiVersion")) {
        validate_group(target, &at_target, errors);
    }
    let all = items(spec, "/metrics");
    let at_metrics = at.clone().name("metrics");
    for (index, metric) in all.iter().enumerate() {
        metrics::validate(metric, &at_metrics.clone().index(index), context.kubernetes, errors);
    }
    let scales_to_zero = |metric: &Value| ["Object", "External"].contains(&text(metric, "/type"));
    if integer(spec, "/minReplicas") == Some(0) && !all.iter().any(scales_to_zero) {
        let detail = "must specify at least one Object or External metric to support scaling to \
            zero replicas";
        errors.push(FieldError::forbidden(at_metrics, detail));
    }
    for direction in ["scaleUp", "scaleDown"] {
        if let Some(rules) = spec.get("behavior").and_then(|behavior| behavior.get(direction)) {
            let at = at.clone().name("behavior").name(direction);
            validate_rules(rules, &at, errors);
        }
    }
    if edition.has_declared_rules {
        // The types declare it, too (BK-31).
        metrics::validate_types(all, &at.name("metrics"), errors);
    }
}

fn validate_replicas(spec: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let least = "must be greater than or equal to 1";
    let min = integer(spec, "/minReplicas");
    if let Some(min) = min.filter(|min| *min < 1) {
        errors.push(FieldError::invalid(path.clone().name("minReplicas"), min, least));
    }
    let max = integer(spec, "/maxReplicas").unwrap_or_default();
    let at = path.clone().name("maxReplicas");
    if max == 0 {
        errors.push(FieldError::required(at.clone(), "must be set and greater than 0"));
    } else if max < 1 {
        errors.push(FieldError::invalid(at.clone(), max, least));
    }
    if min.is_some_and(|min| max < min) {
        let detail = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid(at, max, detail));
    }
}

fn validate_rules(scaling: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some(seconds) = integer(scaling, "/stabilizationWindowSeconds") {
        let at = path.clone().name("stabilizationWindowSeconds");
        if seconds < 0 {
            let detail = "must be greater than or equal to zero";
            errors.push(FieldError::invalid(at.clone(), seconds, detail));
        }
        at_most(errors, &at, seconds, MAX_WINDOW);
    }
    if let Some(policy) = scaling.get("selectPolicy").and_then(Value::as_str) {
        let at = path.clone().name("selectPolicy");
        rules::one_of(errors, &at, policy, &["Disabled", "Max", "Min"]);
    }
    let at = path.clone().name("policies");
    let policies = items(scaling, "/policies");
    if policies.is_empty() {
        errors.push(FieldError::required(at.clone(), "must specify at least one Policy"));
    }
    for (index, policy) in policies.iter().enumerate() {
        validate_policy(policy, &at.clone().index(index), errors);
    }
    if let Some(tolerance) = scaling.get("tolerance") {
        rules::amount_not_negative(errors, &path.clone().name("tolerance"), tolerance);
    }
}

fn validate_policy(policy: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    rules::one_of(errors, &path.clone().name("type"), text(policy, "/type"), &["Percent", "Pods"]);
    for name in ["value", "periodSeconds"] {
        let number = policy.get(name).and_then(Value::as_i64).unwrap_or_default();
        if number <= 0 {
            let at = path.clone().name(name);
            errors.push(FieldError::invalid(at, number, "must be greater than zero"));
        }
    }
    let period = integer(policy, "/periodSeconds").unwrap_or_default();
    at_most(errors, &path.clone().name("periodSeconds"), period, MAX_PERIOD);
}

fn at_most(errors: &mut Vec<FieldError>, path: &FieldPath, number: i64, limit: i64) {
    if number > limit {
        let detail = format!("must be less than or equal to {limit}");
        errors.push(FieldError::invalid(path.clone(), number, &detail));
    }
}
