//! Conditions in the status of objects (`metav1.Condition`).

use std::collections::BTreeSet;

use billhook_apimachinery::record::FieldValue as _;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::rules;
use crate::values::text;

/// Validates conditions at a path.
pub(crate) fn validate(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    conditions: &[Value],
    kubernetes: KubernetesVersion,
) {
    let mut seen = BTreeSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let at = |name| path.clone().index(index).name(name);
        let type_ = text(condition, "/type");
        if !seen.insert(type_) {
            errors.push(FieldError::duplicate(at("type"), type_));
        }
        rules::qualified_name(errors, &at("type"), type_, kubernetes);
        let status = text(condition, "/status");
        rules::one_of(errors, &at("status"), status, &["False", "True", "Unknown"]);
        rules::not_negative(errors, &at("observedGeneration"), condition.get("observedGeneration"));
        for name in ["lastTransitionTime", "reason"] {
            if condition.get(name).is_none_or(|value| String::of(value).is_empty()) {
                errors.push(FieldError::required(at(name), ""));
            }
        }
    }
}
