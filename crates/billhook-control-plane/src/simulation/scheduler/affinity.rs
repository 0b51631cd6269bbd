//! Pods that a pod wants beside it, or far from it (CP-100).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::terms::Term;
use super::usage::Usage;
use crate::object::Object;
use crate::resource::NODES;
use crate::view::View;

/// The values that a label has on nodes.
type Domains = BTreeSet<String>;

/// The wishes of a pod about other pods, and those of others about it.
#[derive(Debug)]
pub(super) struct Affinity {
    near: Vec<(Term, Domains)>,
    /// Whether the pod is the first one of those that want to be near each other.
    is_first: bool,
    far: Vec<(Term, Domains)>,
    /// The values of labels on the nodes from which others keep it.
    repelled: BTreeMap<String, Domains>,
}

impl Affinity {
    pub(super) fn of(pod: &Object, view: &View, usage: &Usage) -> Self {
        let near = Term::required(pod, "podAffinity");
        let are_all_about = |it: &Object| near.iter().all(|term| term.is_about(it, view));
        let attracting: Vec<_> = match near.first() {
            Some(first) => first.candidates(view).filter(|it| are_all_about(it)).collect(),
            None => Vec::new(),
        };
        let is_first = attracting.is_empty() && are_all_about(pod);
        let far = Term::required(pod, "podAntiAffinity").into_iter().map(|term| {
            let pods = term.candidates(view).filter(|it| term.is_about(it, view));
            let domains = domains(&term, pods, view);
            (term, domains)
        });
        let mut repelled = BTreeMap::<String, Domains>::new();
        usage.each_repelling(|node, term| {
            if term.is_about(pod, view)
                && let Some(domain) = view.get(&NODES, node).and_then(|node| term.domain(node))
            {
                repelled.entry(term.label.clone()).or_default().insert(domain.to_owned());
            }
        });
        let far = far.collect();
        let near = near.into_iter().map(|term| {
            let domains = domains(&term, attracting.iter().copied(), view);
            (term, domains)
        });
        Affinity { near: near.collect(), is_first, far, repelled }
    }

    /// Returns why a node is not for the pod; `None` if it is.
    pub(super) fn conflict(&self, node: &Object) -> Option<&'static str> {
        let is_in = |(term, domains): &(Term, Domains)| {
            term.domain(node).is_some_and(|domain| domains.contains(domain))
        };
        let may_begin = |(term, _): &(Term, Domains)| self.is_first && term.domain(node).is_some();
        if !self.near.iter().all(|term| is_in(term) || may_begin(term)) {
            return Some("node(s) didn't match pod affinity rules");
        }
        if self.far.iter().any(is_in) {
            return Some("node(s) didn't match pod anti-affinity rules");
        }
        let is_repelled = self.repelled.iter().any(|(label, domains)| {
            let domain = node.labels().get(label).and_then(Value::as_str);
            domain.is_some_and(|domain| domains.contains(domain))
        });
        is_repelled.then_some("node(s) didn't satisfy existing pods anti-affinity rules")
    }
}

/// Returns the values of the label of a term on the nodes of pods.
fn domains<'v>(term: &Term, pods: impl Iterator<Item = &'v Arc<Object>>, view: &View) -> Domains {
    let nodes: BTreeSet<&str> = pods.map(|pod| pod.text("/spec/nodeName")).collect();
    let domain = |node: &str| Some(term.domain(view.get(&NODES, node)?)?.to_owned());
    nodes.into_iter().filter_map(domain).collect()
}
