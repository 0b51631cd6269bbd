//! The conditions of CertificateSigningRequests: who approved them, and what came of it (BK-487).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::FieldError;
use serde_json::Value;

use crate::rules::{one_of, required};
use crate::values::{items, items_mut, path, section, set_missing, text, value_at};

const PLACE: &str = "/status/conditions";

/// The conditions that say whether a request was approved.
const APPROVAL: [&str; 2] = ["Approved", "Denied"];

/// The conditions that stay once they are there.
const LASTING: [&str; 3] = ["Approved", "Denied", "Failed"];

/// Takes the conditions of an approval over into the stored status.
pub(super) fn take(request: &mut Value, old: &Value) {
    let conditions = value_at(request, PLACE).cloned();
    let status = old.get("status").cloned().unwrap_or_default();
    if let Value::Object(members) = request {
        members.insert("status".to_owned(), status);
    }
    let Some(status) = section(request, "status") else { return };
    match conditions {
        Some(conditions) => status.insert("conditions".to_owned(), conditions),
        None => status.remove("conditions"),
    };
}

/// Keeps the stored conditions about the approval, unless there are more of them or fewer.
pub(super) fn keep_approval(request: &mut Value, old: &Value) {
    for type_ in APPROVAL {
        let is_it = |condition: &&Value| text(condition, "/type") == type_;
        let stored: Vec<&Value> = items(old, PLACE).iter().filter(is_it).collect();
        if items(request, PLACE).iter().filter(is_it).count() != stored.len() {
            continue;
        }
        let mut stored = stored.into_iter();
        for condition in items_mut(request, PLACE) {
            if text(condition, "/type") == type_
                && let Some(stored) = stored.next()
            {
                *condition = stored.clone();
            }
        }
    }
}

/// Sets the times of conditions that have none.
pub(super) fn set_times(request: &mut Value, old: &Value, now: &str) {
    let key = |condition: &Value| {
        [text(condition, "/type"), text(condition, "/status")].map(str::to_owned)
    };
    let time = |condition| text(condition, "/lastTransitionTime");
    // Of several that are alike the first one counts.
    let known = items(old, PLACE).iter().rev().map(|condition| (key(condition), time(condition)));
    let known: BTreeMap<[String; 2], &str> = known.collect();
    for condition in items_mut(request, PLACE) {
        set_missing(condition, "lastUpdateTime", now);
        let before = known.get(&key(condition)).copied().filter(|time| !time.is_empty());
        set_missing(condition, "lastTransitionTime", before.unwrap_or(now));
    }
}

/// Validates the conditions of a request.
pub(super) fn validate(request: &Value, errors: &mut Vec<FieldError>) {
    let all = items(request, PLACE);
    let at = path(&["status", "conditions"]);
    let mut seen = BTreeSet::new();
    for (index, condition) in all.iter().enumerate() {
        let (type_, status) = (text(condition, "/type"), text(condition, "/status"));
        let of = |name: &str| at.clone().index(index).name(name);
        required(errors, &of("type"), type_);
        let statuses: &[&str] = match type_ {
            "Approved" | "Denied" | "Failed" => &["True"],
            _ => &["False", "True", "Unknown"],
        };
        match status {
            "" => errors.push(FieldError::required(of("status"), "")),
            status => one_of(errors, &of("status"), status, statuses),
        }
        let other = match type_ {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "",
        };
        if !other.is_empty() && seen.contains(other) {
            let detail = "Approved and Denied conditions are mutually exclusive";
            errors.push(FieldError::invalid(at.clone(), type_, detail));
        }
        if !seen.insert(type_) {
            errors.push(FieldError::duplicate(of("type"), type_));
        }
    }
}

/// Validates a change of conditions.
pub(super) fn validate_change(
    request: &Value,
    old: &Value,
    is_approval: bool,
    errors: &mut Vec<FieldError>,
) {
    let of_type = |request: &Value, type_: &str| -> Vec<Value> {
        let all = items(request, PLACE).iter();
        all.filter(|condition| text(condition, "/type") == type_).cloned().collect()
    };
    let mut forbid = |what: &str, type_: &str| {
        let detail = format!("updates may not {what} a condition of type \"{type_}\"");
        errors.push(FieldError::forbidden(path(&["status", "conditions"]), &detail));
    };
    for type_ in LASTING {
        let (new, stored) = (of_type(request, type_), of_type(old, type_));
        if new.len() < stored.len() {
            forbid("remove", type_);
        }
    }
    for type_ in APPROVAL.into_iter().filter(|_| !is_approval) {
        let (new, stored) = (of_type(request, type_), of_type(old, type_));
        if new.len() > stored.len() {
            forbid("add", type_);
        }
    }
}
