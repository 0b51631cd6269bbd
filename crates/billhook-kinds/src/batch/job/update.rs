//! The changes that a Job allows.

use std::collections::BTreeMap;

use billhook_apimachinery::FieldError;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::value::deep_eq;
use serde_json::{Map, Value};

use super::job_spec::JobSpec;
use super::status::is_true;
use crate::behavior::WriteContext;
use crate::core::pod::internal::{show_spec, show_template};
use crate::edition::EDITIONS;
use crate::generated::batch_v1::{POD_FAILURE_POLICY, SUCCESS_POLICY};
use crate::values::{items_mut, path, section, text, value_at};
use crate::workloads::{immutable, immutable_selector, part};

/// Validates the change of a spec.
pub(super) fn validate(
    job: &Value,
    old: &Value,
    context: &WriteContext<'_>,
    errors: &mut Vec<FieldError>,
) {
    let at = path(&["spec"]);
    let spec = JobSpec { spec: part(job, "/spec"), path: &at };
    let before = JobSpec { spec: part(old, "/spec"), path: &at };
    validate_completions(spec, before, errors);
    let (selector, old_selector) = (spec.field("selector"), before.field("selector"));
    immutable_selector(errors, &spec.at("selector"), selector, old_selector);
    validate_template(spec, old, context, errors);
    let fixed = [
        ("completionMode", Type::Text),
        ("podFailurePolicy", Type::Record(|| &POD_FAILURE_POLICY)),
        ("backoffLimitPerIndex", Type::Int32),
        ("managedBy", Type::Text),
        ("successPolicy", Type::Record(|| &SUCCESS_POLICY)),
    ];
    for (name, type_) in fixed {
        // What is not there is shown as such.
        let type_ = if spec.field(name).is_null() { Type::Any } else { type_ };
        immutable(errors, &spec.at(name), spec.field(name), before.field(name), type_);
    }
}

/// The completions of an indexed Job change with its parallelism.
fn validate_completions(spec: JobSpec<'_>, old: JobSpec<'_>, errors: &mut Vec<FieldError>) {
    let (now, at) = (spec.field("completions"), spec.at("completions"));
    let is_indexed = spec.field("completionMode") == "Indexed";
    if !is_indexed {
        immutable(errors, &at, now, old.field("completions"), Type::Any);
    } else if now != old.field("completions") && now != spec.field("parallelism") {
        let detail = "can only be modified in tandem with spec.parallelism";
        errors.push(FieldError::invalid(at, now.clone(), detail));
    }
}

/// The template stays, except for what decides where the pods of a suspended Job will run.
fn validate_template(
    spec: JobSpec<'_>,
    old: &Value,
    context: &WriteContext<'_>,
    errors: &mut Vec<FieldError>,
) {
    let template = spec.field("template");
    let mut before = part(old, "/spec/template").clone();
    let at = spec.at("template");
    if !may_move(old, context) {
        if !deep_eq(template, &before) {
            let error = FieldError::invalid(at, template.clone(), "field is immutable");
            errors.push(error.show_value_as(show_template(template)));
        }
        return;
    }
    take_directives(&mut before, template);
    if EDITIONS.of(context.kubernetes).moves_stopped_jobs {
        take_resources(&mut before, template);
    }
    let (pods, before) = (part(template, "/spec"), part(&before, "/spec"));
    if !deep_eq(pods, before) {
        let error = FieldError::invalid(at.name("spec"), pods.clone(), "field is immutable");
        errors.push(error.show_value_as(show_spec(pods)));
    }
}

/// Whether no pods of a Job run, so that they may run elsewhere.
fn may_move(old: &Value, context: &WriteContext<'_>) -> bool {
    let is_suspended = part(old, "/spec/suspend") == &Value::Bool(true);
    let has_started = !text(old, "/status/startTime").is_empty();
    let has_stopped = EDITIONS.of(context.kubernetes).moves_stopped_jobs
        && is_true(part(old, "/status"), "Suspended");
    is_suspended && (!has_started || has_stopped)
}

fn take_directives(before: &mut Value, template: &Value) {
    let Some(spec) = section(before, "spec") else { return };
    let now = part(template, "/spec");
    for name in ["nodeSelector", "tolerations", "schedulingGates"] {
        take(spec, name, now.get(name));
    }
    let mut affinity = spec.get("affinity").cloned().unwrap_or_default();
    let of_nodes = value_at(now, "/affinity/nodeAffinity");
    if affinity.is_null() && of_nodes.is_some() {
        affinity = Value::Object(Map::new());
    }
    if let Value::Object(members) = &mut affinity {
        take(members, "nodeAffinity", of_nodes);
    }
    let is_empty = affinity.as_object().is_some_and(Map::is_empty);
    let stays = !(is_empty && now.get("affinity").is_none());
    take(spec, "affinity", Some(&affinity).filter(|affinity| stays && !affinity.is_null()));
}

fn take(members: &mut Map<String, Value>, name: &str, value: Option<&Value>) {
    match value {
        Some(value) => members.insert(name.to_owned(), value.clone()),
        None => members.remove(name),
    };
}

/// Containers of pods that do not run may get other resources.
fn take_resources(before: &mut Value, template: &Value) {
    for place in ["/spec/containers", "/spec/initContainers"] {
        let now = crate::values::items(template, place).iter().rev();
        let now: BTreeMap<&str, &Value> = now.map(|it| (text(it, "/name"), it)).collect();
        for container in items_mut(before, place) {
            let now = now.get(text(container, "/name"));
            if let (Some(now), Value::Object(members)) = (now, container) {
                take(members, "resources", now.get("resources"));
            }
        }
    }
}
