//! The checks that policies of both kinds and bindings have in common.

use std::collections::BTreeSet;

use billhook::webhook::{MatchCondition, MatchResources, not_supported, validate_conditions};
use billhook_apimachinery::names::{dns1035_label, dns1123_subdomain, kind};
use billhook_apimachinery::{FieldError, FieldPath, split_api_version};
use billhook_cel::{Libraries, is_identifier};

use crate::document::{ParamKind, Variable};
use crate::program::{Role, Setting, Variables, compile, environment};

/// The path `spec.<name>`.
pub(super) fn spec(name: &str) -> FieldPath {
    FieldPath::default().name("spec").name(name)
}

/// The expressions of the stored policy, by what they are for: each may use all libraries where it
/// was (PO-13).
#[derive(Default)]
pub(super) struct Stored<'s>(BTreeSet<(Option<Role>, &'s str)>);

impl<'s> Stored<'s> {
    /// The expressions of match conditions, which have no role of their own.
    pub(super) fn of_conditions(conditions: &'s [MatchCondition]) -> Self {
        Stored(conditions.iter().map(|it| (None, it.expression.as_str())).collect())
    }

    pub(super) fn add(&mut self, role: Role, expression: &'s str) {
        self.0.insert((Some(role), expression));
    }

    pub(super) fn libraries(&self, role: Option<Role>, expression: &str) -> Libraries {
        match self.0.contains(&(role, expression)) {
            true => Libraries::Full,
            false => Libraries::Compatible,
        }
    }
}

/// A text that must be one of a few.
pub(super) fn one_of(
    path: FieldPath,
    value: Option<&str>,
    supported: &[&str],
    errors: &mut Vec<FieldError>,
) {
    match value {
        None => errors.push(FieldError::required(path, "")),
        Some(value) if supported.contains(&value) => {}
        Some(value) => errors.push(not_supported(path, value, supported)),
    }
}

/// `failurePolicy`, `paramKind` and `matchConstraints`, which both kinds of policies begin with.
pub(super) fn head(
    failure_policy: Option<&str>,
    param_kind: Option<&ParamKind>,
    constraints: Option<&MatchResources>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    one_of(spec("failurePolicy"), failure_policy, &["Fail", "Ignore"], &mut errors);
    if let Some(param_kind) = param_kind {
        validate_param_kind(param_kind, &mut errors);
    }
    let path = spec("matchConstraints");
    match constraints {
        None => errors.push(FieldError::required(path, "")),
        Some(constraints) => {
            errors.extend(constraints.validate(&path));
            if constraints.resource_rules.is_empty() {
                errors.push(FieldError::required(path.name("resourceRules"), ""));
            }
        }
    }
    errors
}

fn validate_param_kind(param_kind: &ParamKind, errors: &mut Vec<FieldError>) {
    let ParamKind { api_version, kind: name } = param_kind;
    let path = spec("paramKind").name("apiVersion");
    let mut invalid =
        |value: &str, text: &str| errors.push(FieldError::invalid(path.clone(), value, text));
    let (group, version) = split_api_version(api_version);
    if api_version.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if version.contains('/') {
        invalid(api_version, &format!("unexpected GroupVersion string: {api_version}"));
    } else {
        if !group.is_empty() {
            dns1123_subdomain(group).iter().for_each(|text| invalid(group, text));
        }
        if version.is_empty() {
            invalid(api_version, "version must be specified");
        } else {
            dns1035_label(version).iter().for_each(|text| invalid(version, text));
        }
    }
    let path = spec("paramKind").name("kind");
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if let Some(text) = kind(name) {
        errors.push(FieldError::invalid(path, name.as_str(), &text));
    }
}

/// `matchConditions` of a policy.
pub(super) fn conditions(
    conditions: &[MatchCondition],
    setting: Setting,
    stored: &Stored<'_>,
) -> Vec<FieldError> {
    let check = |written: &str, trimmed: &str| {
        let Setting { has_params, kubernetes } = setting;
        let libraries = stored.libraries(None, written);
        MatchCondition::check_for_policy(trimmed, kubernetes, libraries, has_params)
    };
    let path = spec("matchConditions");
    validate_conditions(conditions, &path, setting.kubernetes, &check)
}

/// `variables` of a policy; also returns them.
pub(super) fn variables(
    list: &[Variable],
    role: Role,
    setting: Setting,
) -> (Variables, Vec<FieldError>) {
    let (mut variables, mut errors) = (Variables::default(), Vec::new());
    for (index, Variable { name, expression }) in list.iter().enumerate() {
        let at = |field: &str| spec("variables").index(index).name(field);
        if name.trim().is_empty() {
            errors.push(FieldError::required(at("name"), "name is not specified"));
        } else if !is_identifier(name) {
            let detail = "must be a valid CEL identifier";
            errors.push(FieldError::invalid(at("name"), name.as_str(), detail));
        }
        if expression.trim().is_empty() {
            let detail = "expression is not specified";
            errors.push(FieldError::required(at("expression"), detail));
            continue;
        }
        let environment = environment(role, setting, Libraries::Compatible);
        let program = compile(&variables.declare(environment), role, expression);
        if let Err(detail) = &program {
            errors.push(FieldError::invalid(at("expression"), expression.as_str(), detail));
        }
        variables.add(name, program);
    }
    (variables, errors)
}
