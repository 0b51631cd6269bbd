//! ReplicaSets (BK-302).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::Value;

use super::template;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::core::pod_template;
use crate::values::{integer, object_mut, path, set_missing, value_at};
use crate::workloads::{
    at_most_replicas, available_at_most_ready, containers, drop_terminating, immutable_selector,
    part, selector_cell, warn_of_name,
};
use crate::{cells, rules};

/// The rules of ReplicaSets.
#[derive(Debug)]
pub(crate) struct ReplicaSet;

impl Behavior for ReplicaSet {
    fn set_defaults(&self, replica_set: &mut Value, kubernetes: KubernetesVersion) {
        drop_terminating(replica_set, kubernetes);
        let Some(spec) = object_mut(replica_set, "/spec") else { return };
        set_missing(spec, "replicas", 1);
        if let Some(template) = object_mut(spec, "/template") {
            pod_template::set_defaults(template, kubernetes);
        }
    }

    fn validate(
        &self,
        replica_set: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            return validate_status(replica_set, &mut found.errors);
        }
        warn_of_name(replica_set, old, found);
        let spec = part(replica_set, "/spec");
        let numbers = ["replicas", "minReadySeconds"];
        rules::members_not_negative(&mut found.errors, &path(&["spec"]), spec, &numbers);
        template::validate_replicated(replica_set, old, context, found);
        if let Some(old) = old {
            let (at, old) = (path(&["spec", "selector"]), part(old, "/spec/selector"));
            immutable_selector(&mut found.errors, &at, part(spec, "/selector"), old);
        }
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
            selector_cell(value_at(object, "/spec/selector")),
        ]
    }
}

fn validate_status(replica_set: &Value, errors: &mut Vec<FieldError>) {
    let (status, at) = (part(replica_set, "/status"), path(&["status"]));
    let counters = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "terminatingReplicas",
        "observedGeneration",
    ];
    rules::members_not_negative(errors, &at, status, &counters);
    let parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
    at_most_replicas(errors, &at, status, &parts);
    available_at_most_ready(errors, &at, status, "cannot be greater than readyReplicas");
}
