//! Roles and ClusterRoles (BK-400).

use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::rules::label_selector;
use crate::values::{items, path};

/// The rules of roles.
#[derive(Debug)]
pub(crate) enum Role {
    Namespaced,
    Cluster,
}

impl Behavior for Role {
    fn validate(
        &self,
        role: &Value,
        _: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        for (index, rule) in items(role, "/rules").iter().enumerate() {
            let at = path(&["rules"]).index(index);
            self.validate_rule(rule, &at, &mut found.errors);
        }
        if let Some(aggregation) = role.get("aggregationRule").filter(|rule| rule.is_object()) {
            validate_aggregation(aggregation, context.kubernetes, &mut found.errors);
        }
    }
}

impl Role {
    fn validate_rule(&self, rule: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
        let is_empty = |name: &str| items(rule, name).is_empty();
        let at = |name: &str| at.clone().name(name);
        if is_empty("verbs") {
            let detail = "verbs must contain at least one value";
            errors.push(FieldError::required(at("verbs"), detail));
        }
        if let Some(urls) = rule.get("nonResourceURLs").filter(|_| !is_empty("nonResourceURLs")) {
            let has_resources =
                ["apiGroups", "resources", "resourceNames"].into_iter().any(|name| !is_empty(name));
            let rules = [
                (
                    matches!(self, Role::Namespaced),
                    "namespaced rules cannot apply to non-resource URLs",
                ),
                (
                    has_resources,
                    "rules cannot apply to both regular resources and non-resource URLs",
                ),
            ];
            for (_, detail) in rules.into_iter().filter(|(is_broken, _)| *is_broken) {
                let error = FieldError::invalid(at("nonResourceURLs"), urls.clone(), detail);
                errors.push(error.of_strings());
            }
            return;
        }
        for (name, detail) in [
            ("apiGroups", "resource rules must supply at least one api group"),
            ("resources", "resource rules must supply at least one resource"),
        ] {
            if is_empty(name) {
                errors.push(FieldError::required(at(name), detail));
            }
        }
    }
}

fn validate_aggregation(
    aggregation: &Value,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let at = path(&["aggregationRule", "clusterRoleSelectors"]);
    let selectors = items(aggregation, "/clusterRoleSelectors");
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.push(FieldError::required(at, detail));
        return;
    }
    for (index, selector) in selectors.iter().enumerate() {
        let at = at.clone().index(index);
        let before = errors.len();
        label_selector(errors, &at, Some(selector), kubernetes);
        if errors.len() > before {
            errors.push(FieldError::invalid(at, Value::Null, "invalid label selector."));
        }
    }
}
