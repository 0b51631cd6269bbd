//! ReplicaSets and ReplicationControllers keep a number of pods (CP-40 to CP-45).

mod deletion_order;
mod status;

use std::sync::Arc;
use std::time::Duration;

use self::deletion_order::in_deletion_order;
use self::status::{Failure, status};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::ownership::{Claimed, Owner, selector_of};
use crate::plan::Plan;
use crate::pod_control::{create_pods, delete_pods};
use crate::pods::{create_pod, is_active, pod_of, time_to_available};
use crate::request::Outcome;
use crate::resource::{PODS, REPLICA_SETS, REPLICATION_CONTROLLERS, Resource};
use crate::view::{Change, View};

/// How many pods are created or deleted at once.
const BURST: usize = 500;

/// The controller of one of both kinds.
#[derive(Debug)]
pub(crate) struct ReplicaSets {
    resource: &'static Resource,
    name: &'static str,
    event_source: &'static str,
}

impl ReplicaSets {
    pub(crate) fn of_replica_sets() -> Self {
        let name = "replicaset-controller";
        ReplicaSets { resource: &REPLICA_SETS, name, event_source: name }
    }

    pub(crate) fn of_replication_controllers() -> Self {
        ReplicaSets {
            resource: &REPLICATION_CONTROLLERS,
            name: "replicationcontroller-controller",
            event_source: "replication-controller",
        }
    }
}

impl Controller for ReplicaSets {
    fn name(&self) -> &'static str {
        self.name
    }

    fn account(&self) -> Account {
        Account::of_controller(self.event_source)
    }

    fn event_source(&self) -> &'static str {
        self.event_source
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![self.resource, &PODS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if keys.add_changed(change, self.resource) {
            return;
        }
        keys.add_controllers(change, self.resource);
        // A pod without a controller may be adopted.
        let Some(pod) = change.after.as_ref().filter(|pod| pod.controller().is_none()) else {
            return;
        };
        let sets = view.list(self.resource, pod.namespace());
        let wants = |set: &&Arc<Object>| selector_of(set).matches(pod.labels());
        sets.filter(wants).for_each(|set| keys.add(set.key()));
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(set) = view.get(self.resource, key) else { return Plan::nothing() };
        let owner = Owner { resource: self.resource, object: set };
        let Claimed { objects: pods, plan } =
            owner.claim(view, &PODS, &selector_of(set), is_active);
        let sync = Sync { owner, view, pods, now };
        let next = sync.next_available();
        let managed = plan.and(sync.manage());
        next.into_iter().fold(managed, Plan::again_after)
    }
}

/// A set and its pods.
struct Sync<'s> {
    owner: Owner<'s>,
    view: &'s View,
    /// The active pods.
    pods: Vec<Arc<Object>>,
    now: Timestamp,
}

impl Sync<'_> {
    fn set(&self) -> &Arc<Object> {
        self.owner.object
    }

    /// Creates or deletes pods until there are as many as wanted, then writes the status.
    fn manage(self) -> Plan {
        let wanted = self.set().int("/spec/replicas").unwrap_or(1);
        let wanted = usize::try_from(wanted).unwrap_or_default();
        if self.set().is_deleting() || self.pods.len() == wanted {
            return self.status_values().write(self.owner.resource, self.set(), None, self.now);
        }
        if self.pods.len() < wanted {
            let missing = wanted - self.pods.len();
            return self.create(missing.min(BURST));
        }
        let surplus = self.pods.len() - wanted;
        self.delete(surplus.min(BURST))
    }

    fn create(self, count: usize) -> Plan {
        let pod = pod_of(&self.owner, self.set().get("/spec/template"));
        let requests = vec![create_pod(&self.owner, &pod); count];
        let end = self.end("FailedCreate");
        create_pods(&self.owner, requests, |_, failed| end(failed))
    }

    fn delete(self, count: usize) -> Plan {
        let pods = in_deletion_order(&self.owner, self.view, self.pods.clone(), self.now);
        let pods = pods.into_iter().take(count).collect();
        let end = self.end("FailedDelete");
        delete_pods(&self.owner, pods, |_, failed| end(failed))
    }

    /// Returns what writes the status after pods were created or deleted, and fails if one could not
    /// be.
    fn end(&self, reason: &'static str) -> impl FnOnce(Option<Outcome>) -> Plan + Send + use<> {
        let (set, status) = (Arc::clone(self.set()), self.status_values());
        let (resource, now) = (self.owner.resource, self.now);
        let succeeded = status.write(resource, &set, None, now);
        move |failed| {
            let failure = failed.as_ref().and_then(Outcome::failure);
            let Some((failed, failure)) = failed.as_ref().zip(failure) else { return succeeded };
            let failure = Failure { reason, message: failure.message };
            let written = status.write(resource, &set, Some(&failure), now);
            written.and(Plan::of_outcome(failed).unwrap_or_default())
        }
    }

    fn status_values(&self) -> status::Values {
        status(&self.owner, self.view, &self.pods, self.now)
    }

    /// Returns how long it takes until the next ready pod is available, if one is to be (CP-43).
    fn next_available(&self) -> Option<Duration> {
        let wanted = self.set().int("/spec/minReadySeconds").filter(|seconds| *seconds > 0)?;
        let times = self.pods.iter().filter_map(|pod| time_to_available(pod, wanted, self.now));
        times.filter(|time| !time.is_zero()).min()
    }
}
