//! The use of nodes by pods, counted with each change, so that scheduling a pod does not look at all
//! others.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use billhook_apimachinery::Quantity;
use billhook_kinds::pod_requests;

use super::ports::{HostPort, host_ports};
use super::terms::{Term, is_on_node};
use crate::clock::Timestamp;
use crate::controller::Key;
use crate::object::Object;
use crate::view::Change;

/// The amounts and ports that are used on each node, and what else the pods there want.
#[derive(Debug, Default)]
pub(super) struct Usage(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    nodes: BTreeMap<String, Used>,
    /// The nodes of pods that want to be far from others, and these, by the keys of the pods.
    repelling: BTreeMap<Key, (String, Vec<Term>)>,
    /// The pods for which others make room, by their keys.
    nominated: BTreeMap<Key, Arc<Object>>,
    /// The pods that wait for others to be on nodes.
    waiting: BTreeSet<Key>,
    /// The pods that no node admits.
    refused: BTreeMap<Key, Refused>,
}

/// The last refusal of a pod that no node admits.
#[derive(Clone, Copy, Debug)]
struct Refused {
    last: Timestamp,
    /// How often it was tried again though nothing had changed.
    tries: usize,
}

/// How many seconds a pod that no node admits waits each time until it is tried again though nothing has
/// changed; the last ones from then on (CP-101).
const RETRIES: [u64; 6] = [1, 2, 4, 8, 10, 300];

/// The use of one node.
#[derive(Clone, Debug, Default)]
struct Used {
    pods: i64,
    amounts: BTreeMap<String, Quantity>,
    ports: BTreeMap<HostPort, usize>,
}

impl Usage {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a change of a pod. Returns whether a node has more room than before.
    pub(super) fn record(&self, change: &Change) -> bool {
        let mut counted = self.counted();
        counted.record_nomination(change);
        if let Some(pod) = change.object()
            && change.after.as_ref().is_none_or(|pod| is_on_node(pod))
        {
            counted.refused.remove(pod.key());
        }
        let before = change.before.as_deref().filter(|pod| is_on_node(pod));
        let after = change.after.as_deref().filter(|pod| is_on_node(pod));
        if before.map(|pod| pod.get("/spec")) == after.map(|pod| pod.get("/spec")) {
            return false;
        }
        if let Some(pod) = before {
            counted.remove(pod);
        }
        if let Some(pod) = after {
            counted.add(pod);
        }
        before.is_some()
    }

    /// Calls a function with each pod, by its node, that wants to be far from others.
    pub(super) fn each_repelling(&self, mut call: impl FnMut(&str, &Term)) {
        for (node, terms) in self.counted().repelling.values() {
            terms.iter().for_each(|term| call(node, term));
        }
    }

    /// Returns whether it is to be said that no node admits a pod, as that is news or the time has come, and
    /// how long the pod waits until it is tried again.
    pub(super) fn next_try(
        &self,
        pod: &Object,
        is_known: bool,
        now: Timestamp,
    ) -> (bool, Duration) {
        let mut counted = self.counted();
        let known = counted.refused.get(pod.key()).copied().filter(|_| is_known);
        let left = known.map_or(Duration::ZERO, |it| it.last.plus(delay(it.tries)).since(now));
        if !left.is_zero() {
            return (false, left);
        }
        let tries = known.map_or(0, |known| known.tries.saturating_add(1));
        counted.refused.insert(Arc::clone(pod.key()), Refused { last: now, tries });
        (true, delay(tries))
    }

    /// Lets a pod wait until others are on nodes.
    pub(super) fn wait(&self, pod: &Object) {
        self.counted().waiting.insert(Arc::clone(pod.key()));
    }

    /// Returns the pods that wait for others, once.
    pub(super) fn take_waiting(&self) -> BTreeSet<Key> {
        std::mem::take(&mut self.counted().waiting)
    }

    /// Returns what keeps a pod from a node, in the words of the scheduler; empty if nothing does. Room
    /// that others make there for a pod of at least its priority is that one's.
    pub(super) fn shortages(&self, pod: &Object, node: &Object) -> Vec<String> {
        let counted = self.counted();
        let comes_first = |other: &&Arc<Object>| {
            other.text("/status/nominatedNodeName") == node.name()
                && other.uid() != pod.uid()
                && priority(other) >= priority(pod)
        };
        let mut first = counted.nominated.values().filter(comes_first).peekable();
        let (used, unused) = (counted.nodes.get(node.name()), Used::default());
        if first.peek().is_none() {
            return used.unwrap_or(&unused).shortages(pod, node);
        }
        let mut used = used.cloned().unwrap_or_default();
        first.for_each(|other| used.add(other));
        used.shortages(pod, node)
    }

    /// Returns how many pods there are on a node.
    pub(super) fn pods_on(&self, node: &Object) -> i64 {
        self.counted().nodes.get(node.name()).map_or(0, |used| used.pods)
    }

