//! The set of a Deployment's template (CP-31).

use serde_json::{Map, Value, json};

use super::Rollout;
use super::conditions::{Progress, has_deadline, set_condition};
use super::sets::{DESIRED, HASH, MOST, REVISION, ROLLBACK, revision_of, size_annotations};
use crate::document::set;
use crate::event::Event;
use crate::hash::hash_of;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::{Outcome, Request};
use crate::resource::{DEPLOYMENTS, REPLICA_SETS};

pub(super) const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The annotations of a Deployment that its sets do not have, or of their own.
pub(super) const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    ROLLBACK,
];
/// The longest name of an object.
const MAX_NAME: usize = 253;
/// How many bytes of earlier revisions are kept.
const MAX_HISTORY: usize = 2000;

impl Rollout<'_> {
    /// Brings the new set and the Deployment's revision up to date, if there is something to do.
    pub(super) fn update_new_set(&self) -> Option<Plan> {
        let new = self.sets.new.as_ref()?;
        let mut changed = new.copy();
        let annotations = self.annotations(Some(new));
        set(&mut changed, &["metadata", "annotations"], Value::Object(annotations));
        let min_ready = self.deployment().get("/spec/minReadySeconds");
        if new.get("/spec/minReadySeconds") != min_ready {
            set(&mut changed, &["spec", "minReadySeconds"], min_ready.clone());
        }
        if changed != new.copy() {
            let request = Request::update(&REPLICA_SETS, new.key(), &changed);
            return Some(Plan::nothing().request(request));
        }
        let deployment = self.deployment();
        let is_known = deployment.condition("Progressing").is_some() || !has_deadline(deployment);
        if revision_of(deployment) == revision_of(new) && is_known {
            return None;
        }
        let found = (!is_known).then(|| Progress {
            reason: "FoundNewReplicaSet",
            message: format!("Found new replica set \"{}\"", new.name()),
            status: "True",
        });
        Some(self.write_revision(revision_of(new), found))
    }

    /// Writes the revision of the Deployment, and how it progresses if that is new.
    fn write_revision(&self, revision: i64, progress: Option<Progress>) -> Plan {
        let deployment = self.deployment();
        let mut document = deployment.copy();
        set(&mut document, &["metadata", "annotations", REVISION], revision.to_string().into());
        if let Some(progress) = progress {
            let mut conditions = deployment.list("/status/conditions").to_vec();
            set_condition(&mut conditions, "Progressing", &progress, self.now);
            set(&mut document, &["status", "conditions"], conditions.into());
        }
        let request = Request::update_in(&DEPLOYMENTS, deployment.key(), "status", &document);
        Plan::nothing().request(request)
    }

    /// The annotations of the new set, by those that it has.
    fn annotations(&self, new: Option<&Object>) -> Map<String, Value> {
        let mut annotations = new.map(|new| new.annotations().clone()).unwrap_or_default();
        let copied = self.deployment().annotations().iter();
        let copied = copied.filter(|(name, _)| !OWN.contains(&name.as_str()));
        annotations.extend(copied.map(|(name, value)| (name.clone(), value.clone())));
        let before = new.map(revision_of).unwrap_or_default();
        let revision = self.next_revision();
        if before < revision {
            annotations.insert(REVISION.to_owned(), revision.to_string().into());
            if before > 0 {
                let history = annotations.get(HISTORY).and_then(Value::as_str);
                annotations.insert(HISTORY.to_owned(), lengthened(history, before).into());
            }
        }
        annotations
    }

    /// The revision after those of the old sets.
    fn next_revision(&self) -> i64 {
        let old = self.sets.old.iter().map(|set| revision_of(set)).max();
        old.unwrap_or_default().saturating_add(1)
    }

    /// Creates the new set, if it is missing.
    pub(super) fn create_new_set(&self) -> Option<Plan> {
        if self.sets.new.is_some() {
            return None;
        }
        let (deployment, now) = (self.deployment().clone(), self.now);
        let (name, document, size) = self.new_set();
        let event = self.scaling_event(&name, 0, size);
        let created = Progress {
            reason: "NewReplicaSetCreated",
            message: format!("Created new replica set \"{name}\""),
            status: "True",
        };
        let created = has_deadline(&deployment).then_some(created);
        let written = self.write_revision(self.next_revision(), created);
        let create = Request::create(&REPLICA_SETS, deployment.namespace(), &document);
        Some(Plan::nothing().then(vec![create], move |outcomes| {
            let failure = outcomes.first().filter(|outcome| !outcome.is_success());
            match failure {
                None if size > 0 => written.event(event),
                None => written,
                Some(outcome) => refused(&deployment, &name, outcome, now),
            }
        }))
    }

    /// Returns the name, the document and the size of the new set.
    fn new_set(&self) -> (String, Value, i64) {
        let deployment = self.deployment();
        let mut template = deployment.get("/spec/template").clone();
        let hash = hash_of(&template, deployment.int("/status/collisionCount"));
        let room = MAX_NAME.saturating_sub(hash.len() + 1);
        let name: String = deployment.name().chars().take(room).collect();
        let name = format!("{name}-{hash}");
        set(&mut template, &["metadata", "labels", HASH], hash.clone().into());
        let mut selector = deployment.get("/spec/selector").clone();
        set(&mut selector, &["matchLabels", HASH], hash.into());
        let mut annotations = self.annotations(None);
        let sizes =
            size_annotations(self.sizes).map(|(name, value)| (name.to_owned(), value.into()));
        annotations.extend(sizes);
        let size = self.size_of_new(0);
        let mut document = json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": name, "namespace": deployment.namespace(), "annotations": annotations,
                "labels": template.pointer("/metadata/labels"),
                "ownerReferences": [self.owner.reference()],
            },
            "spec": {"replicas": size, "selector": selector, "template": template},
        });
        if let Some(seconds) = deployment.int("/spec/minReadySeconds") {
            set(&mut document, &["spec", "minReadySeconds"], seconds.into());
        }
        (name, document, size)
    }
}

