//! The status of a Deployment (CP-34, CP-35).

use std::time::Duration;

use serde_json::{Map, Value};

use super::Rollout;
use super::conditions::{Progress, deadline, progress_reason, set_condition};
use crate::clock::Timestamp;
use crate::conditions::remove_condition;
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::DEPLOYMENTS;

/// The numbers of a status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    replicas: i64,
    updated: i64,
    ready: i64,
    available: i64,
    unavailable: i64,
    terminating: i64,
    is_observed: bool,
}

impl Status {
    /// Adds up the statuses of the sets.
    pub(super) fn of(rollout: &Rollout<'_>) -> Self {
        let sum = |name: &str| {
            let pointer = format!("/status/{name}");
            rollout.sets.all().map(|set| set.int(&pointer).unwrap_or_default()).sum::<i64>()
        };
        let available = sum("availableReplicas");
        let new = rollout.sets.new.as_ref();
        Status {
            replicas: sum("replicas"),
            updated: new.and_then(|new| new.int("/status/replicas")).unwrap_or_default(),
            ready: sum("readyReplicas"),
            available,
            unavailable: rollout.sets.size().saturating_sub(available).max(0),
            terminating: sum("terminatingReplicas"),
            is_observed: true,
        }
    }

    /// Reads the status that a Deployment has.
    fn written(deployment: &Object) -> Self {
        let number = |name: &str| deployment.int(&format!("/status/{name}")).unwrap_or_default();
        Status {
            replicas: number("replicas"),
            updated: number("updatedReplicas"),
            ready: number("readyReplicas"),
            available: number("availableReplicas"),
            unavailable: number("unavailableReplicas"),
            terminating: number("terminatingReplicas"),
            is_observed: number("observedGeneration")
                >= deployment.int("/metadata/generation").unwrap_or_default(),
        }
    }

    /// Whether all that is wanted is there, and nothing else.
    pub(super) fn is_complete(&self, deployment: &Object) -> bool {
        let wanted = deployment.int("/spec/replicas").unwrap_or(1);
        [self.updated, self.replicas, self.available] == [wanted; 3] && self.is_observed
    }

    /// Whether it is further than another one.
    fn is_further(&self, than: &Status) -> bool {
        self.updated > than.updated
            || self.replicas - self.updated < than.replicas - than.updated
            || self.ready > than.ready
            || self.available > than.available
    }

    fn members(&self, deployment: &Object, conditions: Vec<Value>) -> Map<String, Value> {
        let mut status = Map::new();
        let generation = deployment.get("/metadata/generation").clone();
        status.insert("observedGeneration".to_owned(), generation);
        let numbers = [
            ("replicas", self.replicas),
            ("updatedReplicas", self.updated),
            ("readyReplicas", self.ready),
            ("availableReplicas", self.available),
            ("unavailableReplicas", self.unavailable),
        ];
        for (name, number) in numbers.into_iter().filter(|(_, number)| *number != 0) {
            status.insert(name.to_owned(), number.into());
        }
        status.insert("terminatingReplicas".to_owned(), self.terminating.into());
        if let Some(count) = deployment.int("/status/collisionCount") {
            status.insert("collisionCount".to_owned(), count.into());
        }
        status.insert("conditions".to_owned(), conditions.into());
        status
    }
}

