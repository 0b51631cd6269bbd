//! StatefulSets keep pods with names and claims of their own, one after the other (CP-50 to CP-57).

mod claims;
mod identity;
mod pods;
mod status;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::identity::{Ordinal, ordinal_of};
use self::pods::revision_of;
use super::revisions::{self, History};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::ownership::{Owner, selector_of};
use crate::plan::Plan;
use crate::resource::{CONTROLLER_REVISIONS, PODS, Resource, STATEFUL_SETS};
use crate::view::{Change, View};

/// The label of a revision that has its hash.
const HASH: &str = "controller.kubernetes.io/hash";

#[derive(Debug)]
pub(crate) struct StatefulSets;

impl Controller for StatefulSets {
    fn name(&self) -> &'static str {
        "statefulset-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&STATEFUL_SETS, &PODS, &CONTROLLER_REVISIONS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        revisions::add_concerned(change, &STATEFUL_SETS, view, keys);
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(set) = view.get(&STATEFUL_SETS, key) else { return Plan::nothing() };
        let owner = Owner { resource: &STATEFUL_SETS, object: set };
        let is_member = |pod: &Object| ordinal_of(pod.name(), set.name()).is_some();
        let pods = owner.claim(view, &PODS, &selector_of(set), is_member);
        let mut history = History::claim(&owner, view);
        let claimed = std::mem::take(&mut history.plan).and(pods.plan);
        let update = match history.newest(&owner, HASH) {
            Ok(update) => update,
            Err(plan) => return claimed.and(plan),
        };
        let current = history.get(set.text("/status/currentRevision")).unwrap_or(update);
        let start = set.int("/spec/ordinals/start").unwrap_or_default();
        let end = start.saturating_add(set.int("/spec/replicas").unwrap_or(1));
        let by_ordinal = |pod: Arc<Object>| Some((ordinal_of(pod.name(), set.name())?, pod));
        let pods = pods.objects.into_iter().filter_map(by_ordinal).collect();
        let sync = Sync { owner, view, pods, start, end, current, update, now };
        claimed.and(sync.plan()).and(sync.clean_up(&history))
    }
}

/// A set, its pods and its revisions.
struct Sync<'s> {
    owner: Owner<'s>,
    view: &'s View,
    pods: BTreeMap<Ordinal, Arc<Object>>,
    /// The first ordinal, and the one after the last.
    start: Ordinal,
    end: Ordinal,
    current: &'s Arc<Object>,
    update: &'s Arc<Object>,
    now: Timestamp,
}

impl Sync<'_> {
    fn plan(&self) -> Plan {
        let written = self.write_status();
        match self.owner.object.is_deleting() {
            true => written,
            false => written.and(self.act()),
        }
    }

    /// Deletes revisions that are not in use, beyond the limit.
    fn clean_up(&self, history: &History) -> Plan {
        let set = self.owner.object;
        let mut used: BTreeSet<&str> = self.pods.values().map(|pod| revision_of(pod)).collect();
        used.extend([self.current.name(), self.update.name()]);
        let unused = history.unused(|revision| used.contains(revision.name()));
        let surplus = unused.len().saturating_sub(revisions::limit(set));
        revisions::delete_oldest(&unused, surplus)
    }
}
