//! The status of a set (CP-43).

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::conditions::{remove_condition, set_condition};
use crate::object::Object;
use crate::ownership::Owner;
use crate::plan::Plan;
use crate::pods::{is_available, is_ready, is_terminal};
use crate::request::Request;
use crate::resource::{PODS, REPLICA_SETS, Resource};
use crate::view::View;

/// Why pods could not be created or deleted.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The numbers of a status.
#[derive(Debug)]
pub(super) struct Values {
    replicas: usize,
    fully_labeled: usize,
    ready: usize,
    available: usize,
    /// `None` if the kind does not have it.
    terminating: Option<usize>,
}

/// Counts the active pods of a set.
pub(super) fn status(
    owner: &Owner<'_>,
    view: &View,
    pods: &[Arc<Object>],
    now: Timestamp,
) -> Values {
    let set = owner.object;
    let labels = set.get("/spec/template/metadata/labels").as_object();
    let has_labels = |pod: &&Arc<Object>| {
        labels.into_iter().flatten().all(|(name, value)| pod.labels().get(name) == Some(value))
    };
    let min_ready = set.int("/spec/minReadySeconds").unwrap_or_default();
    let terminating = || {
        let pods = view.controlled(&PODS, set.uid());
        pods.filter(|pod| pod.is_deleting() && !is_terminal(pod)).count()
    };
    let ready: Vec<_> = pods.iter().filter(|pod| is_ready(pod)).collect();
    Values {
        replicas: pods.len(),
        fully_labeled: pods.iter().filter(has_labels).count(),
        ready: ready.len(),
        available: ready.into_iter().filter(|pod| is_available(pod, min_ready, now)).count(),
        terminating: (*owner.resource == REPLICA_SETS).then(terminating),
    }
}

impl Values {
    /// Writes the status, if it differs from what the set has.
    pub(super) fn write(
        &self,
        resource: &Resource,
        set: &Object,
        failure: Option<&Failure>,
        now: Timestamp,
    ) -> Plan {
        let status = Value::Object(self.status(set, failure, now));
        if status == *set.get("/status") {
            return Plan::nothing();
        }
        let mut changed = set.copy();
        if let Some(members) = changed.as_object_mut() {
            members.insert("status".to_owned(), status);
        }
        Plan::nothing().request(Request::update_in(resource, set.key(), "status", &changed))
    }

    fn status(
        &self,
        set: &Object,
        failure: Option<&Failure>,
        now: Timestamp,
    ) -> Map<String, Value> {
        let mut status = Map::new();
        let numbers = [
            ("fullyLabeledReplicas", self.fully_labeled),
            ("readyReplicas", self.ready),
            ("availableReplicas", self.available),
        ];
        for (name, number) in numbers.into_iter().filter(|(_, number)| *number > 0) {
            status.insert(name.to_owned(), number.into());
        }
        status.insert("replicas".to_owned(), self.replicas.into());
        if let Some(terminating) = self.terminating {
            status.insert("terminatingReplicas".to_owned(), terminating.into());
        }
        status.insert("observedGeneration".to_owned(), set.get("/metadata/generation").clone());
        let mut conditions = set.list("/status/conditions").to_vec();
        match failure {
            // The first failure stays until nothing fails.
            Some(_) if set.condition("ReplicaFailure").is_some() => {}
            Some(Failure { reason, message }) => {
                set_condition(&mut conditions, ["ReplicaFailure", "True", reason, message], now);
            }
            None => remove_condition(&mut conditions, "ReplicaFailure"),
        }
        if !conditions.is_empty() {
            status.insert("conditions".to_owned(), conditions.into());
        }
        status
    }
}
