//! When a Job fails or succeeds.

use std::collections::BTreeSet;

use billhook_apimachinery::record::Type;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::indexes;
use super::job_spec::{JobSpec, REQUIRES_INDEXES};
use crate::behavior::WriteContext;
use crate::generated::batch_v1::SUCCESS_POLICY;
use crate::rules;
use crate::values::{integer, items, text};
use crate::workloads::part;

const MAX_RULES: i64 = 20;
const MAX_PATTERNS: i64 = 20;
const MAX_EXIT_CODES: i64 = 255;

/// The longest list of indexes, in bytes.
const MAX_INDEXES: i64 = 65_536;

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// Validates the rules for pods that fail.
pub(super) fn validate_failure(
    spec: JobSpec<'_>,
    context: &WriteContext<'_>,
    errors: &mut Vec<FieldError>,
) {
    let policy = spec.field("podFailurePolicy");
    if policy.is_null() {
        return;
    }
    let at = spec.at("podFailurePolicy").name("rules");
    let rules = items(policy, "/rules");
    at_most_items(errors, &at, rules, MAX_RULES);
    for (index, rule) in rules.iter().enumerate() {
        let at = at.clone().index(index);
        validate_action(spec, rule, &at.clone().name("action"), errors);
        let codes = part(rule, "/onExitCodes");
        if !codes.is_null() {
            validate_codes(spec, codes, &at.clone().name("onExitCodes"), errors);
        }
        let patterns = items(rule, "/onPodConditions");
        validate_patterns(patterns, &at.clone().name("onPodConditions"), context, errors);
        let detail = match (codes.is_null(), patterns.is_empty()) {
            (false, false) => "specifying both OnExitCodes and OnPodConditions is not supported",
            (true, true) => "specifying one of OnExitCodes and OnPodConditions is required",
            _ => continue,
        };
        errors.push(FieldError::invalid(at, rule.clone(), detail).omit_value());
    }
}

fn at_most_items(errors: &mut Vec<FieldError>, path: &FieldPath, items: &[Value], max: i64) {
    if i64::try_from(items.len()).unwrap_or(i64::MAX) > max {
        errors.push(FieldError::too_many(path.clone(), items.len(), max));
    }
}

/// A text that must be one of several.
fn required_one_of(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: &str,
    supported: &[&str],
) {
    if value.is_empty() {
        let quoted: Vec<_> = supported.iter().map(|value| format!("{value:?}")).collect();
        let detail = format!("valid values: [{}]", quoted.join(" "));
        errors.push(FieldError::required(path.clone(), &detail));
    } else {
        rules::one_of(errors, path, value, supported);
    }
}

fn validate_action(
    spec: JobSpec<'_>,
    rule: &Value,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let action = text(rule, "/action");
    if action == "FailIndex" && spec.number("backoffLimitPerIndex").is_none() {
        let detail = "requires the backoffLimitPerIndex to be set";
        errors.push(FieldError::invalid(path.clone(), action, detail));
    }
    required_one_of(errors, path, action, &ACTIONS);
}

fn validate_codes(
    spec: JobSpec<'_>,
    codes: &Value,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let operator = text(codes, "/operator");
    required_one_of(errors, &path.clone().name("operator"), operator, &OPERATORS);
    if let Some(name) = codes.get("containerName").and_then(Value::as_str) {
        let pods = part(spec.spec, "/template/spec");
        let all = items(pods, "/containers").iter().chain(items(pods, "/initContainers"));
        if !all.map(|container| text(container, "/name")).any(|known| known == name) {
            let detail = "must be one of the container or initContainer names in the pod template";
            errors.push(FieldError::invalid(path.clone().name("containerName"), name, detail));
        }
    }
    let (values, at) = (items(codes, "/values"), path.clone().name("values"));
    if values.is_empty() {
        let value = part(codes, "/values").clone();
        errors.push(FieldError::invalid(at.clone(), value, "at least one value is required"));
    }
    at_most_items(errors, &at, values, MAX_EXIT_CODES);
    let mut seen = BTreeSet::new();
    for (index, value) in values.iter().enumerate() {
        let at = at.clone().index(index);
        if operator == "In" && value.as_i64() == Some(0) {
            let detail = "must not be 0 for the In operator";
            errors.push(FieldError::invalid(at.clone(), 0, detail));
        }
        if !seen.insert(value.as_i64()) {
            errors.push(FieldError::duplicate(at, value.clone()));
        }
    }
    if !values.is_sorted_by_key(|value| value.as_i64()) {
        errors.push(FieldError::invalid(at, values.to_vec(), "must be ordered"));
    }
}

fn validate_patterns(
    patterns: &[Value],
    path: &FieldPath,
    context: &WriteContext<'_>,
    errors: &mut Vec<FieldError>,
) {
    at_most_items(errors, path, patterns, MAX_PATTERNS);
    for (index, pattern) in patterns.iter().enumerate() {
        let at = |name| path.clone().index(index).name(name);
        let type_ = text(pattern, "/type");
        rules::qualified_name(errors, &at("type"), type_, context.kubernetes);
        required_one_of(errors, &at("status"), text(pattern, "/status"), &STATUSES);
    }
}

/// Validates the rules by which a Job succeeds before all of its indexes have.
pub(super) fn validate_success(spec: JobSpec<'_>, errors: &mut Vec<FieldError>) {
    let policy = spec.field("successPolicy");
    if policy.is_null() {
        return;
    }
    if !spec.is_indexed() {
        let error = FieldError::invalid(spec.at("successPolicy"), policy.clone(), REQUIRES_INDEXES);
        let shown = show(Some(policy), Type::Record(|| &SUCCESS_POLICY));
        errors.push(error.show_value_as(shown));
        return;
    }
    let at = spec.at("successPolicy").name("rules");
    let rules = items(policy, "/rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.push(FieldError::required(at.clone(), detail));
    }
    at_most_items(errors, &at, rules, MAX_RULES);
    let completions = spec.number("completions").unwrap_or_default();
    for (index, rule) in rules.iter().enumerate() {
        validate_success_rule(rule, completions, &at.clone().index(index), errors);
    }
}

fn validate_success_rule(
    rule: &Value,
    completions: i64,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let list = rule.get("succeededIndexes").and_then(Value::as_str);
    let wanted = integer(rule, "/succeededCount");
    if list.is_none() && wanted.is_none() {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        errors.push(FieldError::required(path.clone(), detail));
    }
    let mut total = None;
    if let Some(list) = list {
        let at = path.clone().name("succeededIndexes");
        if i64::try_from(list.len()).unwrap_or(i64::MAX) > MAX_INDEXES {
            errors.push(FieldError::too_long(at.clone(), MAX_INDEXES));
        }
        match indexes::count(list, completions) {
            Ok(count) => total = Some(count),
            Err(error) => {
                let detail = format!("error parsing succeededIndexes: {error}");
                errors.push(FieldError::invalid(at, list, &detail));
            }
        }
    }
    let Some(wanted) = wanted else { return };
    let at = path.clone().name("succeededCount");
    rules::not_negative(errors, &at, rule.get("succeededCount"));
    let limits = [
        (Some(completions), "the number of specified completions"),
        (total, "the number of indexes in the specified succeededIndexes field"),
    ];
    for (limit, what) in limits {
        if let Some(limit) = limit.filter(|limit| wanted > *limit) {
            let detail = format!("must be less than or equal to {limit} ({what})");
            errors.push(FieldError::invalid(at.clone(), wanted, &detail));
        }
    }
}
