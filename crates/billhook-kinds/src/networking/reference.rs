//! References to objects of any kind.

use billhook_apimachinery::{FieldError, FieldPath, names};
use serde_json::Value;

use crate::rules;
use crate::values::text;

/// Validates the group, the kind and the name of a reference.
pub(super) fn validate(reference: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some(group) = reference.get("apiGroup").filter(|group| !group.is_null()) {
        let path = path.clone().name("apiGroup");
        rules::named(errors, &path, text(group, ""), names::dns1123_subdomain);
    }
    for name in ["kind", "name"] {
        let value = reference.get(name).map_or("", |value| text(value, ""));
        rules::required_segment(errors, &path.clone().name(name), value);
    }
}