impl Rollout<'_> {
    /// Writes the numbers, and whether enough pods are available.
    pub(super) fn write_status(&self) -> Plan {
        let status = Status::of(self);
        self.write(&status, self.availability(&status)).unwrap_or_default()
    }

    /// Writes the status, and how far the rollout is.
    pub(super) fn write_progress(&self) -> Plan {
        let deployment = self.deployment();
        let status = Status::of(self);
        let mut conditions = self.availability(&status);
        match deadline(deployment) {
            Some(deadline) => self.set_progress(&mut conditions, &status, deadline),
            None => remove_condition(&mut conditions, "Progressing"),
        }
        self.set_failure(&mut conditions);
        let written = self.write(&status, conditions);
        written.unwrap_or_else(|| self.look_again(&status))
    }

    fn availability(&self, status: &Status) -> Vec<Value> {
        let mut conditions = self.deployment().list("/status/conditions").to_vec();
        let is_available = status.available >= self.sizes.least_available;
        let (status, reason, verb) = match is_available {
            true => ("True", "MinimumReplicasAvailable", "has"),
            false => ("False", "MinimumReplicasUnavailable", "does not have"),
        };
        let message = format!("Deployment {verb} minimum availability.");
        let available = Progress { status, reason, message };
        set_condition(&mut conditions, "Available", &available, self.now);
        conditions
    }

    fn set_progress(&self, conditions: &mut Vec<Value>, status: &Status, deadline: Duration) {
        let deployment = self.deployment();
        let reason = progress_reason(deployment);
        if status.replicas == status.updated && reason == "NewReplicaSetAvailable" {
            return;
        }
        let subject = match &self.sets.new {
            Some(new) => format!("ReplicaSet \"{}\"", new.name()),
            None => format!("Deployment \"{}\"", deployment.name()),
        };
        let progress = |status, reason, verb: &str| Progress {
            status,
            reason,
            message: format!("{subject} {verb}."),
        };
        if status.is_complete(deployment) {
            let done = progress("True", "NewReplicaSetAvailable", "has successfully progressed");
            set_condition(conditions, "Progressing", &done, self.now);
        } else if status.is_further(&Status::written(deployment)) {
            renew(conditions, &progress("True", "ReplicaSetUpdated", "is progressing"), self.now);
        } else if self.is_late(deadline) {
            let late = progress("False", "ProgressDeadlineExceeded", "has timed out progressing");
            set_condition(conditions, "Progressing", &late, self.now);
        }
    }

    /// Whether the last progress was too long ago.
    fn is_late(&self, deadline: Duration) -> bool {
        match progress_reason(self.deployment()) {
            "" | "NewReplicaSetAvailable" => false,
            "ProgressDeadlineExceeded" => true,
            _ => self.last_progress().is_some_and(|last| last.plus(deadline) < self.now),
        }
    }

    fn last_progress(&self) -> Option<Timestamp> {
        let condition = self.deployment().condition("Progressing")?;
        Timestamp::parse(condition.get("lastUpdateTime")?.as_str()?)
    }

    /// Takes over why pods of the new set, or else of any, could not be created or deleted.
    fn set_failure(&self, conditions: &mut Vec<Value>) {
        remove_condition(conditions, "ReplicaFailure");
        let failure = self.sets.new.iter().chain(&self.sets.old);
        let mut failures = failure.filter_map(|set| set.condition("ReplicaFailure"));
        let known = self.deployment().condition("ReplicaFailure");
        let Some(failure) = failures.next() else { return };
        let mut failure = failure.clone();
        let is_same = |it: &&Value| {
            ["status", "reason"].iter().all(|name| it.get(*name) == failure.get(*name))
        };
        if let Some(known) = known.filter(is_same) {
            conditions.push(known.clone());
            return;
        }
        let updated = failure.get("lastTransitionTime").cloned().unwrap_or_default();
        set(&mut failure, &["lastUpdateTime"], updated);
        conditions.push(failure);
    }

    /// Writes a status, if it differs from the written one.
    fn write(&self, status: &Status, conditions: Vec<Value>) -> Option<Plan> {
        let deployment = self.deployment();
        let status = Value::Object(status.members(deployment, conditions));
        if status == *deployment.get("/status") {
            return None;
        }
        let mut document = deployment.copy();
        set(&mut document, &["status"], status);
        let write = Request::update_in(&DEPLOYMENTS, deployment.key(), "status", &document);
        Some(Plan::nothing().request(write))
    }

    /// Looks again one second after the deadline, if the rollout can be late.
    fn look_again(&self, status: &Status) -> Plan {
        let deployment = self.deployment();
        let waits = !status.is_complete(deployment)
            && progress_reason(deployment) != "ProgressDeadlineExceeded";
        let late = deadline(deployment).zip(self.last_progress()).filter(|_| waits);
        let Some((deadline, last)) = late else { return Plan::nothing() };
        let left = last.plus(deadline).since(self.now);
        Plan::nothing().again_after(left.saturating_add(Duration::from_secs(1)))
    }
}

/// Sets the condition of a rollout that goes on, with a new update time.
fn renew(conditions: &mut Vec<Value>, progress: &Progress, now: Timestamp) {
    let is_progressing = |it: &&mut Value| {
        it.get("type").is_some_and(|it| it == "Progressing")
            && it.get("reason").is_some_and(|it| it == progress.reason)
    };
    if let Some(known) = conditions.iter_mut().find(is_progressing) {
        set(known, &["lastUpdateTime"], now.to_rfc3339().into());
        set(known, &["message"], progress.message.clone().into());
        return;
    }
    set_condition(conditions, "Progressing", progress, now);
}
