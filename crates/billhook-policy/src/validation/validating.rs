//! Validation of validating policies (PO-10 to PO-13).

use std::collections::BTreeSet;

use billhook::webhook::not_supported;
use billhook_apimachinery::names::qualified_name;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Value, json};

use super::common::{Checks, Stored, spec};
use crate::document::{AuditAnnotationExpression, PolicyValidation, ValidatingPolicySpec};
use crate::program::Role;

/// How many annotations a policy may have.
const MAX_ANNOTATIONS: usize = 20;
/// How long the expression of an annotation may be.
const MAX_VALUE_EXPRESSION: usize = 5 * 1024;
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

pub(super) fn validate(
    name: &str,
    policy: &ValidatingPolicySpec,
    stored: Option<&ValidatingPolicySpec>,
    kubernetes: KubernetesVersion,
) -> Vec<FieldError> {
    let (parts, known) = (policy.parts(), stored.map(stored_expressions));
    let mut checks = Checks::new(parts, known.unwrap_or_default(), kubernetes);
    checks.head(parts);
    checks.names(parts, stored.map(ValidatingPolicySpec::parts));
    if policy.validations.is_empty() && policy.audit_annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        for name in ["validations", "auditAnnotations"] {
            checks.errors.push(FieldError::required(spec(name), detail));
        }
    }
    for (index, validation) in policy.validations.iter().enumerate() {
        checks.validation(validation, &spec("validations").index(index));
    }
    checks.annotations(&policy.audit_annotations, name);
    checks.errors
}

fn stored_expressions(policy: &ValidatingPolicySpec) -> Stored<'_> {
    let mut stored = Stored::of_conditions(&policy.match_conditions);
    for validation in &policy.validations {
        stored.add(Role::Validation, &validation.expression);
        stored.add(Role::Message, &validation.message_expression);
    }
    for annotation in &policy.audit_annotations {
        stored.add(Role::Annotation, &annotation.value_expression);
    }
    stored
}

impl Checks<'_> {
    fn validation(&mut self, validation: &PolicyValidation, path: &FieldPath) {
        let PolicyValidation { expression, message, reason, message_expression } = validation;
        let at = |name: &str| path.clone().name(name);
        if expression.trim().is_empty() {
            let detail = "expression is not specified";
            self.errors.push(FieldError::required(at("expression"), detail));
        } else {
            self.compile(Role::Validation, expression, expression, at("expression"));
        }
        let blank = "must be non-empty if specified";
        if !message_expression.is_empty() {
            let path = at("messageExpression");
            match message_expression.trim() {
                "" => {
                    let error = FieldError::invalid(path, message_expression.as_str(), blank);
                    self.errors.push(error);
                }
                _ => self.compile(Role::Message, message_expression, message_expression, path),
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
            for text in qualified_name(&whole, self.kubernetes.wording()) {
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
            self.compile(Role::Annotation, expression, expression, path);
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
