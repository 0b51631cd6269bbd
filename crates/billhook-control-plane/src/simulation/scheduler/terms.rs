//! Terms of affinity between pods.

use std::collections::BTreeSet;
use std::sync::Arc;

use billhook_apimachinery::label_selector::Selector;
use billhook_apimachinery::record::text;
use serde_json::Value;

use crate::object::Object;
use crate::ownership::read_selector;
use crate::pods::is_terminal;
use crate::resource::{NAMESPACES, PODS};
use crate::view::View;

/// A term of affinity: some pods, and the label whose value nodes share that are near each other.
#[derive(Debug)]
pub(super) struct Term {
    selector: Selector,
    namespaces: BTreeSet<String>,
    /// Selects other namespaces.
    namespace_selector: Option<Selector>,
    pub(super) label: String,
}

impl Term {
    /// Reads the terms that a pod requires, of `podAffinity` or `podAntiAffinity`.
    pub(super) fn required(pod: &Object, affinity: &str) -> Vec<Self> {
        let terms =
            format!("/spec/affinity/{affinity}/requiredDuringSchedulingIgnoredDuringExecution");
        pod.list(&terms).iter().map(|term| Term::read(term, pod.namespace())).collect()
    }

    /// Reads the terms that a pod prefers, of `podAffinity` or `podAntiAffinity`, with their weights.
    pub(super) fn preferred(pod: &Object, affinity: &str) -> Vec<(Self, i64)> {
        let terms =
            format!("/spec/affinity/{affinity}/preferredDuringSchedulingIgnoredDuringExecution");
        let read = |weighted: &Value| {
            let term = Term::read(weighted.get("podAffinityTerm")?, pod.namespace());
            Some((term, weighted.get("weight")?.as_i64()?))
        };
        pod.list(&terms).iter().filter_map(read).collect()
    }

    fn read(term: &Value, own_namespace: &str) -> Self {
        let named = term.get("namespaces").and_then(Value::as_array).into_iter().flatten();
        let named = named.filter_map(|name| name.as_str().map(str::to_owned));
        let mut namespaces: BTreeSet<String> = named.collect();
        let namespace_selector = term.get("namespaceSelector").map(read_selector);
        if namespaces.is_empty() && namespace_selector.is_none() {
            namespaces.insert(own_namespace.to_owned());
        }
        Term {
            selector: read_selector(term.get("labelSelector").unwrap_or(&Value::Null)),
            namespaces,
            namespace_selector,
            label: text(term, "topologyKey").to_owned(),
        }
    }

    pub(super) fn is_about(&self, pod: &Object, view: &View) -> bool {
        let is_in = self.namespaces.contains(pod.namespace())
            || self.namespace_selector.as_ref().is_some_and(|selector| {
                let namespace = view.get(&NAMESPACES, pod.namespace());
                namespace.is_some_and(|namespace| selector.matches(namespace.labels()))
            });
        is_in && self.selector.matches(pod.labels())
    }

    /// Returns the pods on nodes of all namespaces that it is about.
    pub(super) fn candidates<'v>(&self, view: &'v View) -> impl Iterator<Item = &'v Arc<Object>> {
        let all = view.all(&NAMESPACES).filter(|namespace| {
            let selector = self.namespace_selector.as_ref();
            selector.is_some_and(|selector| selector.matches(namespace.labels()))
        });
        let mut names: BTreeSet<String> = all.map(|it| it.name().to_owned()).collect();
        names.extend(self.namespaces.iter().cloned());
        let pods = names.into_iter().flat_map(|name| view.list(&PODS, &name).collect::<Vec<_>>());
        pods.filter(|pod| is_on_node(pod))
    }

    pub(super) fn domain<'n>(&self, node: &'n Object) -> Option<&'n str> {
        node.labels().get(&self.label)?.as_str()
    }
}

/// Returns whether a pod counts on its node: it is bound to one, and has not ended.
pub(super) fn is_on_node(pod: &Object) -> bool {
    !pod.text("/spec/nodeName").is_empty() && !is_terminal(pod)
}
