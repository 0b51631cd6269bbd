//! The specs of objects that a server does not work without (BK-488).

use billhook_apimachinery::FieldError;
use billhook_apimachinery::record::{Record, Type};
use billhook_apimachinery::value::semantically_equal;
use serde_json::Value;

use crate::generated::initial::OBJECTS;
use crate::rules::invalid_internal;
use crate::values::{path, text};

/// The names of the objects.
const NAMES: [&str; 2] = ["exempt", "catch-all"];

/// Checks that the spec of such an object is the fixed one, except for a member.
pub(super) fn validate(
    errors: &mut Vec<FieldError>,
    object: &Value,
    plural: &str,
    record: fn() -> &'static Record,
    free: Option<&str>,
) {
    let name = text(object, "/metadata/name");
    let initial = OBJECTS.iter().find(|it| it.plural == plural && it.key == name);
    let Some(initial) = initial.filter(|_| NAMES.contains(&name)) else { return };
    let fixed: Value = serde_json::from_str(initial.text).unwrap_or_default();
    let spec = |object: &Value| {
        let mut spec = object.get("spec").cloned().unwrap_or_default();
        if let (Some(free), Value::Object(members)) = (free, &mut spec) {
            members.remove(free);
        }
        spec
    };
    if !semantically_equal(&spec(object), &spec(&fixed)) {
        let but = free.map(|free| format!(" except the 'spec.{free}' field")).unwrap_or_default();
        let detail = format!("spec of '{name}'{but} must equal the fixed value");
        let type_ = (Type::Record(record), "flowcontrol");
        errors.push(invalid_internal(path(&["spec"]), object.get("spec"), type_, &detail));
    }
}
