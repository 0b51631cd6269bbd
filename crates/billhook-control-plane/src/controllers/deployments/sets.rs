//! The ReplicaSets of a Deployment.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Rollout;
use super::size::Sizes;
use crate::document::{remove, set};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{DEPLOYMENTS, REPLICA_SETS};

pub(super) const HASH: &str = "pod-template-hash";
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
pub(super) const ROLLBACK: &str = "deprecated.deployment.rollback.to";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MOST: &str = "deployment.kubernetes.io/max-replicas";

/// The sets of a Deployment: the one of its template, and those of earlier ones, the oldest first.
#[derive(Debug)]
pub(super) struct Sets {
    pub(super) new: Option<Arc<Object>>,
    pub(super) old: Vec<Arc<Object>>,
}

impl Sets {
    pub(super) fn new(deployment: &Object, mut sets: Vec<Arc<Object>>) -> Self {
        sets.sort_by_key(|set| (set.created(), Arc::clone(set.key())));
        let template = deployment.get("/spec/template");
        let new = sets.iter().position(|set| template_of(set) == *template);
        let new = new.map(|index| sets.remove(index));
        Sets { new, old: sets }
    }

    /// All sets, the oldest first except for the new one, which is the last.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.old.iter().chain(&self.new)
    }

    /// How many pods all sets want.
    pub(super) fn size(&self) -> i64 {
        self.all().map(|set| size_of(set)).sum()
    }

    /// How many pods of all sets are available.
    pub(super) fn available(&self) -> i64 {
        self.all().map(|set| available_of(set)).sum()
    }
}

/// Returns the template of a set, without the label of its hash.
pub(super) fn template_of(set: &Object) -> Value {
    let mut template = set.get("/spec/template").clone();
    remove(&mut template, &["metadata", "labels", HASH]);
    template
}

/// How many pods a set wants.
pub(super) fn size_of(set: &Object) -> i64 {
    set.int("/spec/replicas").unwrap_or(1)
}

/// How many pods of a set are available.
pub(super) fn available_of(set: &Object) -> i64 {
    set.int("/status/availableReplicas").unwrap_or_default()
}

/// Whether a set wants pods.
pub(super) fn is_active(set: &Object) -> bool {
    size_of(set) > 0
}

/// How many pods its Deployment wanted when a set was scaled.
pub(super) fn desired(set: &Object) -> Option<i64> {
    set.annotation(DESIRED)?.parse().ok()
}

/// How many pods its Deployment allowed when a set was scaled.
pub(super) fn most(set: &Object) -> Option<i64> {
    set.annotation(MOST)?.parse().ok()
}

/// Returns the revision of an object; 0 if it has none.
pub(super) fn revision_of(object: &Object) -> i64 {
    object.annotation(REVISION).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Returns the annotations that say how many pods a Deployment wants and allows.
pub(super) fn size_annotations(sizes: Sizes) -> [(&'static str, String); 2] {
    [(DESIRED, sizes.replicas.to_string()), (MOST, sizes.most.to_string())]
}

impl Rollout<'_> {
    /// Scales a set, and tells of it.
    pub(super) fn scale_set(&self, scaled: &Object, size: i64) -> Plan {
        self.scaling(scaled, size_of(scaled), size).plan()
    }

    /// Returns the write that scales a set from a size that it has by then.
    pub(super) fn scaling(&self, scaled: &Object, before: i64, size: i64) -> Scaling {
        let mut document = scaled.copy();
        set(&mut document, &["spec", "replicas"], json!(size));
        for (name, value) in size_annotations(self.sizes) {
            set(&mut document, &["metadata", "annotations", name], value.into());
        }
        let event = (before != size).then(|| self.scaling_event(scaled.name(), before, size));
        Scaling { key: Arc::clone(scaled.key()), document, event }
    }

    pub(super) fn scaling_event(&self, set: &str, before: i64, size: i64) -> Event {
        let direction = if size > before { "up" } else { "down" };
        let message = format!("Scaled {direction} replica set {set} from {before} to {size}");
        Event::normal(&DEPLOYMENTS, self.deployment(), "ScalingReplicaSet", message)
    }
}

/// The write that scales a set, and what it tells.
#[derive(Debug)]
pub(super) struct Scaling {
    pub(super) key: Arc<str>,
    document: Value,
    pub(super) event: Option<Event>,
}

impl Scaling {
    pub(super) fn request(&self) -> Request {
        Request::update(&REPLICA_SETS, &self.key, &self.document)
    }

    /// Makes it a write of the set as it was written before.
    pub(super) fn follow(&mut self, written: &Value) {
        let version = written.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
        set(&mut self.document, &["metadata", "resourceVersion"], version);
    }

    pub(super) fn plan(self) -> Plan {
        let plan = Plan::nothing().request(self.request());
        self.event.into_iter().fold(plan, Plan::event)
    }
}
