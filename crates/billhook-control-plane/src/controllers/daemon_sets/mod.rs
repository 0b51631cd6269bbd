//! DaemonSets keep a pod on every node that fits (CP-58, CP-59).

mod backoff;
mod nodes;
mod status;
mod tidy;
mod update;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use self::backoff::Backoffs;
use self::nodes::{Fit, OnNodes, by_node, fit, new_pod, node_of};
use super::revisions::{self, History, REVISION};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::ownership::{Owner, selector_of};
use crate::plan::Plan;
use crate::pod_control::{create_pods, delete_pods, fail};
use crate::pods::{create_pod, time_to_available};
use crate::request::Request;
use crate::resource::{CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS, Resource};
use crate::view::{Change, View};

/// How many pods are created or deleted at once.
const BURST: usize = 250;

/// The controller of DaemonSets.
#[derive(Debug, Default)]
pub(crate) struct DaemonSets {
    backoffs: Backoffs,
}

impl Controller for DaemonSets {
    fn name(&self) -> &'static str {
        "daemonset-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("daemon-set-controller")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&DAEMON_SETS, &PODS, &CONTROLLER_REVISIONS, &NODES]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if !change.is_of(&NODES) {
            let gone = change.before.as_ref().filter(|_| change.after.is_none());
            let gone = gone.filter(|_| change.is_of(&DAEMON_SETS));
            gone.into_iter().for_each(|set| self.backoffs.forget(set.uid()));
            revisions::add_concerned(change, &DAEMON_SETS, view, keys);
        } else if let Some(node) = change.after.as_ref().filter(|_| has_moved(change)) {
            let sets = view.all(&DAEMON_SETS).filter(|set| is_wrong(set, node, view));
            sets.for_each(|set| keys.add(set.key()));
        }
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let set = view.get(&DAEMON_SETS, key).filter(|set| !set.is_deleting());
        let Some(set) = set else { return Plan::nothing() };
        let selector = selector_of(set);
        if selector.is_everything() {
            let message =
                "This daemon set is selecting all pods. A non-empty selector is required.";
            let event = Event::warning(&DAEMON_SETS, set, "SelectingAll", message.to_owned());
            return Plan::nothing().event(event);
        }
        let owner = Owner { resource: &DAEMON_SETS, object: set };
        let mut history = History::claim(&owner, view);
        let pods = owner.claim(view, &PODS, &selector, |_| true);
        let claimed = std::mem::take(&mut history.plan).and(pods.plan);
        let newest = match history.newest(&owner, REVISION) {
            Ok(newest) => newest,
            Err(plan) => return claimed.and(plan),
        };
        let merged = merge_duplicates(&history, newest, &pods.objects);
        if !merged.is_nothing() {
            return claimed.and(merged);
        }
        let fits = view.all(&NODES).map(|node| (node.name(), fit(set, node))).collect();
        let (pods, hash) = (by_node(pods.objects), hash_of(newest).to_owned());
        let sync = Sync { owner, backoffs: &self.backoffs, fits, pods, hash, now };
        claimed.and(sync.plan()).and(sync.clean_up(&history))
    }
}

/// Makes the pods of other revisions of the same template those of the newest one, and deletes these.
fn merge_duplicates(history: &History, newest: &Object, pods: &[Arc<Object>]) -> Plan {
    history.duplicates(newest).fold(Plan::nothing(), |plan, duplicate| {
        let of_duplicate = pods.iter().filter(|pod| hash_of(pod) == hash_of(duplicate));
        let relabelled = of_duplicate.fold(plan, |plan, pod| {
            let mut changed = pod.copy();
            set(&mut changed, &["metadata", "labels", REVISION], hash_of(newest).into());
            plan.request(Request::update(&PODS, pod.key(), &changed))
        });
        relabelled.request(Request::delete_seen(&CONTROLLER_REVISIONS, duplicate))
    })
}

/// Returns whether other pods may be on a node than before a change.
fn has_moved(change: &Change) -> bool {
    let parts = |node: &Arc<Object>| (node.labels().clone(), node.get("/spec").clone());
    change.before.as_ref().map(parts) != change.after.as_ref().map(parts)
}

/// Returns whether a node misses a pod of a set, or has one that must go. One that may stay though no
/// other would come is not looked at until something else changes.
fn is_wrong(set: &Object, node: &Object, view: &View) -> bool {
    let has_pod = || {
        let mut pods = view.controlled(&PODS, set.uid());
        pods.any(|pod| node_of(pod) == Some(node.name()))
    };
    match fit(set, node) {
        Fit::Run => !has_pod(),
        Fit::Keep => false,
        Fit::None => has_pod(),
    }
}

/// A set, the nodes, and its pods on these.
struct Sync<'s> {
    owner: Owner<'s>,
    backoffs: &'s Backoffs,
    fits: Vec<(&'s str, Fit)>,
    pods: OnNodes,
    /// The hash of the newest template.
    hash: String,
    now: Timestamp,
}

/// Pods to be created and deleted.
#[derive(Default)]
struct Work {
    /// The nodes to create pods for.
    create: Vec<String>,
    delete: Vec<Arc<Object>>,
    /// Events, and when to look again.
    plan: Plan,
}

impl Sync<'_> {
    fn plan(&self) -> Plan {
        let mut work = self.manage();
        if work.create.is_empty() && work.delete.is_empty() && self.is_rolling() {
            let plan = work.plan;
            work = self.roll();
            work.plan = plan;
        }
        self.write_status().and(self.perform(work)).and(self.look_again())
    }

    /// Creates and deletes pods.
    fn perform(&self, work: Work) -> Plan {
        let nodes = work.create.iter().take(BURST);
        let pods = nodes.map(|node| new_pod(&self.owner, &self.hash, node));
        let requests = pods.map(|pod| create_pod(&self.owner, &pod)).collect();
        let deleted = work.delete.into_iter().take(BURST).collect();
        let deletions = delete_pods(&self.owner, deleted, |_, failure| fail(failure));
        let created = create_pods(&self.owner, requests, |_, failure| deletions.and(fail(failure)));
        work.plan.and(created)
    }

    fn min_ready_seconds(&self) -> i64 {
        self.owner.object.int("/spec/minReadySeconds").unwrap_or_default()
    }

    /// Looks again when the next pod that is ready is available.
    fn look_again(&self) -> Plan {
        let wanted = self.min_ready_seconds();
        let pods = self.pods.values().flatten();
        let times = pods.filter_map(|pod| time_to_available(pod, wanted, self.now));
        let next: Option<Duration> = times.filter(|time| !time.is_zero()).min();
        next.into_iter().fold(Plan::nothing(), Plan::again_after)
    }

    /// Deletes old revisions beyond the limit, except those that pods are of.
    fn clean_up(&self, history: &History) -> Plan {
        let is_newest = |revision: &Object| hash_of(revision) == self.hash;
        let old = history.unused(is_newest).len();
        let surplus = old.saturating_sub(revisions::limit(self.owner.object));
        let pods = self.pods.values().flatten();
        let used: BTreeSet<&str> = pods.map(|pod| hash_of(pod)).collect();
        let unused =
            history.unused(|revision| is_newest(revision) || used.contains(hash_of(revision)));
        revisions::delete_oldest(&unused, surplus)
    }
}

/// Returns the hash of the template of a pod or a revision.
fn hash_of(object: &Object) -> &str {
    object.labels().get(REVISION).and_then(Value::as_str).unwrap_or_default()
}
