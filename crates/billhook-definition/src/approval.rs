//! Approval of APIs in the groups of the Kubernetes project (CV-13).

use billhook_apimachinery::net::Url;
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

/// Checks the approval; on update only if its class has changed.
pub(crate) fn check(model: &Model<'_>, old: Option<&Model<'_>>, errors: &mut Vec<FieldError>) {
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|group| {
        model.spec.group.strip_suffix(group).is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
    });
    if !is_protected {
        return;
    }
    let state = approval(annotation(model));
    if old.is_some_and(|old| approval(annotation(old)) == state) {
        return;
    }
    let path = FieldPath::default().name("metadata").name("annotations").key(ANNOTATION);
    let start = format!("protected groups must have approval annotation \"{ANNOTATION}\"");
    let end = "see https://github.com/kubernetes/enhancements/pull/1111";
    match state {
        Approval::Missing => errors.push(FieldError::required(path, &format!("{start}, {end}"))),
        Approval::Invalid => {
            let detail = format!(
                "{start} with either a URL or a reason starting with \"unapproved\", {end}"
            );
            errors.push(FieldError::invalid(path, annotation(model), &detail));
        }
        Approval::Approved | Approval::Bypassed => {}
    }
}

fn annotation<'m>(model: &'m Model<'_>) -> &'m str {
    let annotations = model.metadata.get("annotations");
    annotations
        .and_then(|annotations| annotations.get(ANNOTATION))
        .and_then(Value::as_str)
        .unwrap_or_default()
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
