//! Validation of validating policies (PO-10 to PO-13).

use std::collections::BTreeSet;

use billhook::webhook::not_supported;
use billhook_apimachinery::names::qualified_name;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Value, json};

use super::common::{Stored, conditions, head, spec, variables};
use crate::document::{AuditAnnotationExpression, ValidatingAdmissionPolicy, Validation};
use crate::program::{Role, Setting, Variables, compile, environment};

/// How many annotations a policy may have.
const MAX_ANNOTATIONS: usize = 20;
/// How long the expression of an annotation may be.
const MAX_VALUE_EXPRESSION: usize = 5 * 1024;
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

pub(super) fn validate(
    policy: &ValidatingAdmissionPolicy,
    stored: Option<&ValidatingAdmissionPolicy>,
    kubernetes: KubernetesVersion,
) -> Vec<FieldError> {
    let spec_of = &policy.spec;
    let setting = Setting { has_params: spec_of.param_kind.is_some(), kubernetes };
    let known = stored.map(stored_expressions).unwrap_or_default();
    let mut errors = head(
        spec_of.failure_policy.as_deref(),
        spec_of.param_kind.as_ref(),
        spec_of.match_constraints.as_ref(),
    );
    let is_same = stored.is_some_and(|stored| {
        stored.spec.match_conditions == spec_of.match_conditions
            && stored.spec.param_kind == spec_of.param_kind
    });
    if !is_same {
        errors.extend(conditions(&spec_of.match_conditions, setting, &known));
    }
    let (variables, found) = variables(&spec_of.variables, Role::Variable, setting);
    errors.extend(found);
    let variables = (!spec_of.variables.is_empty()).then_some(variables);
    if spec_of.validations.is_empty() && spec_of.audit_annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        for name in ["validations", "auditAnnotations"] {
            errors.push(FieldError::required(spec(name), detail));
        }
    }
    let mut checks = Checks { setting, known, variables, errors: &mut errors };
    for (index, validation) in spec_of.validations.iter().enumerate() {
        checks.validation(validation, &spec("validations").index(index));
    }
    checks.annotations(&spec_of.audit_annotations, policy.name());
    errors
}

fn stored_expressions(policy: &ValidatingAdmissionPolicy) -> Stored<'_> {
    let mut stored = Stored::of_conditions(&policy.spec.match_conditions);
    for validation in &policy.spec.validations {
        stored.add(Role::Validation, &validation.expression);
        stored.add(Role::Message, &validation.message_expression);
    }
    for annotation in &policy.spec.audit_annotations {
        stored.add(Role::Annotation, &annotation.value_expression);
    }
    stored
}

struct Checks<'c> {
    setting: Setting,
    known: Stored<'c>,
    variables: Option<Variables>,
    errors: &'c mut Vec<FieldError>,
}

impl Checks<'_> {
    fn expression(&mut self, role: Role, expression: &str, path: FieldPath) {
        let environment =
            environment(role, self.setting, self.known.libraries(Some(role), expression));
        let environment = match &self.variables {
            Some(variables) => variables.declare(environment),
            None => environment,
        };
        if let Err(detail) = compile(&environment, role, expression) {
            self.errors.push(FieldError::invalid(path, expression, &detail));
        }
    }

    fn validation(&mut self, validation: &Validation, path: &FieldPath) {
        let Validation { expression, message, reason, message_expression } = validation;
        let at = |name: &str| path.clone().name(name);
        if expression.trim().is_empty() {
            let detail = "expression is not specified";
            self.errors.push(FieldError::required(at("expression"), detail));
        } else {
            self.expression(Role::Validation, expression, at("expression"));
        }
        let blank = "must be non-empty if specified";
        if !message_expression.is_empty() {
            let path = at("messageExpression");
            match message_expression.trim() {
                "" => {
                    let error = FieldError::invalid(path, message_expression.as_str(), blank);
                    self.errors.push(error);
                }
                _ => self.expression(Role::Message, message_expression, path),
            }
        }
        let problem = match message.trim() {
            _ if message.is_empty() => None,
            "" => Some(blank),
            trimmed if trimmed.contains(['\n', '\r']) => Some("must not contain line breaks"),
            _ => None,
        };
        if let Some(detail) = problem {
            self.errors.push(FieldError::invalid(at("message"), message.as_str(), detail));
        }
        if let Some(reason) = reason.as_deref().filter(|reason| !REASONS.contains(reason)) {
            self.errors.push(not_supported(at("reason"), reason, &REASONS));
        }
    }

    fn annotations(&mut self, annotations: &[AuditAnnotationExpression], policy: &str) {
        if annotations.len() > MAX_ANNOTATIONS {
            self.errors.push(too_many(annotations));
        }
        let mut keys = BTreeSet::new();
        for (index, annotation) in annotations.iter().enumerate() {
            let path = spec("auditAnnotations").index(index);
            self.annotation(annotation, policy, &path);
            if !keys.insert(annotation.key.as_str()) {
                let error = FieldError::duplicate(path.name("key"), annotation.key.as_str());
                self.errors.push(error);
            }
        }
    }

    fn annotation(
        &mut self,
        annotation: &AuditAnnotationExpression,
        policy: &str,
        path: &FieldPath,
    ) {
        let AuditAnnotationExpression { key, value_expression: expression } = annotation;
        let at = |name: &str| path.clone().name(name);
        if policy.is_empty() {
            let detail = "requires metadata.name be non-empty";
            self.errors.push(FieldError::invalid(at("key"), key.as_str(), detail));
        } else {
            let whole = format!("{policy}/{key}");
            for text in qualified_name(&whole, self.setting.kubernetes.wording()) {
                self.errors.push(FieldError::invalid(at("key"), whole.as_str(), &text));
            }
        }
        let path = at("valueExpression");
        if expression.trim().is_empty() {
            let detail = "valueExpression is not specified";
            self.errors.push(FieldError::required(path, detail));
        } else if expression.trim().len() > MAX_VALUE_EXPRESSION {
            let detail = "must not exceed 5120 bytes in length";
            self.errors.push(FieldError::required(path, detail));
        } else {
            self.expression(Role::Annotation, expression, path);
        }
    }
}

/// The value is the list as the server holds it.
fn too_many(annotations: &[AuditAnnotationExpression]) -> FieldError {
    let member = |name: &str, value: &str| {
        format!("{}:{}", compact_json(&name.into()), compact_json(&value.into()))
    };
    let shown = annotations.iter().map(|AuditAnnotationExpression { key, value_expression }| {
        let (key, value) = (member("Key", key), member("ValueExpression", value_expression));
        format!("{{{key},{value}}}")
    });
    let shown = format!("[{}]", shown.collect::<Vec<_>>().join(","));
    let value = annotations
        .iter()
        .map(|it| json!({"Key": it.key, "ValueExpression": it.value_expression}))
        .collect::<Vec<Value>>();
    let detail = format!("must not have more than {MAX_ANNOTATIONS} auditAnnotations");
    FieldError::invalid(spec("auditAnnotations"), value, &detail).show_value_as(shown)
}
