//! The spec of Jobs, which CronJobs have, too.

use billhook_apimachinery::FieldError;
use billhook_apimachinery::names::dns1123_subdomain;
use serde_json::Value;

use super::job_spec::{JobSpec, REQUIRES_INDEXES};
use super::policies;
use crate::behavior::{Findings, WriteContext};
use crate::core::pod_template;
use crate::rules;
use crate::values::text;
use crate::workloads::{parse_selector, part, template_labels};

const MAX_PARALLELISM: i64 = 100_000;
const MAX_FAILED_INDEXES: i64 = 100_000;
const MAX_MANAGED_BY: usize = 63;

/// More completions than these have narrower limits.
const MANY_COMPLETIONS: i64 = 100_000;
const MAX_WITH_MANY: i64 = 10_000;

/// Validates a spec except its selector.
pub(crate) fn validate(spec: JobSpec<'_>, context: &WriteContext<'_>, found: &mut Findings) {
    let errors = &mut found.errors;
    validate_numbers(spec, errors);
    validate_manager(spec, errors);
    if spec.is_indexed() {
        validate_indexed(spec, errors);
    } else if spec.field("completionMode").is_null() || spec.field("completionMode") == "NonIndexed"
    {
        validate_not_indexed(spec, errors);
    } else {
        let mode = spec.field("completionMode").as_str().unwrap_or_default();
        rules::one_of(errors, &spec.at("completionMode"), mode, &["NonIndexed", "Indexed"]);
    }
    policies::validate_failure(spec, context, errors);
    policies::validate_success(spec, errors);
    if let Some(policy) = spec.field("podReplacementPolicy").as_str() {
        let supported: &[&str] = match spec.field("podFailurePolicy") {
            Value::Null => &["Failed", "TerminatingOrFailed"],
            _ => &["Failed"],
        };
        rules::one_of(errors, &spec.at("podReplacementPolicy"), policy, supported);
    }
    let template = spec.field("template");
    pod_template::validate(template, &spec.at("template"), context, found);
    validate_restarts(spec, &mut found.errors);
}

/// Validates the selector of a Job, and that it matches the Job's pods.
pub(super) fn validate_selector(
    spec: JobSpec<'_>,
    context: &WriteContext<'_>,
    errors: &mut Vec<FieldError>,
) {
    let (selector, at) = (spec.field("selector"), spec.at("selector"));
    if selector.is_null() {
        errors.push(FieldError::required(at, ""));
    } else {
        rules::label_selector(errors, &at, Some(selector), context.kubernetes);
    }
    if let Ok(selector) = parse_selector(Some(selector), context.kubernetes) {
        template_labels(errors, &spec.at("template"), spec.field("template"), &selector);
    }
}

fn validate_numbers(spec: JobSpec<'_>, errors: &mut Vec<FieldError>) {
    let numbers = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    rules::members_not_negative(errors, spec.path, spec.spec, &numbers);
    if spec.number("maxFailedIndexes").is_some() && spec.number("backoffLimitPerIndex").is_none() {
        let at = spec.at("backoffLimitPerIndex");
        errors.push(FieldError::required(at, "when maxFailedIndexes is specified"));
    }
}

fn validate_manager(spec: JobSpec<'_>, errors: &mut Vec<FieldError>) {
    let Some(manager) = spec.field("managedBy").as_str() else { return };
    let at = spec.at("managedBy");
    match manager.split_once('/') {
        _ if manager.is_empty() => errors.push(FieldError::required(at.clone(), "")),
        Some((domain, rest)) if !domain.is_empty() && !rest.is_empty() => {
            rules::invalid(errors, &at, manager, dns1123_subdomain(domain));
        }
        _ => {
            let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            errors.push(FieldError::invalid(at.clone(), manager, detail));
        }
    }
    if manager.len() > MAX_MANAGED_BY {
        errors.push(FieldError::too_long(at, 63));
    }
}

fn validate_indexed(spec: JobSpec<'_>, errors: &mut Vec<FieldError>) {
    let completions = spec.number("completions");
    if completions.is_none() {
        let detail = "when completion mode is Indexed";
        errors.push(FieldError::required(spec.at("completions"), detail));
    }
    let parallelism = format!("{MAX_PARALLELISM} when completion mode is Indexed");
    at_most(spec, errors, "parallelism", MAX_PARALLELISM, &parallelism);
    if let Some(completions) = completions {
        at_most(spec, errors, "maxFailedIndexes", completions, "completions");
    }
    let most = MAX_FAILED_INDEXES.to_string();
    at_most(spec, errors, "maxFailedIndexes", MAX_FAILED_INDEXES, &most);
    let is_limited = spec.number("backoffLimitPerIndex").is_some();
    if !is_limited || completions.is_none_or(|completions| completions <= MANY_COMPLETIONS) {
        return;
    }
    if spec.number("maxFailedIndexes").is_none() {
        let detail = format!("must be specified when completions is above {MANY_COMPLETIONS}");
        errors.push(FieldError::required(spec.at("maxFailedIndexes"), &detail));
    }
    let many = format!(
        "{MAX_WITH_MANY} when completions are above {MANY_COMPLETIONS} and used with backoff limit \
         per index"
    );
    for name in ["parallelism", "maxFailedIndexes"] {
        at_most(spec, errors, name, MAX_WITH_MANY, &many);
    }
}

/// A number that is not above a limit, of which the detail says more.
fn at_most(spec: JobSpec<'_>, errors: &mut Vec<FieldError>, name: &str, limit: i64, detail: &str) {
    if let Some(number) = spec.number(name).filter(|number| *number > limit) {
        let detail = format!("must be less than or equal to {detail}");
        errors.push(FieldError::invalid(spec.at(name), number, &detail));
    }
}

fn validate_not_indexed(spec: JobSpec<'_>, errors: &mut Vec<FieldError>) {
    for name in ["backoffLimitPerIndex", "maxFailedIndexes"] {
        if let Some(number) = spec.number(name) {
            errors.push(FieldError::invalid(spec.at(name), number, REQUIRES_INDEXES));
        }
    }
}

/// Pods of Jobs come to an end.
fn validate_restarts(spec: JobSpec<'_>, errors: &mut Vec<FieldError>) {
    let policy = text(part(spec.spec, "/template"), "/spec/restartPolicy");
    let at = spec.at("template").name("spec").name("restartPolicy");
    match policy {
        "Always" => {
            errors.push(FieldError::required(at, "valid values: \"OnFailure\", \"Never\""));
        }
        "OnFailure" if !spec.field("podFailurePolicy").is_null() => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.push(FieldError::invalid(at, policy, detail));
        }
        policy => rules::one_of(errors, &at, policy, &["OnFailure", "Never"]),
    }
}
