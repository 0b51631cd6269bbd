//! References to objects.

use billhook_apimachinery::names::path_segment;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use crate::rules;
use crate::values::text;

/// Validates a reference to an object: its kind and its name.
pub(super) fn validate_reference(
    reference: &Value,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    for name in ["kind", "name"] {
        let at = path.clone().name(name);
        match reference.get(name).and_then(Value::as_str).unwrap_or_default() {
            "" => errors.push(FieldError::required(at, "")),
            value => rules::invalid(errors, &at, value, path_segment(value, false)),
        }
    }
}

/// Validates that what is scaled is of a group, except ReplicationControllers.
pub(super) fn validate_group(target: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let version = text(target, "/apiVersion");
    let at = path.clone().name("apiVersion");
    match version.split_once('/') {
        Some((_, rest)) if rest.contains('/') => {
            let detail = format!("unexpected GroupVersion string: {version}");
            errors.push(FieldError::invalid(at, version, &detail));
        }
        Some((group, _)) if !group.is_empty() => {}
        _ if text(target, "/kind") == "ReplicationController" => {}
        _ => errors.push(FieldError::invalid(at, version, "apiVersion must specify API group")),
    }
}