    /// Returns those of some pods on a node that have to go so that nothing keeps a pod from it, where the first
    /// ones stay if they can; `None` if it had no room without all of them.
    pub(super) fn without<'v>(
        &self,
        pod: &Object,
        node: &Object,
        mut others: Vec<&'v Arc<Object>>,
    ) -> Option<Vec<&'v Arc<Object>>> {
        let mut used = self.counted().nodes.get(node.name()).cloned().unwrap_or_default();
        for other in &others {
            used.remove(other);
        }
        if !used.shortages(pod, node).is_empty() {
            return None;
        }
        others.retain(|other| {
            used.add(other);
            let has_to_go = !used.shortages(pod, node).is_empty();
            if has_to_go {
                used.remove(other);
            }
            has_to_go
        });
        Some(others)
    }
}

/// Returns how long a pod waits that was tried again so often.
fn delay(tries: usize) -> Duration {
    let seconds = RETRIES.get(tries).or(RETRIES.last());
    Duration::from_secs(seconds.copied().unwrap_or_default())
}

impl Counted {
    fn record_nomination(&mut self, change: &Change) {
        let Some(key) = change.object().map(|pod| pod.key()) else { return };
        let waits = |pod: &&Arc<Object>| {
            !pod.text("/status/nominatedNodeName").is_empty()
                && pod.text("/spec/nodeName").is_empty()
                && !pod.is_deleting()
        };
        match change.after.as_ref().filter(waits) {
            Some(pod) => drop(self.nominated.insert(Arc::clone(key), Arc::clone(pod))),
            None => drop(self.nominated.remove(key)),
        }
    }

    /// Counts a pod on its node.
    fn add(&mut self, pod: &Object) {
        let node = pod.text("/spec/nodeName");
        self.nodes.entry(node.to_owned()).or_default().add(pod);
        let terms = Term::required(pod, "podAntiAffinity");
        if !terms.is_empty() {
            self.repelling.insert(Arc::clone(pod.key()), (node.to_owned(), terms));
        }
    }

    /// Counts a pod on its node no more.
    fn remove(&mut self, pod: &Object) {
        let node = pod.text("/spec/nodeName");
        let left = self.nodes.get_mut(node).is_some_and(|used| used.remove(pod));
        if !left {
            self.nodes.remove(node);
        }
        self.repelling.remove(pod.key());
    }
}

impl Used {
    fn shortages(&self, pod: &Object, node: &Object) -> Vec<String> {
        let wanted = host_ports(pod);
        if wanted.iter().any(|port| self.is_taken(port)) {
            return vec!["node(s) didn't have free ports for the requested pod ports".to_owned()];
        }
        // A node that does not say how much room it has is not limited.
        if !node.get("/status/allocatable").is_object() {
            return Vec::new();
        }
        let room = |name: &str| {
            let text = node.get("/status/allocatable").get(name).and_then(|it| it.as_str());
            text.and_then(|text| text.parse().ok()).unwrap_or_else(|| Quantity::from(0))
        };
        let mut shortages = Vec::new();
        if Quantity::from(self.pods.saturating_add(1)) > room("pods") {
            shortages.push("Too many pods".to_owned());
        }
        for (name, amount) in pod_requests(pod.get("/spec")) {
            let sum = self.amounts.get(&name).map_or(Some(amount.clone()), |it| it.plus(&amount));
            if amount.signum() > 0 && sum.is_none_or(|sum| sum > room(&name)) {
                shortages.push(format!("Insufficient {name}"));
            }
        }
        shortages
    }

    /// Returns whether another pod has a port, at the same address or one of them at all addresses.
    fn is_taken(&self, port: &HostPort) -> bool {
        let everywhere = port.everywhere();
        match *port == everywhere {
            true => self.ports.range(everywhere..).next().is_some_and(|(it, _)| it.is_like(port)),
            false => self.ports.contains_key(port) || self.ports.contains_key(&everywhere),
        }
    }

    fn add(&mut self, pod: &Object) {
        self.pods = self.pods.saturating_add(1);
        for (name, amount) in pod_requests(pod.get("/spec")) {
            self.change(name, &amount);
        }
        for port in host_ports(pod) {
            let count = self.ports.entry(port).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Returns whether other pods are left.
    fn remove(&mut self, pod: &Object) -> bool {
        self.pods = self.pods.saturating_sub(1);
        for (name, amount) in pod_requests(pod.get("/spec")) {
            self.change(name, &amount.negated());
        }
        for port in host_ports(pod) {
            if let Entry::Occupied(mut count) = self.ports.entry(port) {
                *count.get_mut() = count.get().saturating_sub(1);
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
        self.pods > 0
    }

    fn change(&mut self, name: String, by: &Quantity) {
        let amount = self.amounts.entry(name).or_insert_with(|| Quantity::from(0));
        if let Some(sum) = amount.plus(by) {
            *amount = sum;
        }
    }
}

/// Returns the priority of a pod.
pub(super) fn priority(pod: &Object) -> i64 {
    pod.int("/spec/priority").unwrap_or_default()
}
