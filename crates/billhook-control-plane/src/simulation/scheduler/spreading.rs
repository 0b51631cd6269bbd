//! Constraints on how evenly pods are spread over the domains of nodes (CP-100).

use std::collections::BTreeMap;

use billhook_apimachinery::record::text;
use serde_json::Value;

use super::terms::is_on_node;
use crate::object::Object;
use crate::ownership::read_selector;
use crate::resource::{NODES, PODS};
use crate::scheduling::{selects, untolerated};
use crate::view::View;

/// The constraints of a pod.
#[derive(Debug)]
pub(super) struct Spreading {
    constraints: Vec<Constraint>,
}

/// A constraint, and how many pods are where.
#[derive(Debug)]
struct Constraint {
    label: String,
    max_skew: i64,
    /// How many pods there are in each domain: a value that the label has on nodes.
    counts: BTreeMap<String, i64>,
    /// How many there are in the domain with the fewest.
    fewest: i64,
    /// Whether the pod itself counts.
    counts_itself: bool,
}

impl Spreading {
    /// Reads the constraints that keep a pod from nodes.
    pub(super) fn of(pod: &Object, view: &View) -> Self {
        Spreading::read(pod, view, "DoNotSchedule")
    }

    /// Reads the constraints that are only preferred.
    pub(super) fn preferred(pod: &Object, view: &View) -> Self {
        Spreading::read(pod, view, "ScheduleAnyway")
    }

    fn read(pod: &Object, view: &View, when: &str) -> Self {
        let all = pod.list("/spec/topologySpreadConstraints").iter();
        let all: Vec<&Value> = all.filter(|it| text(it, "whenUnsatisfiable") == when).collect();
        let has_labels = |node: &&Object| {
            all.iter().all(|it| node.labels().contains_key(text(it, "topologyKey")))
        };
        let read = |constraint: &&Value| {
            let nodes = view.all(&NODES).map(|node| &**node).filter(has_labels);
            let nodes = nodes.filter(|node| is_eligible(constraint, pod, node));
            Constraint::read(constraint, pod, view, nodes)
        };
        Spreading { constraints: all.iter().map(read).collect() }
    }

    /// Returns how many pods there are in the domains of a node that a pod prefers to be spread over: as many
    /// as can be where a node has no domain.
    pub(super) fn neighbors(&self, node: &Object) -> i64 {
        let counts = self.constraints.iter().map(|constraint| constraint.count(node));
        counts.fold(0, |sum, count| sum.saturating_add(count.unwrap_or(i64::MAX)))
    }

    /// Returns why a node is not for the pod; `None` if it is.
    pub(super) fn conflict(&self, node: &Object) -> Option<&'static str> {
        self.constraints.iter().find_map(|constraint| constraint.conflict(node))
    }
}

impl Constraint {
    fn read<'v>(
        constraint: &Value,
        pod: &Object,
        view: &View,
        nodes: impl Iterator<Item = &'v Object>,
    ) -> Self {
        let label = text(constraint, "topologyKey").to_owned();
        let value = |node: &'v Object| Some((node.name(), node.labels().get(&label)?.as_str()?));
        let domains: BTreeMap<&str, &str> = nodes.filter_map(value).collect();
        let mut counts: BTreeMap<String, i64> =
            domains.values().map(|domain| ((*domain).to_owned(), 0)).collect();
        let selector = read_selector(constraint.get("labelSelector").unwrap_or(&Value::Null));
        let is_counted = |other: &Object| {
            is_on_node(other) && !other.is_deleting() && selector.matches(other.labels())
        };
        for other in view.list(&PODS, pod.namespace()).filter(|other| is_counted(other)) {
            let domain = domains.get(other.text("/spec/nodeName"));
            if let Some(count) = domain.and_then(|domain| counts.get_mut(*domain)) {
                *count = count.saturating_add(1);
            }
        }
        let int = |name: &str| constraint.get(name).and_then(Value::as_i64).unwrap_or(1);
        let wanted = usize::try_from(int("minDomains")).unwrap_or_default();
        let fewest = match counts.len() < wanted {
            true => 0,
            false => counts.values().copied().min().unwrap_or_default(),
        };
        let counts_itself = selector.matches(pod.labels());
        Constraint { max_skew: int("maxSkew"), label, counts, fewest, counts_itself }
    }

    /// Returns how many pods there are in the domain of a node, if it has one.
    fn count(&self, node: &Object) -> Option<i64> {
        let domain = node.labels().get(&self.label)?.as_str()?;
        Some(self.counts.get(domain).copied().unwrap_or_default())
    }

    fn conflict(&self, node: &Object) -> Option<&'static str> {
        let Some(count) = self.count(node) else {
            return Some(
                "node(s) didn't match pod topology spread constraints (missing required label)",
            );
        };
        let skew = count.saturating_add(self.counts_itself.into()).saturating_sub(self.fewest);
        (skew > self.max_skew).then_some("node(s) didn't match pod topology spread constraints")
    }
}

/// Returns whether a node counts for a constraint.
fn is_eligible(constraint: &Value, pod: &Object, node: &Object) -> bool {
    let is_selected =
        text(constraint, "nodeAffinityPolicy") == "Ignore" || selects(pod.get("/spec"), node);
    let tolerations = pod.list("/spec/tolerations");
    let is_tolerated = text(constraint, "nodeTaintsPolicy") != "Honor"
        || untolerated(node, &["NoSchedule", "NoExecute"], tolerations).is_none();
    is_selected && is_tolerated
}
