//! The spec of PersistentVolumeClaims, and of the claims that workloads and pods are templates of
//! (BK-432).

use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Value, json};

use crate::behavior::{Findings, WriteContext};
use crate::resource_names::{positive_amount, resource_amount};
use crate::rules::{
    label_selector, members_required, named, one_of, round_amounts, warn_of_fractions,
};
use crate::values::{items, set_missing, text, value_at};

const ACCESS_MODES: [&str; 4] =
    ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// Sets the defaults of the spec of a claim.
pub(crate) fn set_defaults(spec: &mut Value, _kubernetes: KubernetesVersion) {
    set_missing(spec, "volumeMode", "Filesystem");
    for amounts in ["/resources/requests", "/resources/limits"] {
        round_amounts(spec, amounts);
    }
}

/// Validates the spec of a claim at a path.
pub(crate) fn validate_spec(
    spec: &Value,
    path: &FieldPath,
    context: &WriteContext<'_>,
    found: &mut Findings,
) {
    let (errors, kubernetes) = (&mut found.errors, context.kubernetes);
    let at = |name: &str| path.clone().name(name);
    if items(spec, "/accessModes").is_empty() {
        let detail = "at least 1 access mode is required";
        errors.push(FieldError::required(at("accessModes"), detail));
    }
    label_selector(errors, &at("selector"), spec.get("selector"), kubernetes);
    access_modes(errors, path, spec);
    let storage = at("resources").key("storage");
    match value_at(spec, "/resources/requests/storage") {
        None => errors.push(FieldError::required(storage, "")),
        Some(amount) => {
            resource_amount(errors, &storage, "storage", amount);
            positive_amount(errors, &storage, amount);
        }
    }
    validate_class(spec, path, "storageClassName", errors);
    if let Some(mode) = spec.get("volumeMode") {
        volume_mode(errors, &at("volumeMode"), text(mode, ""));
    }
    validate_sources(spec, path, errors);
    validate_class(spec, path, "volumeAttributesClassName", errors);
}

/// Warns of the spec of a claim.
pub(crate) fn warn(found: &mut Vec<String>, path: &FieldPath, spec: &Value) {
    for name in ["requests", "limits"] {
        let amounts = spec.get("resources").and_then(|resources| resources.get(name));
        let at = path.clone().name("resources").name(name);
        warn_of_fractions(found, &at, amounts, &["storage"]);
    }
}

fn validate_class(spec: &Value, path: &FieldPath, field: &str, errors: &mut Vec<FieldError>) {
    let class = text(spec, field);
    if !class.is_empty() {
        named(errors, &path.clone().name(field), class, dns1123_subdomain);
    }
}

/// The access modes of a claim or a volume.
pub(crate) fn access_modes(errors: &mut Vec<FieldError>, spec_path: &FieldPath, spec: &Value) {
    let at = spec_path.clone().name("accessModes");
    let modes = items(spec, "/accessModes");
    for mode in modes {
        one_of(errors, &at, text(mode, ""), &ACCESS_MODES);
    }
    if modes.len() > 1 && modes.iter().any(|mode| mode == "ReadWriteOncePod") {
        let detail = "may not use ReadWriteOncePod with other access modes";
        errors.push(FieldError::forbidden(at, detail));
    }
}

/// The mode of a claim or a volume.
pub(super) fn volume_mode(errors: &mut Vec<FieldError>, path: &FieldPath, mode: &str) {
    one_of(errors, path, mode, &["Block", "Filesystem"]);
}

fn validate_sources(spec: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let (source, reference) = (spec.get("dataSource"), spec.get("dataSourceRef"));
    if let Some(source) = source {
        validate_source(source, &path.clone().name("dataSource"), errors);
    }
    if let Some(reference) = reference {
        let at = path.clone().name("dataSourceRef");
        validate_source(reference, &at, errors);
        let namespace = text(reference, "/namespace");
        if !namespace.is_empty() {
            named(errors, &at.name("namespace"), namespace, dns1123_label);
            if source.is_some() {
                let detail = "may not be specified when dataSourceRef.namespace is specified";
                errors.push(FieldError::invalid(path.clone(), json!({}), detail));
            }
            return;
        }
    }
    let (Some(source), Some(reference)) = (source, reference) else { return };
    let differs = |name: &str| text(source, name) != text(reference, name);
    if ["apiGroup", "kind", "name"].into_iter().any(differs) {
        // The server shows an empty value.
        errors.push(FieldError::invalid(path.clone(), json!({}), "must match dataSourceRef"));
    }
}

fn validate_source(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    members_required(errors, at, source, &["name", "kind"]);
    let (group, kind) = (text(source, "/apiGroup"), text(source, "/kind"));
    if !group.is_empty() {
        named(errors, &at.clone().name("apiGroup"), group, dns1123_subdomain);
    } else if kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.push(FieldError::invalid(at.clone(), kind, detail));
    }
}
