//! Which of the nodes that admit a pod it gets (CP-100).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::spreading::Spreading;
use super::terms::Term;
use super::usage::Usage;
use crate::object::Object;
use crate::resource::NODES;
use crate::scheduling::{all_untolerated, preference};
use crate::view::View;

/// The wishes of a pod that keep it from no node.
#[derive(Debug)]
pub(super) struct Preferences<'p> {
    pod: &'p Object,
    affinity: Vec<(Term, Weights)>,
    spreading: Spreading,
}

/// The weights of the pods in each domain: a value that the label of a term has on nodes.
type Weights = BTreeMap<String, i64>;

/// The place of a node among others; the first one is taken.
type Rank<'n> = (Reverse<i64>, usize, i64, i64, &'n str);

impl<'p> Preferences<'p> {
    pub(super) fn of(pod: &'p Object, view: &View) -> Self {
        let near = Term::preferred(pod, "podAffinity");
        let far = Term::preferred(pod, "podAntiAffinity").into_iter();
        let far = far.map(|(term, weight)| (term, weight.saturating_neg()));
        let weighed = near.into_iter().chain(far).map(|(term, weight)| {
            let mut weights = Weights::new();
            for other in term.candidates(view).filter(|it| term.is_about(it, view)) {
                let node = view.get(&NODES, other.text("/spec/nodeName"));
                let Some(domain) = node.and_then(|node| term.domain(node)) else { continue };
                let sum = weights.entry(domain.to_owned()).or_default();
                *sum = sum.saturating_add(weight);
            }
            (term, weights)
        });
        let affinity = weighed.collect();
        Preferences { pod, affinity, spreading: Spreading::preferred(pod, view) }
    }

    /// Returns the place of a node: by the weights of what the pod prefers, its taints, how the pod is spread,
    /// how many pods it has, and its name.
    pub(super) fn rank<'n>(&self, node: &'n Object, usage: &Usage) -> Rank<'n> {
        let near = self.affinity.iter().filter_map(|(term, weights)| {
            term.domain(node).and_then(|domain| weights.get(domain)).copied()
        });
        let own = preference(self.pod.get("/spec"), node);
        let weight = near.fold(own, i64::saturating_add);
        let tolerations = self.pod.list("/spec/tolerations");
        let tainted = all_untolerated(node, &["PreferNoSchedule"], tolerations).count();
        let neighbors = self.spreading.neighbors(node);
        (Reverse(weight), tainted, neighbors, usage.pods_on(node), node.name())
    }
}