/// Adds a revision to those that a set had earlier; the oldest make room for it.
fn lengthened(history: Option<&str>, revision: i64) -> String {
    let mut history: Vec<&str> = history.into_iter().flat_map(|it| it.split(',')).collect();
    let revision = revision.to_string();
    let length = |history: &[&str]| history.iter().map(|it| it.len() + 1).sum::<usize>();
    while !history.is_empty() && length(&history) + revision.len() > MAX_HISTORY {
        history.remove(0);
    }
    history.push(&revision);
    history.join(",")
}

/// Goes on when the new set is refused: with another name if there is another set of that name, else
/// with a condition and an event.
fn refused(
    deployment: &Object,
    name: &str,
    outcome: &Outcome,
    now: crate::clock::Timestamp,
) -> Plan {
    let Some(failure) = Plan::of_outcome(outcome) else { return Plan::nothing() };
    let status = outcome.failure().unwrap_or_default();
    let mut document = deployment.copy();
    if status.reason == "AlreadyExists" {
        let count = deployment.int("/status/collisionCount").unwrap_or_default();
        set(&mut document, &["status", "collisionCount"], count.saturating_add(1).into());
        let write = Request::update_in(&DEPLOYMENTS, deployment.key(), "status", &document);
        return Plan::nothing().request(write);
    }
    let (reason, message) = ("ReplicaSetCreateError", status.message);
    let message = format!("Failed to create new replica set \"{name}\": {message}");
    let event = Event::warning(&DEPLOYMENTS, deployment, reason, message.clone());
    let told = Plan::nothing().event(event);
    if !has_deadline(deployment) {
        return told.and(failure);
    }
    let mut conditions = deployment.list("/status/conditions").to_vec();
    let progress = Progress { reason, message, status: "False" };
    set_condition(&mut conditions, "Progressing", &progress, now);
    if conditions == deployment.list("/status/conditions") {
        return told.and(failure);
    }
    set(&mut document, &["status", "conditions"], conditions.into());
    let write = Request::update_in(&DEPLOYMENTS, deployment.key(), "status", &document);
    told.request(write).and(failure)
}
