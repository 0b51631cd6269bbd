//! The status of Jobs.

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::indexes;
use crate::generated::batch_v1::UNCOUNTED_TERMINATED_PODS;
use crate::rules;
use crate::values::{integer, items, path, text};
use crate::workloads::part;

/// Whether a condition of a status is true.
pub(super) fn is_true(status: &Value, type_: &str) -> bool {
    let mut conditions = items(status, "/conditions").iter();
    conditions
        .any(|condition| text(condition, "/type") == type_ && text(condition, "/status") == "True")
}

/// Validates a status that may replace another one.
pub(super) fn validate(job: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let (status, at) = (part(job, "/status"), path(&["status"]));
    let counters = ["active", "succeeded", "failed", "ready", "terminating"];
    rules::members_not_negative(errors, &at, status, &counters);
    validate_uncounted(status, &at, errors);
    validate_end(status, &at, errors);
    validate_indexes(part(job, "/spec"), status, &at, errors);
    let is_finished = is_true(status, "Complete") || is_true(status, "Failed");
    let number = |name: &str| status.get(name).and_then(Value::as_i64).unwrap_or_default();
    if is_finished && number("terminating") > 0 {
        let detail = "terminating>0 is invalid for finished job";
        let at = at.clone().name("terminating");
        errors.push(FieldError::invalid(at, number("terminating"), detail));
    }
    if number("ready") > number("active").max(0) {
        let (at, detail) = (at.clone().name("ready"), "cannot set more ready pods than active");
        errors.push(FieldError::invalid(at, number("ready"), detail));
    }
    if is_true(status, "SuccessCriteriaMet") {
        for type_ in ["Failed", "FailureTarget"] {
            if is_true(status, type_) {
                let detail =
                    format!("cannot set SuccessCriteriaMet=True and {type_}=true conditions");
                condition(errors, &at, &detail);
            }
        }
    }
    if let Some(old) = old {
        validate_change(job, old, &at, errors);
    }
}

/// Adds an error about conditions, which are not shown.
fn condition(errors: &mut Vec<FieldError>, path: &FieldPath, detail: &str) {
    let at = path.clone().name("conditions");
    errors.push(FieldError::invalid(at, Value::Null, detail).omit_value());
}

fn validate_uncounted(status: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let at = path.clone().name("uncountedTerminatedPods");
    let mut seen = BTreeSet::new();
    for name in ["succeeded", "failed"] {
        let place = format!("/uncountedTerminatedPods/{name}");
        for (index, uid) in items(status, &place).iter().enumerate() {
            let (at, uid) = (at.clone().name(name).index(index), text(uid, ""));
            if uid.is_empty() {
                errors.push(FieldError::invalid(at, uid, "must not be empty"));
            } else if !seen.insert(uid) {
                errors.push(FieldError::duplicate(at, uid));
            }
        }
    }
}

