//! Approval of APIs in the groups of the Kubernetes project (CV-13).

use billhook_apimachinery::net::Url;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use crate::model::Model;

const ANNOTATION: &str = "api-approved.kubernetes.io";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Approval {
    Missing,
    Invalid,
    Approved,
    Bypassed,
}

/// The outcome of the condition `KubernetesAPIApprovalPolicyConformant` of a definition (LC-26).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conformance {
    /// Whether it holds.
    pub holds: bool,
    /// Its reason.
    pub reason: &'static str,
    /// Its message.
    pub message: String,
}

/// Returns the condition of a definition in a protected group with a value of the annotation
/// `api-approved.kubernetes.io`; `None` in any other group.
pub fn conformance(group: &str, annotation: &str) -> Option<Conformance> {
    if !is_protected(group) {
        return None;
    }
    let (reason, message) = match approval(annotation) {
        Approval::Missing => ("MissingAnnotation", missing()),
        Approval::Bypassed => {
            ("UnapprovedAnnotation", format!("not approved: {}", quote(annotation)))
        }
        Approval::Approved => ("ApprovedAnnotation", format!("approved in {annotation}")),
        Approval::Invalid => ("InvalidAnnotation", invalid()),
    };
    Some(Conformance { holds: reason == "ApprovedAnnotation", reason, message })
}

/// Returns the value of the annotation in metadata; empty if it is absent.
pub fn annotation(metadata: &Value) -> &str {
    let annotations = metadata.get("annotations");
    let value = annotations.and_then(|annotations| annotations.get(ANNOTATION));
    value.and_then(Value::as_str).unwrap_or_default()
}

fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|protected| {
        group.strip_suffix(protected).is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
    })
}

const START: &str = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
const END: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

fn missing() -> String {
    format!("{START}, {END}")
}

fn invalid() -> String {
    format!("{START} with either a URL or a reason starting with \"unapproved\", {END}")
}

/// Checks the approval; on update only if its class has changed.
pub(crate) fn check(model: &Model<'_>, old: Option<&Model<'_>>, errors: &mut Vec<FieldError>) {
    if !is_protected(&model.spec.group) {
        return;
    }
    let annotation = |model: &Model<'_>| annotation(&model.metadata).to_owned();
    let state = approval(&annotation(model));
    if old.is_some_and(|old| approval(&annotation(old)) == state) {
        return;
    }
    let path = FieldPath::default().name("metadata").name("annotations").key(ANNOTATION);
    match state {
        Approval::Missing => errors.push(FieldError::required(path, &missing())),
        Approval::Invalid => {
            errors.push(FieldError::invalid(path, annotation(model), &invalid()));
        }
        Approval::Approved | Approval::Bypassed => {}
    }
}

fn approval(annotation: &str) -> Approval {
    if annotation.is_empty() {
        return Approval::Missing;
    }
    if annotation.starts_with("unapproved") {
        return Approval::Bypassed;
    }
    match Url::parse(annotation) {
        Ok(url) if !url.scheme.is_empty() && !url.host.is_empty() => Approval::Approved,
        _ => Approval::Invalid,
    }
}
