//! CronJobs (BK-306).

use billhook_apimachinery::FieldError;
use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::schedule::Schedule;
use billhook_apimachinery::time_zone;
use serde_json::Value;

use super::job::{JobSpec, validate_spec};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::core::pod_template;
use crate::values::{items, object_mut, path, set_missing, text, value_at};
use crate::workloads::{
    NONE, containers, invalid_selector, part, selector_cell, warn_of_changes, warn_of_name,
};
use crate::{cells, rules};

/// The longest name: the names of its Jobs are longer.
const MAX_NAME: usize = 52;

/// The rules of CronJobs.
#[derive(Debug)]
pub(crate) struct CronJob;

impl Behavior for CronJob {
    /// Its Jobs get their defaults when they are made.
    fn set_defaults(&self, cron_job: &mut Value, kubernetes: KubernetesVersion) {
        let Some(spec) = object_mut(cron_job, "/spec") else { return };
        set_missing(spec, "concurrencyPolicy", "Allow");
        set_missing(spec, "suspend", false);
        set_missing(spec, "successfulJobsHistoryLimit", 3);
        set_missing(spec, "failedJobsHistoryLimit", 1);
        if let Some(template) = object_mut(spec, "/jobTemplate/spec/template") {
            pod_template::set_defaults(template, kubernetes);
        }
    }

    fn validate(
        &self,
        cron_job: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            return;
        }
        warn_of_name(cron_job, old, found);
        let name = text(cron_job, "/metadata/name");
        let errors = &mut found.errors;
        if old.is_none() && name.len() > MAX_NAME {
            let detail = "must be no more than 52 characters";
            errors.push(FieldError::invalid(path(&["metadata", "name"]), name, detail));
        }
        let (spec, at) = (part(cron_job, "/spec"), path(&["spec"]));
        validate_schedule(spec, old, errors);
        rules::members_not_negative(errors, &at, spec, &["startingDeadlineSeconds"]);
        let policy = text(spec, "/concurrencyPolicy");
        let at_policy = at.clone().name("concurrencyPolicy");
        rules::one_of(errors, &at_policy, policy, &["Allow", "Forbid", "Replace"]);
        let warned = found.warnings.len();
        validate_template(spec, context, found);
        warn_of_changes(found, warned, "/spec", cron_job, old);
        let limits = ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"];
        rules::members_not_negative(&mut found.errors, &at, spec, &limits);
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let or_none = |value: &str| if value.is_empty() { NONE } else { value }.into();
        let suspend = match part(object, "/spec/suspend").as_bool() {
            Some(true) => "True",
            Some(false) => "False",
            None => "<unset>",
        };
        let last = match text(object, "/status/lastScheduleTime") {
            "" => NONE.into(),
            time => cells::since(time, now),
        };
        let [names, images] = containers(part(object, "/spec/jobTemplate/spec/template"));
        vec![
            cells::name(object),
            cells::at(object, "/spec/schedule"),
            or_none(text(object, "/spec/timeZone")),
            suspend.into(),
            items(object, "/status/active").len().into(),
            last,
            cells::created(object, now),
            names,
            images,
            selector_cell(value_at(object, "/spec/jobTemplate/spec/selector")),
        ]
    }
}

/// Checks the name of a time zone.
///
/// # Errors
///
/// The first thing that is wrong with it.
fn check_zone(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("timeZone must be nil or non-empty string".to_owned());
    }
    if name.eq_ignore_ascii_case("Local") {
        let text = "timeZone must be an explicit time zone as defined in \
            https://www.iana.org/time-zones";
        return Err(text.to_owned());
    }
    if time_zone::exists(name) { Ok(()) } else { Err(format!("unknown time zone {name}")) }
}

fn validate_schedule(spec: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let (expression, at) = (text(spec, "/schedule"), path(&["spec", "schedule"]));
    let zone = part(spec, "/timeZone").as_str();
    if expression.is_empty() {
        errors.push(FieldError::required(at, ""));
    } else {
        if let Err(error) = Schedule::parse(expression) {
            errors.push(FieldError::invalid(at.clone(), expression, &error.to_string()));
        }
        let had_zone = old.is_some_and(|old| text(old, "/spec/schedule").contains("TZ"));
        if expression.contains("TZ") && !had_zone {
            let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
            errors.push(FieldError::invalid(at, expression, detail));
        } else if expression.contains("TZ") && zone.is_some() {
            let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
            errors.push(FieldError::invalid(at, expression, detail));
        }
    }
    if let Some(zone) = zone
        && let Err(error) = check_zone(zone)
    {
        errors.push(FieldError::invalid(path(&["spec", "timeZone"]), zone, &error));
    }
}

fn validate_template(spec: &Value, context: &WriteContext<'_>, found: &mut Findings) {
    let at = path(&["spec", "jobTemplate", "spec"]);
    let job = JobSpec { spec: part(spec, "/jobTemplate/spec"), path: &at };
    validate_spec(job, context, found);
    let selector = part(job.spec, "/selector");
    if !selector.is_null() {
        let at = at.clone().name("selector");
        let detail = "`selector` will be auto-generated";
        found.errors.push(invalid_selector(&at, selector, detail));
    }
    if part(job.spec, "/manualSelector") == &Value::Bool(true) {
        let at = at.name("manualSelector");
        let error = FieldError::not_supported(at, "", ["nil", "false"]);
        found.errors.push(error.show_value_as("true".to_owned()));
    }
}