/// Validates how a Job has finished.
fn validate_end(status: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let [complete, failed] = ["Complete", "Failed"].map(|type_| is_true(status, type_));
    if complete && failed {
        condition(errors, path, "cannot set Complete=True and Failed=true conditions");
    }
    if complete && is_true(status, "FailureTarget") {
        condition(errors, path, "cannot set Complete=True and FailureTarget=true conditions");
    }
    let [start, end] = ["/startTime", "/completionTime"].map(|place| text(status, place));
    let at = path.clone().name("completionTime");
    if !complete && !end.is_empty() {
        let detail = "cannot set completionTime when there is no Complete=True condition";
        errors.push(FieldError::invalid(at.clone(), end, detail));
    }
    if complete && end.is_empty() {
        let detail = "completionTime is required for Complete jobs";
        errors.push(FieldError::required(at.clone(), detail));
    }
    let time = |text: &str| Time::parse(text).ok();
    if let (Some(start), Some(ended)) = (time(start), time(end))
        && ended.seconds_since(start) < 0
    {
        let detail = "must be equal to or after `startTime`";
        errors.push(FieldError::invalid(at, end, detail));
    }
    if failed && !is_true(status, "FailureTarget") {
        let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
        condition(errors, path, detail);
    }
    if complete && !is_true(status, "SuccessCriteriaMet") {
        let detail =
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        condition(errors, path, detail);
    }
    if !complete && !failed {
        return;
    }
    if let Some(active) = integer(status, "/active").filter(|active| *active > 0) {
        let detail = "active>0 is invalid for finished job";
        errors.push(FieldError::invalid(path.clone().name("active"), active, detail));
    }
    if start.is_empty() {
        let detail = "startTime is required for finished job";
        errors.push(FieldError::required(path.clone().name("startTime"), detail));
    }
    let uncounted = part(status, "/uncountedTerminatedPods");
    let has = |place| !items(uncounted, place).is_empty();
    if has("/succeeded") || has("/failed") {
        let at = path.clone().name("uncountedTerminatedPods");
        let error = FieldError::invalid(at, uncounted.clone(), "must be empty for finished job");
        let shown = show(Some(uncounted), Type::Record(|| &UNCOUNTED_TERMINATED_PODS));
        errors.push(error.show_value_as(shown));
    }
}

fn validate_indexes(spec: &Value, status: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some(completions) = integer(spec, "/completions") {
        for name in ["completedIndexes", "failedIndexes"] {
            let list = status.get(name).and_then(Value::as_str).unwrap_or_default();
            if let Err(error) = indexes::count(list, completions) {
                let detail = format!("error parsing {name}: {error}");
                errors.push(FieldError::invalid(path.clone().name(name), list, &detail));
            }
        }
    }
    let completed = text(status, "/completedIndexes");
    if text(spec, "/completionMode") != "Indexed" && !completed.is_empty() {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.push(FieldError::invalid(path.clone().name("completedIndexes"), completed, detail));
    }
    if let Some(failed) = status.get("failedIndexes").and_then(Value::as_str)
        && part(spec, "/backoffLimitPerIndex").is_null()
    {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.push(FieldError::invalid(path.clone().name("failedIndexes"), failed, detail));
    }
}

/// Validates that nothing is taken back.
fn validate_change(job: &Value, old: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let (status, before) = (part(job, "/status"), part(old, "/status"));
    let is_disabled = |type_: &&str| is_true(before, type_) && !is_true(status, type_);
    for type_ in ["Failed", "Complete", "FailureTarget"].into_iter().filter(is_disabled) {
        let detail = format!("cannot disable the terminal {type_}=True condition");
        condition(errors, path, &detail);
    }
    for name in ["failed", "succeeded"] {
        let count = |status: &Value| status.get(name).and_then(Value::as_i64).unwrap_or_default();
        if count(status) < count(before) {
            let detail = format!("cannot decrease the {name} counter");
            errors.push(FieldError::invalid(path.clone().name(name), count(status), &detail));
        }
    }
    let is_suspended = part(job, "/spec/suspend") == &Value::Bool(true);
    let times = [
        ("completionTime", true, "field is immutable"),
        ("startTime", !is_suspended, "field is immutable for unsuspended job once set"),
    ];
    for (name, is_fixed, detail) in times {
        let time = |status: &Value| status.get(name).cloned().unwrap_or_default();
        if is_fixed && !time(before).is_null() && time(before) != time(status) {
            errors.push(FieldError::invalid(path.clone().name(name), time(status), detail));
        }
    }
    if is_disabled(&"SuccessCriteriaMet") {
        condition(errors, path, "cannot disable the SuccessCriteriaMet=True condition");
    }
    let is_new = is_true(status, "SuccessCriteriaMet") && !is_true(before, "SuccessCriteriaMet");
    if is_new && is_true(before, "Complete") {
        let detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true \
            conditions";
        condition(errors, path, detail);
    }
}
