//! Validation of one rule (WCF-33 to WCF-45).

use std::collections::BTreeSet;

use billhook_apimachinery::record::{FieldValue, Type, go_syntax};
use billhook_apimachinery::{FieldError, FieldPath};

use super::not_supported;
use crate::webhook::configuration::Rule;

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];

/// The Go package of the server's internal form (KV-10).
const PACKAGE: &str = "admissionregistration";
const OPERATION_TYPES: Type = Type::List(&Type::Named("v1.OperationType", &Type::Text));
const TEXTS: Type = <Vec<String>>::TYPE;

pub(super) fn validate(rule: &Rule, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let operations = path.clone().name("operations");
    list(&rule.operations, OPERATION_TYPES, &operations, "operations", errors);
    for (index, operation) in rule.operations.iter().enumerate() {
        if !OPERATIONS.contains(&operation.as_str()) {
            let path = operations.clone().index(index);
            errors.push(not_supported(path, operation, &OPERATIONS));
        }
    }
    list(&rule.api_groups, TEXTS, &path.clone().name("apiGroups"), "API groups", errors);
    let versions = path.clone().name("apiVersions");
    list(&rule.api_versions, TEXTS, &versions, "API versions", errors);
    for (index, version) in rule.api_versions.iter().enumerate() {
        if version.is_empty() {
            errors.push(FieldError::required(versions.clone().index(index), ""));
        }
    }
    resources(&rule.resources, &path.clone().name("resources"), errors);
    if let Some(scope) = rule.scope.as_deref().filter(|scope| !SCOPES.contains(scope)) {
        errors.push(not_supported(path.clone().name("scope"), scope, &SCOPES));
    }
}

/// A list must not be empty, and `*` must stand alone.
fn list(
    values: &[String],
    type_: Type,
    path: &FieldPath,
    what: &str,
    errors: &mut Vec<FieldError>,
) {
    if values.is_empty() {
        errors.push(FieldError::required(path.clone(), ""));
    }
    if values.len() > 1 && values.iter().any(|value| value == "*") {
        let detail = format!("if '*' is present, must not specify other {what}");
        let error = FieldError::invalid(path.clone(), values.to_vec(), &detail);
        errors.push(error.show_value_in_go_as(go_syntax(&values.into(), type_, PACKAGE)));
    }
}

/// WCF-38 to WCF-43.
fn resources(values: &[String], path: &FieldPath, errors: &mut Vec<FieldError>) {
    if values.is_empty() {
        errors.push(FieldError::required(path.clone(), ""));
    }
    // The resources of `pods/*`, the subresources of `*/status`.
    let (mut all_below, mut all_of) = (BTreeSet::new(), BTreeSet::new());
    // Whether the last element without subresource is a name (WCF-42).
    let mut last_is_name = false;
    for (index, value) in values.iter().enumerate() {
        let path = path.clone().index(index);
        if value.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        let Some((resource, subresource)) = value.split_once('/') else {
            last_is_name = value != "*";
            continue;
        };
        let mut overlap = |wildcard: String| {
            let detail = format!("if '{wildcard}' is present, must not specify {value}");
            errors.push(FieldError::invalid(path.clone(), value.as_str(), &detail));
        };
        if all_below.contains(resource) {
            overlap(format!("{resource}/*"));
        }
        if all_of.contains(subresource) {
            overlap(format!("*/{subresource}"));
        }
        if subresource == "*" {
            all_below.insert(resource);
        }
        if resource == "*" {
            all_of.insert(subresource);
        }
    }
    let contains = |wanted: &str| values.iter().any(|value| value == wanted);
    if values.len() > 1 && contains("*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(path.clone(), values.to_vec(), detail).of_strings());
    }
    if contains("*") && last_is_name {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(path.clone(), values.to_vec(), detail).of_strings());
    }
}
