//! The checks that policies of both kinds and bindings have in common.

use std::collections::BTreeSet;

use billhook::webhook::{MatchCondition, expression_error, not_supported, validate_conditions};
use billhook_apimachinery::names::{dns1035_label, dns1123_subdomain, kind};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, split_api_version};
use billhook_cel::{Libraries, is_identifier};

use crate::document::{ParamKind, PolicyParts, Variable};
use crate::program::{Role, Scope};

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

    fn libraries(&self, role: Option<Role>, expression: &str) -> Libraries {
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

/// The checks of a policy, one after the other.
pub(super) struct Checks<'c> {
    stored: Stored<'c>,
    scope: Scope,
    pub(super) kubernetes: KubernetesVersion,
    pub(super) errors: Vec<FieldError>,
}

impl<'c> Checks<'c> {
    pub(super) fn new(
        policy: PolicyParts<'_>,
        stored: Stored<'c>,
        kubernetes: KubernetesVersion,
    ) -> Self {
        Checks { stored, scope: Scope::new(policy, kubernetes), kubernetes, errors: Vec::new() }
    }

    /// `failurePolicy`, `paramKind` and `matchConstraints`.
    pub(super) fn head(&mut self, policy: PolicyParts<'_>) {
        let failure_policies = &["Fail", "Ignore"];
        one_of(spec("failurePolicy"), policy.failure_policy, failure_policies, &mut self.errors);
        if let Some(param_kind) = policy.param_kind {
            validate_param_kind(param_kind, &mut self.errors);
        }
        let path = spec("matchConstraints");
        match policy.constraints {
            None => self.errors.push(FieldError::required(path, "")),
            Some(constraints) => {
                self.errors.extend(constraints.validate(&path));
                if constraints.resource_rules.is_empty() {
                    self.errors.push(FieldError::required(path.name("resourceRules"), ""));
                }
            }
        }
    }

    /// `matchConditions`, unless a stored policy had them for the same parameters, and `variables`.
    pub(super) fn names(&mut self, policy: PolicyParts<'_>, stored: Option<PolicyParts<'_>>) {
        let is_same = stored.is_some_and(|stored| {
            stored.conditions == policy.conditions && stored.param_kind == policy.param_kind
        });
        if !is_same {
            let check = |written: &str, trimmed: &str| {
                let libraries = self.stored.libraries(None, written);
                let has_params = policy.param_kind.is_some();
                MatchCondition::check_for_policy(trimmed, self.kubernetes, libraries, has_params)
            };
            let (path, list) = (spec("matchConditions"), policy.conditions);
            self.errors.extend(validate_conditions(list, &path, self.kubernetes, &check));
        }
        for (index, variable) in policy.variables.iter().enumerate() {
            self.variable(variable, &spec("variables").index(index));
        }
    }

    fn variable(&mut self, Variable { name, expression }: &Variable, path: &FieldPath) {
        let at = |field: &str| path.clone().name(field);
        if name.trim().is_empty() {
            self.errors.push(FieldError::required(at("name"), "name is not specified"));
        } else if !is_identifier(name) {
            let detail = "must be a valid CEL identifier";
            self.errors.push(FieldError::invalid(at("name"), name.as_str(), detail));
        }
        if expression.trim().is_empty() {
            let detail = "expression is not specified";
            self.errors.push(FieldError::required(at("expression"), detail));
        } else if let Err(detail) = self.scope.add(name, Libraries::Compatible, expression) {
            let path = at("expression");
            self.errors.push(expression_error(path, expression, &detail));
        }
    }

    /// Compiles what is `read` of an expression as it is written.
    pub(super) fn compile(&mut self, role: Role, written: &str, read: &str, path: FieldPath) {
        let libraries = self.stored.libraries(Some(role), written);
        if let Err(detail) = self.scope.compile(role, libraries, read) {
            self.errors.push(expression_error(path, read, &detail));
        }
    }
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
