//! Provisioners and parameters of classes of storage (BK-434).

use billhook_apimachinery::names::{lower_case, qualified_name};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::rules::invalid;
use crate::values::{members, path, text};

const MAX_COUNT: usize = 512;

/// The highest sum of the lengths of names and values.
const MAX_BYTES: usize = 262_144;

/// The name of a provisioner.
pub(super) fn provisioner(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    kubernetes: KubernetesVersion,
) {
    match name {
        "" => errors.push(FieldError::required(path.clone(), "")),
        name => {
            let messages = qualified_name(&lower_case(name), kubernetes.wording());
            invalid(errors, path, name, messages);
        }
    }
}

/// The parameters of a class.
pub(super) fn parameters(errors: &mut Vec<FieldError>, class: &Value) {
    let at = path(&["parameters"]);
    let all = members(class, "/parameters");
    let count = all.clone().count();
    if count > MAX_COUNT {
        let detail = i64::try_from(MAX_COUNT).unwrap_or_default();
        errors.push(FieldError::too_long(at.clone(), detail));
        return;
    }
    let mut bytes = 0_usize;
    for (name, value) in all {
        if name.is_empty() {
            errors.push(FieldError::invalid(at.clone(), name, "field can not be empty."));
        }
        bytes = bytes.saturating_add(name.len()).saturating_add(text(value, "").len());
    }
    if bytes > MAX_BYTES {
        errors.push(FieldError::too_long(at, i64::try_from(MAX_BYTES).unwrap_or_default()));
    }
}
