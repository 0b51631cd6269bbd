//! Deployments (BK-301).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Map, Value};

use super::template;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::core::pod_template;
use crate::generated::apps_v1::DEPLOYMENT_STRATEGY;
use crate::values::{integer, object_mut, path, section, set_missing, text, value_at};
use crate::workloads::{
    amount, at_most_replicas, available_at_most_ready, containers, drop_terminating,
    immutable_selector, not_decremented, part, selector_cell, warn_of_name,
};
use crate::{cells, rules};

/// The rules of Deployments.
#[derive(Debug)]
pub(crate) struct Deployment;

impl Behavior for Deployment {
    fn set_defaults(&self, deployment: &mut Value, kubernetes: KubernetesVersion) {
        drop_terminating(deployment, kubernetes);
        let Some(spec) = object_mut(deployment, "/spec") else { return };
        set_missing(spec, "replicas", 1);
        set_missing(spec, "revisionHistoryLimit", 10);
        set_missing(spec, "progressDeadlineSeconds", 600);
        if let Some(strategy) = object_mut(spec, "/strategy") {
            set_missing(strategy, "type", "RollingUpdate");
            if text(strategy, "/type") == "RollingUpdate" {
                set_missing(strategy, "rollingUpdate", Map::new());
            }
            if text(strategy, "/type") == "RollingUpdate"
                && let Some(rolling) = object_mut(strategy, "/rollingUpdate")
            {
                set_missing(rolling, "maxUnavailable", "25%");
                set_missing(rolling, "maxSurge", "25%");
            }
        }
        if let Some(template) = object_mut(spec, "/template") {
            pod_template::set_defaults(template, kubernetes);
        }
    }

    /// A write of the status keeps the labels.
    fn prepare(&self, deployment: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        if context.subresource != "status" {
            return;
        }
        let labels = old.and_then(|old| value_at(old, "/metadata/labels")).cloned();
        if let Some(metadata) = section(deployment, "metadata") {
            match labels {
                Some(labels) => metadata.insert("labels".to_owned(), labels),
                None => metadata.remove("labels"),
            };
        }
    }

    fn resets(&self, subresource: &str) -> Option<&'static [&'static str]> {
        (subresource == "status").then_some(&["spec", "metadata.labels"])
    }

    fn validate(
        &self,
        deployment: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            return validate_status(deployment, old, &mut found.errors);
        }
        warn_of_name(deployment, old, found);
        let spec = part(deployment, "/spec");
        let at = path(&["spec"]);
        rules::members_not_negative(&mut found.errors, &at, spec, &["replicas"]);
        template::validate_replicated(deployment, old, context, found);
        let errors = &mut found.errors;
        validate_strategy(part(spec, "/strategy"), &path(&["spec", "strategy"]), errors);
        let limits = ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"];
        rules::members_not_negative(errors, &at, spec, &limits);
        if let Some(seconds) = integer(spec, "/progressDeadlineSeconds")
            && seconds <= integer(spec, "/minReadySeconds").unwrap_or_default()
        {
            let at = at.name("progressDeadlineSeconds");
            errors.push(FieldError::invalid(at, seconds, "must be greater than minReadySeconds"));
        }
        if let Some(old) = old {
            let at = path(&["spec", "selector"]);
            immutable_selector(errors, &at, part(spec, "/selector"), part(old, "/spec/selector"));
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let number = |place| integer(object, place).unwrap_or_default();
        let ready = format!("{}/{}", number("/status/readyReplicas"), number("/spec/replicas"));
        let [names, images] = containers(part(object, "/spec/template"));
        vec![
            cells::name(object),
            ready.into(),
            number("/status/updatedReplicas").into(),
            number("/status/availableReplicas").into(),
            cells::created(object, now),
            names,
            images,
            selector_cell(value_at(object, "/spec/selector")),
        ]
    }
}

fn validate_strategy(strategy: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let rolling = strategy.get("rollingUpdate").filter(|rolling| !rolling.is_null());
    match text(strategy, "/type") {
        "Recreate" if rolling.is_some() => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            errors.push(FieldError::forbidden(path.clone().name("rollingUpdate"), detail));
        }
        "Recreate" => {}
        "RollingUpdate" => {
            let rolling = rolling.unwrap_or(&Value::Null);
            validate_rolling(rolling, &path.clone().name("rollingUpdate"), errors);
        }
        _ => {
            let shown = show(Some(strategy), Type::Record(|| &DEPLOYMENT_STRATEGY));
            let supported = ["Recreate", "RollingUpdate"];
            let error = FieldError::not_supported(path.clone(), "", supported);
            errors.push(error.show_value_as(shown));
        }
    }
}

fn validate_rolling(rolling: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let (unavailable, surge) = (part(rolling, "/maxUnavailable"), part(rolling, "/maxSurge"));
    let at = path.clone().name("maxUnavailable");
    rules::int_or_percent(errors, &at, unavailable);
    rules::int_or_percent(errors, &path.clone().name("maxSurge"), surge);
    if amount(unavailable) == 0 && amount(surge) == 0 {
        let detail = "may not be 0 when `maxSurge` is 0";
        errors.push(FieldError::invalid(at.clone(), unavailable.clone(), detail));
    }
    rules::at_most_100_percent(errors, &at, unavailable);
}

fn validate_status(deployment: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let (status, at) = (part(deployment, "/status"), path(&["status"]));
    let counters = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    rules::members_not_negative(errors, &at, status, &counters);
    let parts = ["updatedReplicas", "readyReplicas", "availableReplicas"];
    at_most_replicas(errors, &at, status, &parts);
    available_at_most_ready(errors, &at, status, "cannot be greater than readyReplicas");
    if let Some(old) = old {
        not_decremented(errors, &at, status, part(old, "/status"), "collisionCount");
    }
}
