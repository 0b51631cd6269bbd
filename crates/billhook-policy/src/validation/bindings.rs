//! Validation of bindings (PO-14, PO-15).

use std::collections::BTreeSet;

use billhook::webhook::{MatchResources, not_supported};
use billhook_apimachinery::FieldError;
use billhook_apimachinery::names::{dns1123_subdomain, path_segment};

use super::common::{one_of, spec};
use super::mutating::operations;
use crate::document::{MutatingBindingSpec, ParamRef, ValidatingBindingSpec};

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

pub(super) fn validating(binding: &ValidatingBindingSpec) -> Vec<FieldError> {
    let mut errors =
        head(&binding.policy_name, binding.param_ref.as_ref(), binding.match_resources.as_ref());
    actions(&binding.validation_actions, &mut errors);
    errors
}

pub(super) fn mutating(binding: &MutatingBindingSpec) -> Vec<FieldError> {
    let resources = binding.match_resources.as_ref();
    let mut errors = head(&binding.policy_name, binding.param_ref.as_ref(), resources);
    let rules = resources.map(|resources| resources.resource_rules.as_slice());
    operations(rules.unwrap_or_default(), spec("matchResources"), &mut errors);
    errors
}

fn head(
    policy_name: &str,
    param_ref: Option<&ParamRef>,
    resources: Option<&MatchResources>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let path = spec("policyName");
    if policy_name.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else {
        let texts = dns1123_subdomain(policy_name);
        errors.extend(texts.iter().map(|it| FieldError::invalid(path.clone(), policy_name, it)));
    }
    if let Some(param_ref) = param_ref {
        errors.extend(validate_param_ref(param_ref));
    }
    if let Some(resources) = resources {
        errors.extend(resources.validate(&spec("matchResources")));
    }
    errors
}

fn validate_param_ref(param_ref: &ParamRef) -> Vec<FieldError> {
    let ParamRef { name, selector, parameter_not_found_action, .. } = param_ref;
    let at = |name: &str| spec("paramRef").name(name);
    let exclusive =
        |field: &str| FieldError::forbidden(at(field), "name and selector are mutually exclusive");
    let mut errors = Vec::new();
    if !name.is_empty() {
        let texts = path_segment(name, false);
        errors
            .extend(texts.iter().map(|text| FieldError::invalid(at("name"), name.as_str(), text)));
        errors.extend(selector.as_ref().map(|_| exclusive("name")));
    }
    if let Some(selector) = selector {
        errors.extend(selector.validate(&at("selector")));
        errors.extend((!name.is_empty()).then(|| exclusive("selector")));
    }
    if name.is_empty() && selector.is_none() {
        let detail = "one of name or selector must be specified";
        errors.push(FieldError::required(spec("paramRef"), detail));
    }
    let action = parameter_not_found_action.as_deref().filter(|action| !action.is_empty());
    one_of(at("parameterNotFoundAction"), action, &["Deny", "Allow"], &mut errors);
    errors
}

fn actions(actions: &[String], errors: &mut Vec<FieldError>) {
    let path = spec("validationActions");
    let mut seen = BTreeSet::new();
    for (index, action) in actions.iter().enumerate() {
        let path = path.clone().index(index);
        if !ACTIONS.contains(&action.as_str()) {
            errors.push(not_supported(path.clone(), action, &ACTIONS));
        }
        if !seen.insert(action.as_str()) {
            errors.push(FieldError::duplicate(path, action.as_str()));
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure \
                      information in the API response and headers serves no purpose)";
        let error = FieldError::invalid(path.clone(), actions.to_vec(), detail).of_strings();
        errors.push(error);
    }
    if actions.is_empty() {
        let detail = "at least one validation action is required";
        errors.push(FieldError::required(path, detail));
    }
}
