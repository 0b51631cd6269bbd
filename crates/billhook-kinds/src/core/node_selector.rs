//! Selectors of nodes by labels and fields (BK-106).

use billhook_apimachinery::names::{dns1123_subdomain, label_value, qualified_name};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::rules::invalid;
use crate::values::{items, text};

const NOT_AN_OPERATOR: &str = "not a valid selector operator";

/// A selector of nodes at a path.
pub(crate) fn node_selector(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    selector: &Value,
    kubernetes: KubernetesVersion,
) {
    let at = path.clone().name("nodeSelectorTerms");
    let terms = items(selector, "/nodeSelectorTerms");
    if terms.is_empty() {
        let detail = "must have at least one node selector term";
        errors.push(FieldError::required(at.clone(), detail));
    }
    for (index, term) in terms.iter().enumerate() {
        node_selector_term(errors, &at.clone().index(index), term, kubernetes);
    }
}

fn node_selector_term(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    term: &Value,
    kubernetes: KubernetesVersion,
) {
    for (index, requirement) in items(term, "/matchExpressions").iter().enumerate() {
        let at = path.clone().name("matchExpressions").index(index);
        validate_label(requirement, &at, kubernetes, errors);
    }
    for (index, requirement) in items(term, "/matchFields").iter().enumerate() {
        validate_field(requirement, &path.clone().name("matchFields").index(index), errors);
    }
}

fn validate_label(
    requirement: &Value,
    at: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let values = items(requirement, "/values");
    let of_values = at.clone().name("values");
    match text(requirement, "/operator") {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(of_values, detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(of_values, detail));
        }
        "Gt" | "Lt" if values.len() != 1 => {
            let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            errors.push(FieldError::required(of_values, detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        operator => {
            let at = at.clone().name("operator");
            errors.push(FieldError::invalid(at, operator, NOT_AN_OPERATOR));
        }
    }
    let key = text(requirement, "/key");
    let messages = qualified_name(key, kubernetes.wording());
    invalid(errors, &at.clone().name("key"), key, messages);
    for (index, value) in values.iter().enumerate() {
        let (value, at) = (text(value, ""), at.clone().name("values").index(index));
        invalid(errors, &at, value, label_value(value, kubernetes.wording()));
    }
}

fn validate_field(requirement: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let values = items(requirement, "/values");
    match text(requirement, "/operator") {
        "In" | "NotIn" => {
            if values.len() != 1 {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node \
                              field selector";
                errors.push(FieldError::required(at.clone().name("values"), detail));
            }
        }
        operator => {
            let at = at.clone().name("operator");
            errors.push(FieldError::invalid(at, operator, NOT_AN_OPERATOR));
        }
    }
    let key = text(requirement, "/key");
    if key != "metadata.name" {
        let detail = "not a valid field selector key";
        errors.push(FieldError::invalid(at.clone().name("key"), key, detail));
        return;
    }
    for (index, value) in values.iter().enumerate() {
        let at = at.clone().name("values").index(index);
        let name = text(value, "");
        invalid(errors, &at, name, dns1123_subdomain(name));
    }
}

/// Returns why a label of nodes should not be used any more, if that is so.
pub(crate) fn deprecated_label(key: &str) -> Option<&'static str> {
    Some(match key {
        "beta.kubernetes.io/arch" => "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
        "beta.kubernetes.io/os" => "deprecated since v1.14; use \"kubernetes.io/os\" instead",
        "failure-domain.beta.kubernetes.io/region" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"
        }
        "failure-domain.beta.kubernetes.io/zone" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"
        }
        "beta.kubernetes.io/instance-type" => {
            "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"
        }
        _ => return None,
    })
}
