//! Annotations of pods that mean something (BK-106).

use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::member_text;
use crate::rules::invalid;
use crate::values::value_at;

/// The annotation of pods that a node made by itself.
pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";

/// The annotation that tells which pods of a workload go first.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Checks the annotations of a pod or a template, which errors show at a path.
pub(crate) fn validate(errors: &mut Vec<FieldError>, at: &FieldPath, object: &Value) {
    let Some(annotations) = value_at(object, "/metadata/annotations") else { return };
    let at = |key: &str| at.clone().key(key);
    if let Some(value) = annotations.get(MIRROR).and_then(Value::as_str)
        && object.get("spec").and_then(|spec| member_text(spec, "nodeName")).is_none()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        invalid(errors, &at(MIRROR), value, [detail]);
    }
    if let Some(cost) = annotations.get(DELETION_COST).and_then(Value::as_str) {
        let digits = cost.strip_prefix('-').unwrap_or(cost);
        let is_plain = digits == "0" && digits == cost || !digits.starts_with(['0', '+']);
        if !is_plain || cost.parse::<i32>().is_err() {
            invalid(errors, &at(DELETION_COST), cost, ["must be a 32bit integer"]);
        }
    }
}

/// Whether a node made a pod by itself.
pub(super) fn is_static(pod: &Value) -> bool {
    let annotations = value_at(pod, "/metadata/annotations");
    annotations.is_some_and(|all| all.get(MIRROR).is_some())
}
