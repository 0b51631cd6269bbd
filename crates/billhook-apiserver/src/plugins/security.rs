//! The levels of security of namespaces (BK-567).

use std::collections::BTreeMap;

use billhook::webhook::Operation;
use billhook_admission::PluginRequest;
use billhook_apimachinery::Status;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::DeepValue;
use billhook_kinds::{SecurityLevel, security_label_errors};
use serde_json::Value;

use super::forbidden;
use crate::namespaces;
use crate::shared::Shared;
use crate::write_path::object_key;

/// How many pods of a namespace are checked when its level changes.
const MAX_CHECKED_PODS: usize = 3000;

/// Refuses pods that do not have the level of their namespace, and warns of others.
pub(super) fn check_pod(server: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let attributes = request.attributes();
    let Some(pod) = request.object() else { return Ok(()) };
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let old = attributes.old_object.as_deref().and_then(|old| old.get("spec"));
    if attributes.operation == Operation::Update && old.is_some_and(|old| runs_the_same(spec, old))
    {
        return Ok(());
    }
    let metadata = pod.get("metadata").unwrap_or(&Value::Null);
    let Some(namespace) = secured_namespace(server, &attributes.namespace) else { return Ok(()) };
    let defaults = &server.settings.pod_security;
    if defaults.exempts(&attributes.user.username, spec) {
        return Ok(());
    }
    let violation =
        |mode| defaults.level(&namespace, mode).and_then(|it| it.violation(metadata, spec));
    if let Some(violation) = violation("enforce") {
        let why = violation.replacen("violate", "violates", 1);
        return Err(forbidden(attributes, &why));
    }
    if let Some(violation) = violation("warn") {
        request.warn(&format!("would {violation}"));
    }
    Ok(())
}

/// Returns a namespace, if it may have a level.
fn secured_namespace(server: &Shared, name: &str) -> Option<DeepValue> {
    // Those of hardly any namespace do; the text alone says so.
    let stored = namespaces::find(server, name)?;
    let text = str::from_utf8(&stored.text).ok()?;
    let has_labels = text.contains(SecurityLevel::LABEL_PREFIX);
    (has_labels || server.settings.pod_security.has_levels())
        .then(|| namespaces::object(server, name))
        .flatten()
}

/// Whether a pod has no container and no image that it did not have before.
fn runs_the_same(spec: &Value, old: &Value) -> bool {
    let containers = |spec: &Value, list: &str| {
        let containers = spec.get(list).and_then(Value::as_array).into_iter().flatten();
        let images =
            containers.map(|it| (text(it, "name").to_owned(), text(it, "image").to_owned()));
        images.collect::<Vec<_>>()
    };
    let lists = ["containers", "initContainers", "ephemeralContainers"];
    lists.into_iter().all(|list| containers(spec, list) == containers(old, list))
}

/// Warns of workloads whose pods would not have the level of their namespace.
pub(super) fn check_template(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let Some(object) = request.object() else { return Ok(()) };
    let places = ["/spec/template", "/spec/jobTemplate/spec/template", "/template"];
    let template = places.iter().find_map(|place| object.pointer(place));
    let Some(namespace) = secured_namespace(server, &request.attributes().namespace) else {
        return Ok(());
    };
    let part = |name: &str| template.and_then(|it| it.get(name)).unwrap_or(&Value::Null);
    let defaults = &server.settings.pod_security;
    let is_exempt = defaults.exempts(&request.attributes().user.username, part("spec"));
    let level = defaults.level(&namespace, "warn");
    let level = level.filter(|_| template.is_some() && !is_exempt);
    let violation = level.and_then(|level| level.violation(part("metadata"), part("spec")));
    if let Some(violation) = violation {
        request.warn(&format!("would {violation}"));
    }
    Ok(())
}

/// Refuses namespaces whose labels name no level, and warns of their pods that do not have a new one.
pub(super) fn check_namespace(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let attributes = request.attributes();
    let Some(namespace) = request.object() else { return Ok(()) };
    let errors = security_label_errors(namespace);
    let old = attributes.old_object.as_deref();
    if !errors.is_empty() && old.is_none_or(|old| security_label_errors(old) != errors) {
        return Err(Status::invalid("", &attributes.kind.kind, &attributes.name, &errors));
    }
    let Some(old) = old else { return Ok(()) };
    let enforced = |namespace| server.settings.pod_security.level(namespace, "enforce");
    let before = enforced(old);
    let level = enforced(namespace).filter(|level| level.may_refuse_pods_of(before.as_ref()));
    let Some(level) = level else { return Ok(()) };
    for warning in warnings_of_pods(server, &attributes.name, &level) {
        request.warn(&warning);
    }
    Ok(())
}

/// Warnings of the pods of a namespace that do not have a level: a line for each set of reasons.
fn warnings_of_pods(server: &Shared, namespace: &str, level: &SecurityLevel) -> Vec<String> {
    let pods = server.read_objects("", "pods", &object_key(namespace, ""));
    let checked = pods.len().min(MAX_CHECKED_PODS);
    let mut lacking: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for pod in pods.iter().take(MAX_CHECKED_PODS) {
        let part = |name: &str| pod.get(name).unwrap_or(&Value::Null);
        let Some(reasons) = level.reasons(part("metadata"), part("spec")) else { continue };
        let name = || (text(part("metadata"), "name").to_owned(), 0);
        lacking.entry(reasons).or_insert_with(name).1 += 1;
    }
    let mut warnings = Vec::new();
    if checked < pods.len() {
        let all = pods.len();
        warnings.push(format!(
            "new PodSecurity enforce level only checked against the first {checked} of {all} \
             existing pods"
        ));
    }
    if !lacking.is_empty() {
        let (namespace, level) = (quote(namespace), level.quoted());
        warnings.push(format!(
            "existing pods in namespace {namespace} violate the new PodSecurity enforce level {level}"
        ));
    }
    let lines = lacking.into_iter().map(|(reasons, (name, count))| match count {
        0 | 1 => format!("{name}: {reasons}"),
        2 => format!("{name} (and 1 other pod): {reasons}"),
        _ => format!("{name} (and {} other pods): {reasons}", count - 1),
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    warnings.extend(lines);
    warnings
}
