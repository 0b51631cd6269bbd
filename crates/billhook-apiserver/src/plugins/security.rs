//! The levels of security of namespaces (BK-567).

use billhook::webhook::Operation;
use billhook_admission::PluginRequest;
use billhook_apimachinery::Status;
use billhook_kinds::{SecurityLevel, security_label_errors};
use serde_json::Value;

use super::forbidden;
use crate::namespaces;
use crate::shared::Shared;

/// Refuses pods that do not have the level of their namespace, and warns of others.
pub(super) fn check_pod(server: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let attributes = request.attributes();
    let Some(pod) = request.object() else { return Ok(()) };
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let old = attributes.old_object.as_deref().and_then(|old| old.get("spec"));
    if attributes.operation == Operation::Update && old == Some(spec) {
        return Ok(());
    }
    let metadata = pod.get("metadata").unwrap_or(&Value::Null);
    let Some(namespace) = namespaces::object(server, &attributes.namespace) else { return Ok(()) };
    let violation =
        |mode| SecurityLevel::of(&namespace, mode).and_then(|it| it.violation(metadata, spec));
    if let Some(violation) = violation("enforce") {
        let why = violation.replacen("violate", "violates", 1);
        return Err(forbidden(attributes, &why));
    }
    if let Some(violation) = violation("warn") {
        request.warn(&format!("would {violation}"));
    }
    Ok(())
}

/// Warns of workloads whose pods would not have the level of their namespace.
pub(super) fn check_template(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let Some(object) = request.object() else { return Ok(()) };
    let places = ["/spec/template", "/spec/jobTemplate/spec/template", "/template"];
    let template = places.iter().find_map(|place| object.pointer(place));
    let Some(namespace) = namespaces::object(server, &request.attributes().namespace) else {
        return Ok(());
    };
    let part = |name: &str| template.and_then(|it| it.get(name)).unwrap_or(&Value::Null);
    let level = SecurityLevel::of(&namespace, "warn").filter(|_| template.is_some());
    let violation = level.and_then(|level| level.violation(part("metadata"), part("spec")));
    if let Some(violation) = violation {
        request.warn(&format!("would {violation}"));
    }
    Ok(())
}

/// Refuses namespaces whose labels name no level.
pub(super) fn check_labels(_: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let attributes = request.attributes();
    let errors = request.object().map(security_label_errors).unwrap_or_default();
    match errors.as_slice() {
        [] => Ok(()),
        errors => Err(Status::invalid("", "Namespace", &attributes.name, errors)),
    }
}
