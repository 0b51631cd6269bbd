//! PriorityClasses (BK-482).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::rules::{immutable, one_of};
use crate::values::{integer, path, set_missing, text};

/// The highest priority that users may define.
const HIGHEST: i64 = 1_000_000_000;

/// The classes that servers create.
const OF_SYSTEM: [&str; 2] = ["system-node-critical", "system-cluster-critical"];

/// The rules of priority classes.
#[derive(Debug)]
pub(crate) struct PriorityClass;

impl Behavior for PriorityClass {
    fn set_defaults(&self, class: &mut Value, _: KubernetesVersion) {
        set_missing(class, "preemptionPolicy", "PreemptLowerPriority");
    }

    fn validate(
        &self,
        class: &Value,
        old: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        match old {
            None => validate_new(class, &mut found.errors),
            Some(old) => validate_change(class, old, &mut found.errors),
        }
    }

    fn undeletable(&self, name: &str) -> Option<&'static str> {
        let why = "this is a system priority class and cannot be deleted";
        OF_SYSTEM.contains(&name).then_some(why)
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let flag = object.get("globalDefault").and_then(Value::as_bool);
        vec![
            cells::name(object),
            integer(object, "/value").unwrap_or_default().into(),
            flag.unwrap_or_default().into(),
            cells::created(object, now),
            cells::at(object, "/preemptionPolicy"),
        ]
    }
}

fn validate_new(class: &Value, errors: &mut Vec<FieldError>) {
    let name = text(class, "/metadata/name");
    if name.starts_with("system-") {
        if !OF_SYSTEM.contains(&name) {
            let detail = format!(
                "priority class names with 'system-' prefix are reserved for system use only. \
                 error: {name} is not a known system priority class"
            );
            errors.push(FieldError::forbidden(path(&["metadata", "name"]), &detail));
        }
    } else if integer(class, "/value").is_some_and(|value| value > HIGHEST) {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        errors.push(FieldError::forbidden(path(&["value"]), &detail));
    }
    let at = path(&["preemptionPolicy"]);
    match text(class, "/preemptionPolicy") {
        "" => errors.push(FieldError::required(at, "")),
        policy => one_of(errors, &at, policy, &["PreemptLowerPriority", "Never"]),
    }
}

fn validate_change(class: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    if integer(class, "/value") != integer(old, "/value") {
        errors.push(FieldError::forbidden(path(&["value"]), "may not be changed in an update."));
    }
    let policy = |class: &Value| class.get("preemptionPolicy").cloned();
    let (new, old) = (policy(class), policy(old));
    immutable(errors, &path(&["preemptionPolicy"]), new.as_ref(), old.as_ref());
}
