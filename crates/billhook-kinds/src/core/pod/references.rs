//! References to fields and resources of a pod from its volumes and variables (BK-104).

use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use super::checks::{member, member_text, required};
use super::resources::HUGE_PAGES;
use crate::rules::{invalid, one_of, qualified_name, quantity};
use crate::values::text;

/// The fields that can be referred to.
const FIELDS: [&str; 15] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.host",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.phase",
    "status.podIP",
    "status.podIPs",
];

/// The fields that variables may have as values.
pub(super) const VARIABLES: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The fields that files may hold.
pub(super) const FILES: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const CPU_DIVISORS: [&str; 2] = ["1m", "1"];

const BYTE_DIVISORS: [&str; 13] =
    ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// A reference to a field.
pub(super) fn field(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    reference: &Value,
    supported: &[&str],
    kubernetes: KubernetesVersion,
) {
    let (version, field) = (text(reference, "/apiVersion"), text(reference, "/fieldPath"));
    if !required(errors, path, reference, "apiVersion")
        || !required(errors, path, reference, "fieldPath")
    {
        return;
    }
    let at = path.clone().name("fieldPath");
    let (name, key) = match field.split_once("['") {
        Some((name, rest)) => match rest.strip_suffix("']") {
            Some(key) => (name, Some(key)),
            None => (field, None),
        },
        None => (field, None),
    };
    let problem = if version != "v1" {
        format!("unsupported pod version: {version}")
    } else if !FIELDS.contains(&name) {
        format!("field label not supported: {field}")
    } else {
        return known_field(errors, path, &at, (name, key), supported, kubernetes);
    };
    errors.push(FieldError::invalid(at, field, &format!("error converting fieldPath: {problem}")));
}

fn known_field(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    at: &FieldPath,
    (name, key): (&str, Option<&str>),
    supported: &[&str],
    kubernetes: KubernetesVersion,
) {
    match (name, key) {
        ("metadata.annotations", Some(key)) => {
            let key = billhook_apimachinery::names::lower_case(key);
            qualified_name(errors, path, &key, kubernetes);
        }
        ("metadata.labels", Some(key)) => qualified_name(errors, path, key, kubernetes),
        (name, Some(_)) => invalid(errors, path, name, ["does not support subscript"]),
        (name, None) => one_of(errors, at, name, supported),
    }
}

/// A reference to a resource of a container.
pub(super) fn resource(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    reference: &Value,
    is_file: bool,
) {
    let name = text(reference, "/resource");
    let is_of_huge_pages = ["limits.", "requests."].iter().any(|prefix| {
        name.strip_prefix(prefix).is_some_and(|resource| resource.starts_with(HUGE_PAGES))
    });
    if is_file && member_text(reference, "containerName").is_none() {
        errors.push(FieldError::required(path.clone().name("containerName"), ""));
    } else if required(errors, path, reference, "resource") && !is_of_huge_pages {
        one_of(errors, &path.clone().name("resource"), name, &RESOURCES);
    }
    divisor(errors, path, name, member(reference, "divisor"));
}

fn divisor(errors: &mut Vec<FieldError>, path: &FieldPath, name: &str, divisor: Option<&Value>) {
    let Some(divisor) = divisor.and_then(quantity).filter(|divisor| divisor.signum() != 0) else {
        return;
    };
    let resource = name.split_once('.').map_or(name, |(_, resource)| resource);
    let (supported, kind): (&[&str], &str) = match resource {
        "cpu" => (&CPU_DIVISORS, "cpu"),
        "memory" => (&BYTE_DIVISORS, "memory"),
        "ephemeral-storage" => (&BYTE_DIVISORS, "local ephemeral storage"),
        _ if resource.starts_with(HUGE_PAGES) => (&BYTE_DIVISORS, "hugepages"),
        _ => return,
    };
    if supported.contains(&divisor.to_string().as_str()) {
        return;
    }
    let values = if kind == "cpu" { "1m and 1".to_owned() } else { supported.join(", ") };
    let detail = format!("only divisor's values {values} are supported with the {kind} resource");
    errors.push(FieldError::invalid(path.clone().name("divisor"), name, &detail));
}
