//! The templates of Deployments and ReplicaSets, and what all kinds of the group do with theirs.

use billhook_apimachinery::FieldError;
use billhook_apimachinery::label_selector::Selector;
use serde_json::Value;

use crate::behavior::{Findings, WriteContext};
use crate::core::pod_template;
use crate::rules;
use crate::values::{path, value_at};
use crate::workloads::{
    invalid_selector, is_empty_selector, parse_selector, part, runs_always, template_labels,
    warn_of_changes,
};

/// Validates the selector and the template of a Deployment or a ReplicaSet (BK-301, BK-302).
pub(super) fn validate_replicated(
    object: &Value,
    old: Option<&Value>,
    context: &WriteContext<'_>,
    found: &mut Findings,
) {
    let at = path(&["spec", "selector"]);
    let selector = part(object, "/spec/selector");
    if selector.is_null() {
        found.errors.push(FieldError::required(at.clone(), ""));
    }
    rules::label_selector(&mut found.errors, &at, Some(selector), context.kubernetes);
    if is_empty_selector(selector) {
        let detail = "empty selector is invalid for deployment";
        found.errors.push(invalid_selector(&at, selector, detail));
    }
    match parse_selector(Some(selector), context.kubernetes) {
        Err(_) => found.errors.push(invalid_selector(&at, selector, "invalid label selector")),
        Ok(selector) => {
            let template = part(object, "/spec/template");
            template_labels(&mut found.errors, &path(&["spec", "template"]), template, &selector);
            validate(object, old, context, found);
            let at = path(&["spec", "template"]);
            runs_always(&mut found.errors, &at, template, "ReplicaSet");
        }
    }
}

/// Validates the template of an object. Warnings are about templates that are new.
pub(super) fn validate(
    object: &Value,
    old: Option<&Value>,
    context: &WriteContext<'_>,
    found: &mut Findings,
) {
    validate_as(part(object, "/spec/template"), object, old, context, found);
}

/// Validates what the template of an object comes to.
pub(super) fn validate_as(
    template: &Value,
    object: &Value,
    old: Option<&Value>,
    context: &WriteContext<'_>,
    found: &mut Findings,
) {
    let before = found.warnings.len();
    pod_template::validate(template, &path(&["spec", "template"]), context, found);
    warn_of_changes(found, before, "/spec", object, old);
}

/// Returns what the selector of an object selects, after the checks that StatefulSets and DaemonSets
/// make of it.
pub(super) fn selector_of(object: &Value, context: &WriteContext<'_>) -> Option<Selector> {
    parse_selector(value_at(object, "/spec/selector"), context.kubernetes).ok()
}
