//! ReplicationControllers (BK-307).

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::FieldValue as _;
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::{Value, json};

use super::pod_template;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::values::{integer, object_mut, path, section, set_missing};
use crate::workloads::{
    at_most_replicas, available_at_most_ready, containers, labels_cell, part, runs_always,
    template_labels, warn_of_changes, warn_of_name,
};
use crate::{cells, rules};

/// The rules of ReplicationControllers.
#[derive(Debug)]
pub(crate) struct ReplicationController;

impl Behavior for ReplicationController {
    /// Labels and selector are those of the template, unless there are any.
    fn set_defaults(&self, controller: &mut Value, kubernetes: KubernetesVersion) {
        if let Some(template) = object_mut(controller, "/spec/template") {
            pod_template::set_defaults(template, kubernetes);
        }
        let labels = part(controller, "/spec/template/metadata/labels").clone();
        if labels.is_object() {
            if let Some(spec) = object_mut(controller, "/spec") {
                set_missing(spec, "selector", labels.clone());
            }
            section(controller, "metadata");
            if let Some(metadata) = object_mut(controller, "/metadata") {
                set_missing(metadata, "labels", labels);
            }
        }
    }

    fn validate(
        &self,
        controller: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            return validate_status(controller, &mut found.errors);
        }
        warn_of_name(controller, old, found);
        let (spec, at) = (part(controller, "/spec"), path(&["spec"]));
        let selector = part(spec, "/selector");
        if cells::count(spec, "/selector") == 0 {
            found.errors.push(FieldError::required(at.clone().name("selector"), ""));
        }
        let (at_template, template) = (at.clone().name("template"), part(spec, "/template"));
        if template.is_null() {
            found.errors.push(FieldError::required(at_template, ""));
        } else {
            let selector = json!({"matchLabels": selector});
            if let Ok(selector) = LabelSelector::of(&selector).parse_for(context.kubernetes) {
                template_labels(&mut found.errors, &at_template, template, &selector);
            }
            let before = found.warnings.len();
            pod_template::validate(template, &at_template, context, found);
            warn_of_changes(found, before, "/spec", controller, old);
            runs_always(&mut found.errors, &at_template, template, "ReplicationController");
        }
        let numbers = ["replicas", "minReadySeconds"];
        rules::members_not_negative(&mut found.errors, &at, spec, &numbers);
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let number = |place| integer(object, place).unwrap_or_default().into();
        let [names, images] = containers(part(object, "/spec/template"));
        vec![
            cells::name(object),
            number("/spec/replicas"),
            number("/status/replicas"),
            number("/status/readyReplicas"),
            cells::created(object, now),
            names,
            images,
            labels_cell(object, "/spec/selector"),
        ]
    }
}

fn validate_status(controller: &Value, errors: &mut Vec<FieldError>) {
    let (status, at) = (part(controller, "/status"), path(&["status"]));
    let counters = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
    ];
    rules::members_not_negative(errors, &at, status, &counters);
    let parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
    at_most_replicas(errors, &at, status, &parts);
    available_at_most_ready(errors, &at, status, "cannot be greater than readyReplicas");
}
