//! IngressClasses (BK-460).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, names};
use serde_json::Value;

use super::reference;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::values::{object_mut, path, set_missing, text, value_at};
use crate::{cells, rules};

/// The annotation of the class that ingresses without one get.
const DEFAULT: &str = "ingressclass.kubernetes.io/is-default-class";

const MAX_CONTROLLER: usize = 250;

/// The characters of a path beside letters and digits.
const PATH_CHARACTERS: &str = "/-._~%!$&'()*+,;=:";

/// The rules of IngressClasses.
#[derive(Debug)]
pub(crate) struct IngressClass;

impl Behavior for IngressClass {
    fn set_defaults(&self, class: &mut Value, _: KubernetesVersion) {
        if let Some(parameters) = object_mut(class, "/spec/parameters") {
            set_missing(parameters, "scope", "Cluster");
        }
    }

    fn validate(
        &self,
        class: &Value,
        old: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        let (controller, path) = (text(class, "/spec/controller"), path(&["spec", "controller"]));
        if old.is_some_and(|old| text(old, "/spec/controller") != controller) {
            errors.push(FieldError::invalid(path.clone(), controller, rules::IMMUTABLE));
        }
        validate_controller(controller, &path, errors);
        if let Some(parameters) = value_at(class, "/spec/parameters") {
            validate_parameters(parameters, errors);
        }
    }

    fn cells(&self, class: &Value, now: Time) -> Vec<Value> {
        let annotation = value_at(class, "/metadata/annotations").and_then(|all| all.get(DEFAULT));
        let is_default = annotation.is_some_and(|value| value == "true");
        let name = text(class, "/metadata/name");
        vec![
            if is_default { format!("{name} (default)") } else { name.to_owned() }.into(),
            cells::at(class, "/spec/controller"),
            value_at(class, "/spec/parameters").map_or("<none>".into(), parameters_cell),
            cells::created(class, now),
        ]
    }
}

fn parameters_cell(parameters: &Value) -> Value {
    let (kind, name) = (text(parameters, "/kind"), text(parameters, "/name"));
    match text(parameters, "/apiGroup") {
        "" => format!("{kind}/{name}"),
        group => format!("{kind}.{group}/{name}"),
    }
    .into()
}

/// A controller is a path after a domain.
fn validate_controller(controller: &str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if controller.len() > MAX_CONTROLLER {
        errors.push(FieldError::too_long(path.clone(), MAX_CONTROLLER as i64));
    }
    let parts = controller.split_once('/').filter(|(domain, path)| ![domain, path].contains(&&""));
    let mut refuse = |detail| errors.push(FieldError::invalid(path.clone(), controller, detail));
    match parts {
        None if controller.is_empty() => errors.push(FieldError::required(path.clone(), "")),
        None => refuse("must be a domain-prefixed path (such as \"acme.io/foo\")"),
        Some((domain, rest)) => {
            let messages = names::dns1123_subdomain(domain);
            messages.iter().for_each(|message| refuse(message));
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || PATH_CHARACTERS.contains(c);
            if messages.is_empty() && !rest.chars().all(is_allowed) {
                refuse(
                    "Invalid path (regex used for validation is \
                     '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
                );
            }
        }
    }
}

fn validate_parameters(parameters: &Value, errors: &mut Vec<FieldError>) {
    let path = path(&["spec", "parameters"]);
    reference::validate(parameters, &path, errors);
    let namespace = parameters.get("namespace").map(|namespace| text(namespace, ""));
    let namespace_path = path.clone().name("namespace");
    match (text(parameters, "/scope"), namespace) {
        ("Namespace", None) => {
            let detail = "`parameters.scope` is set to 'Namespace'";
            errors.push(FieldError::required(namespace_path, detail));
        }
        ("Namespace", Some(namespace)) => {
            rules::named(errors, &namespace_path, namespace, names::dns1123_label);
        }
        ("Cluster", Some(_)) => {
            let detail = "`parameters.scope` is set to 'Cluster'";
            errors.push(FieldError::forbidden(namespace_path, detail));
        }
        ("Cluster", None) => {}
        (scope, _) => {
            rules::one_of(errors, &path.name("scope"), scope, &["Cluster", "Namespace"]);
        }
    }
}
