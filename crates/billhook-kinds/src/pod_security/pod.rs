//! A pod as the rules see it, and how findings name its containers.

use std::collections::BTreeSet;

use billhook_apimachinery::print::quote;
use serde_json::Value;

use crate::values::{items, text, value_at};

/// A reason to refuse a pod, and its details.
pub(super) type Finding = (String, String);

/// A pod, or the template of pods.
pub(super) struct Pod<'p> {
    pub(super) metadata: &'p Value,
    pub(super) spec: &'p Value,
    /// The minor version of Kubernetes whose rules apply.
    pub(super) minor: u32,
}

impl<'p> Pod<'p> {
    /// Whether the pod is one of Windows, which rules of Linux do not touch.
    pub(super) fn is_of_windows(&self) -> bool {
        self.minor >= 25 && text(self.spec, "/os/name") == "windows"
    }

    pub(super) fn containers(&self) -> impl Iterator<Item = &'p Value> {
        let lists = ["/initContainers", "/containers", "/ephemeralContainers"];
        let spec = self.spec;
        lists.into_iter().flat_map(move |place| items(spec, place))
    }

    /// The names of the containers that a condition is true of.
    pub(super) fn named(&self, is_bad: impl Fn(&Value) -> bool) -> Vec<&'p str> {
        let found = self.containers().filter(|container| is_bad(container));
        found.map(|container| text(container, "/name")).collect()
    }

    /// The pod and the containers that set something, as errors name them; empty if none does.
    pub(super) fn setters(&self, is_bad: impl Fn(&Value) -> bool) -> String {
        let containers = self.named(&is_bad);
        let pod = is_bad(self.spec).then(|| "pod".to_owned());
        let containers = (!containers.is_empty()).then(|| container_names(&containers));
        pod.into_iter().chain(containers).collect::<Vec<_>>().join(" and ")
    }

    /// The values that the pod or its containers have at a place and that are not allowed.
    pub(super) fn values(&self, place: &str, is_bad: impl Fn(&str) -> bool) -> BTreeSet<&'p str> {
        let holders = [self.spec].into_iter().chain(self.containers());
        let values = holders.filter_map(|holder| value_at(holder, place)?.as_str());
        values.filter(|value| is_bad(value)).collect()
    }
}

pub(super) fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}

pub(super) fn counted<'w>(one: &'w str, several: &'w str, count: usize) -> &'w str {
    if count == 1 { one } else { several }
}

pub(super) fn container_names(names: &[&str]) -> String {
    let names_quoted = quoted(names.iter().copied());
    format!("{} {names_quoted}", counted("container", "containers", names.len()))
}

/// The finding about the containers that a condition is true of.
pub(super) fn containers_must(
    pod: &Pod<'_>,
    is_bad: impl Fn(&Value) -> bool,
    reason: &str,
    rule: &str,
) -> Option<Finding> {
    let bad = pod.named(is_bad);
    (!bad.is_empty()).then(|| (reason.to_owned(), format!("{} {rule}", container_names(&bad))))
}
