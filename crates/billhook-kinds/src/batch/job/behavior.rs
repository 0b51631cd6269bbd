//! Defaults, what is generated, and cells.

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::label_value;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::{KubernetesVersion, age};
use serde_json::Value;

use super::job_spec::JobSpec;
use super::spec::{validate, validate_selector};
use super::{generated_selector, status, update};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::core::pod_template;
use crate::edition::EDITIONS;
use crate::values::{
    integer, items, items_mut, members, object_mut, path, section, set_missing, text, value_at,
};
use crate::workloads::{containers, part, selector_cell, warn_of_changes, warn_of_name};

/// The warning of a deletion that does not say whether the pods go, too.
const DELETION: &str = "child pods are preserved by default when jobs are deleted; set \
    propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this \
    warning";

/// The rules of Jobs.
#[derive(Debug)]
pub(crate) struct Job;

impl Behavior for Job {
    fn set_defaults(&self, job: &mut Value, kubernetes: KubernetesVersion) {
        let Some(spec) = object_mut(job, "/spec") else { return };
        if let Some(template) = object_mut(spec, "/template") {
            pod_template::set_defaults(template, kubernetes);
        }
        let is_missing = |name: &str| spec.get(name).is_none_or(Value::is_null);
        if is_missing("parallelism") && is_missing("completions") {
            set_missing(spec, "completions", 1);
        }
        set_missing(spec, "parallelism", 1);
        let limit =
            if part(spec, "/backoffLimitPerIndex").is_null() { 6 } else { i64::from(i32::MAX) };
        set_missing(spec, "backoffLimit", limit);
        set_missing(spec, "completionMode", "NonIndexed");
        set_missing(spec, "suspend", false);
        if EDITIONS.of(kubernetes).sets_manual_selector {
            set_missing(spec, "manualSelector", false);
        }
        let has_policy = !part(spec, "/podFailurePolicy").is_null();
        let replacement = if has_policy { "Failed" } else { "TerminatingOrFailed" };
        set_missing(spec, "podReplacementPolicy", replacement);
        for rule in items_mut(spec, "/podFailurePolicy/rules") {
            for pattern in items_mut(rule, "/onPodConditions") {
                if text(pattern, "/status").is_empty()
                    && let Value::Object(members) = pattern
                {
                    members.insert("status".to_owned(), "True".into());
                }
            }
        }
        take_labels(job);
    }

    /// A new Job gets a selector of its own pods.
    fn copies_identity(&self) -> bool {
        true
    }

    fn prepare(&self, job: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        if old.is_some() {
            return;
        }
        // A Job that had no labels of its own shares those of its template.
        let shares = part(job, "/metadata/labels") == part(job, "/spec/template/metadata/labels")
            && !sends_labels(context.body);
        generated_selector::set(job);
        // With a name that no label can have, errors are about the template alone.
        let name = text(job, "/metadata/name").to_owned();
        if shares && label_value(&name, context.kubernetes.wording()).is_empty() {
            if let Some(metadata) = section(job, "metadata") {
                metadata.remove("labels");
            }
            take_labels(job);
        }
    }

    fn validate(
        &self,
        job: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            return status::validate(job, old, &mut found.errors);
        }
        warn_of_name(job, old, found);
        if old.is_none() {
            generated_selector::validate(job, context, &mut found.errors);
        }
        let at = path(&["spec"]);
        let spec = JobSpec { spec: part(job, "/spec"), path: &at };
        let before = found.errors.len();
        let warned = found.warnings.len();
        validate(spec, context, found);
        warn_of_changes(found, warned, "/spec", job, old);
        validate_selector(spec, context, &mut found.errors);
        match old {
            None => spec.validate_pod_names(text(job, "/metadata/name"), &mut found.errors),
            Some(old) => {
                // Servers validate the spec once for the object and once for the change.
                let again: Vec<_> = found.errors.iter().skip(before).cloned().collect();
                found.errors.extend(again);
                update::validate(job, old, context, &mut found.errors);
            }
        }
    }

    fn deletion_warning(&self) -> Option<&'static str> {
        Some(DELETION)
    }

    fn unknown_field(&self, field: &str) -> String {
        format!("field label {} not supported for Job", quote(field))
    }

    fn selected_field(&self, job: &Value, field: &str) -> Option<String> {
        let succeeded = || integer(job, "/status/succeeded").unwrap_or_default().to_string();
        (field == "status.successful").then(succeeded)
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let [names, images] = containers(part(object, "/spec/template"));
        vec![
            cells::name(object),
            state(object).into(),
            completions(object).into(),
            duration(object, now).into(),
            cells::created(object, now),
            names,
            images,
            selector_cell(value_at(object, "/spec/selector")),
        ]
    }
}

/// A Job without labels has those of its pods.
/// Whether a body has labels.
fn sends_labels(body: &[u8]) -> bool {
    let sent: Value = serde_json::from_slice(body).unwrap_or_default();
    members(&sent, "/metadata/labels").next().is_some()
}

fn take_labels(job: &mut Value) {
    let labels = part(job, "/spec/template/metadata/labels").clone();
    if labels.is_object()
        && members(job, "/metadata/labels").next().is_none()
        && let Some(metadata) = section(job, "metadata")
    {
        metadata.insert("labels".to_owned(), labels);
    }
}

fn state(job: &Value) -> &'static str {
    let is_true = |type_: &&&str| {
        let mut conditions = items(job, "/status/conditions").iter();
        conditions.any(|condition| {
            text(condition, "/type") == **type_ && text(condition, "/status") == "True"
        })
    };
    if let Some(state) = ["Complete", "Failed"].iter().find(is_true) {
        return state;
    }
    if !text(job, "/metadata/deletionTimestamp").is_empty() {
        return "Terminating";
    }
    ["Suspended", "FailureTarget", "SuccessCriteriaMet"].iter().find(is_true).unwrap_or(&"Running")
}

fn completions(job: &Value) -> String {
    let succeeded = integer(job, "/status/succeeded").unwrap_or_default();
    match (integer(job, "/spec/completions"), integer(job, "/spec/parallelism").unwrap_or(0)) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, parallelism) if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        _ => format!("{succeeded}/1"),
    }
}

fn duration(job: &Value, now: Time) -> String {
    let time = |place| Time::parse(text(job, place)).ok();
    let Some(start) = time("/status/startTime") else { return String::new() };
    age(start, time("/status/completionTime").unwrap_or(now))
}
