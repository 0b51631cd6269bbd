//! Which pods go first when there are too many (CP-42).

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::clock::Timestamp;
use crate::object::Object;
use crate::ownership::Owner;
use crate::pods::{deletion_rank, is_active, ready_since};
use crate::resource::PODS;
use crate::view::View;

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Sorts pods: the first ones are to be deleted first.
pub(super) fn in_deletion_order(
    owner: &Owner<'_>,
    view: &View,
    mut pods: Vec<Arc<Object>>,
    now: Timestamp,
) -> Vec<Arc<Object>> {
    let on_nodes = related_pods(owner, view);
    pods.sort_by(|left, right| {
        let place = |pod: &Object| place(pod, &on_nodes);
        let by_age = || by_age(left, right, now);
        place(left).cmp(&place(right)).then_with(by_age)
    });
    pods
}

/// The order before times: how far it has come, the cost, how many pods are on the node.
fn place(
    pod: &Object,
    on_nodes: &BTreeMap<&str, usize>,
) -> ((bool, u8, bool), i32, Reverse<usize>) {
    let cost = pod.annotation(DELETION_COST).and_then(|cost| cost.parse().ok());
    let beside = on_nodes.get(pod.text("/spec/nodeName")).copied().unwrap_or_default();
    (deletion_rank(pod), cost.unwrap_or_default(), Reverse(beside))
}

/// Compares pods by how long they are ready, their restarts, and how old they are.
fn by_age(left: &Object, right: &Object, now: Timestamp) -> Ordering {
    by_time(left, right, ready_since, now)
        .then_with(|| restarts(right).cmp(&restarts(left)))
        .then_with(|| by_time(left, right, |pod| pod.time("/metadata/creationTimestamp"), now))
}

/// Compares times: the later one goes first. Only their magnitude counts; then the UID decides.
fn by_time(
    left: &Object,
    right: &Object,
    time: impl Fn(&Object) -> Option<Timestamp>,
    now: Timestamp,
) -> Ordering {
    let times = time(left).zip(time(right)).filter(|(left, right)| left != right);
    let Some((of_left, of_right)) = times else { return Ordering::Equal };
    let rank = |time: Timestamp| now.since(time).as_nanos().checked_ilog2();
    rank(of_left).cmp(&rank(of_right)).then_with(|| left.uid().cmp(right.uid()))
}

fn restarts(pod: &Object) -> i64 {
    let statuses = pod.list("/status/containerStatuses").iter();
    let counts = statuses.filter_map(|it| it.get("restartCount").and_then(Value::as_i64));
    counts.max().unwrap_or_default()
}

/// Counts the active pods on each node of all sets that have the same controller.
fn related_pods<'v>(owner: &Owner<'v>, view: &'v View) -> BTreeMap<&'v str, usize> {
    let set = owner.object;
    let mut uids = vec![set.uid()];
    if set.controller().is_some() {
        let sets = view.controlled(owner.resource, set.controller_uid());
        uids = sets.map(|set| set.uid()).collect();
    }
    let mut on_nodes = BTreeMap::new();
    for pod in uids.into_iter().flat_map(|uid| view.controlled(&PODS, uid)) {
        if is_active(pod) {
            let count: &mut usize = on_nodes.entry(pod.text("/spec/nodeName")).or_default();
            *count = count.saturating_add(1);
        }
    }
    on_nodes
}
