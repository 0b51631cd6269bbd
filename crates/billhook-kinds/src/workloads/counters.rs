//! The numbers of pods in specs and statuses.

use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use crate::rules::percent;
use crate::values::integer;

/// Returns the number of an amount or a percentage.
pub(crate) fn amount(value: &Value) -> i64 {
    let number = value.as_str().map_or_else(|| value.as_i64(), percent);
    number.unwrap_or_default()
}

/// Counters of a status that must not be greater than that of all replicas.
pub(crate) fn at_most_replicas(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    status: &Value,
    counters: &[&str],
) {
    let replicas = integer(status, "/replicas").unwrap_or_default();
    for name in counters {
        let count = status.get(name).and_then(Value::as_i64).unwrap_or_default();
        if count > replicas {
            let detail = "cannot be greater than status.replicas";
            errors.push(FieldError::invalid(path.clone().name(name), count, detail));
        }
    }
}

/// Replicas that are available are ready.
pub(crate) fn available_at_most_ready(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    status: &Value,
    detail: &str,
) {
    let available = integer(status, "/availableReplicas").unwrap_or_default();
    if available > integer(status, "/readyReplicas").unwrap_or_default() {
        errors.push(FieldError::invalid(path.clone().name("availableReplicas"), available, detail));
    }
}

/// A counter of a status that only rises.
pub(crate) fn not_decremented(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    status: &Value,
    old: &Value,
    counter: &str,
) {
    let count = |status: &Value| status.get(counter).and_then(Value::as_i64);
    let now = count(status).unwrap_or_default();
    if count(old).is_some_and(|before| now < before) {
        let detail = "cannot be decremented";
        errors.push(FieldError::invalid(path.clone().name(counter), now, detail));
    }
}
