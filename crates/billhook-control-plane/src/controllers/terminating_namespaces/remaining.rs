//! The content of a namespace, and what remains of it after it was deleted.

use std::collections::BTreeMap;
use std::time::Duration;

use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::document::{list, text_at};
use crate::object::Object;
use crate::pods::is_terminal;
use crate::request::Request;
use crate::resource::PODS;
use crate::view::View;

/// The objects of a resource in a namespace.
#[derive(Debug)]
pub(super) struct Content {
    namespace: String,
    api_version: String,
    plural: String,
    /// The plural name and the group of the resource, as conditions name it: `pods.`.
    resource: String,
    /// How long the objects may still take to go by themselves.
    estimate: Duration,
}

/// Returns what may be in a namespace: the objects of all its resources that can be deleted, as documents
/// of discovery name them, each in the first version that has it.
pub(super) fn contents(namespace: &str, documents: &[Value]) -> Vec<Content> {
    let mut all: Vec<Content> = Vec::new();
    for group in documents.iter().flat_map(|document| list(document, "/items")) {
        let (name, begin) = (text_at(group, "/metadata/name"), all.len());
        for version in list(group, "/versions") {
            let api_version = match (name, text(version, "version")) {
                ("", version) => version.to_owned(),
                (group, version) => format!("{group}/{version}"),
            };
            let found = list(version, "/resources").iter().filter(|it| is_deletable(it));
            for plural in found.map(|resource| text(resource, "resource")) {
                let resource = format!("{plural}.{name}");
                if all.iter().skip(begin).any(|known| known.resource == resource) {
                    continue;
                }
                all.push(Content {
                    namespace: namespace.to_owned(),
                    api_version: api_version.clone(),
                    plural: plural.to_owned(),
                    resource,
                    estimate: Duration::ZERO,
                });
            }
        }
    }
    all
}

fn is_deletable(resource: &Value) -> bool {
    let verbs = list(resource, "/verbs");
    text(resource, "scope") == "Namespaced" && verbs.iter().any(|verb| verb == "delete")
}

/// Returns how long the pods of a namespace may still take.
pub(super) fn longest_grace(
    view: &View,
    namespace: &str,
    deleted: Timestamp,
    now: Timestamp,
) -> Duration {
    let pods = view.list(&PODS, namespace);
    pods.map(|pod| grace(pod, deleted, now)).max().unwrap_or_default()
}

/// Returns how long a pod may still take.
fn grace(pod: &Object, deleted: Timestamp, now: Timestamp) -> Duration {
    let seconds = pod.int("/spec/terminationGracePeriodSeconds").filter(|_| !is_terminal(pod));
    let grace = Duration::from_secs(seconds.and_then(|it| it.try_into().ok()).unwrap_or(0));
    if deleted.plus(grace).since(now).is_zero() { Duration::ZERO } else { grace }
}

impl Content {
    pub(super) fn is_of_pods(&self) -> bool {
        self.resource == "pods."
    }

    /// Says how long the objects may still take.
    pub(super) fn take(&mut self, estimate: Duration) {
        self.estimate = estimate;
    }

    pub(super) fn delete(&self) -> Request {
        Request::delete_all(&self.path(), &json!({"propagationPolicy": "Background"}))
    }

    /// Says that objects are there which nothing holds.
    fn is_unexpected(&self) -> String {
        let Content { namespace, api_version, plural, .. } = self;
        let root = if api_version.contains('/') { "" } else { "/" };
        format!(
            "unexpected items still remain in namespace: {namespace} for gvr: \
             {root}{api_version}, Resource={plural}"
        )
    }

    fn path(&self) -> String {
        let Content { namespace, api_version, plural, .. } = self;
        let root = if api_version.contains('/') { "/apis" } else { "/api" };
        format!("{root}/{api_version}/namespaces/{namespace}/{plural}")
    }

    pub(super) fn read(&self) -> Request {
        Request::read(&self.path())
    }
}

/// The rest of a namespace.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    /// How many objects, by resource.
    pub(super) objects: BTreeMap<String, usize>,
    /// How many objects have a finalizer.
    pub(super) finalizers: BTreeMap<String, usize>,
    /// The objects that could not be deleted.
    pub(super) failures: Vec<String>,
    /// Why resources could not be found out.
    unknown: Vec<String>,
    estimate: Duration,
    count: usize,
}

impl Remaining {
    /// Adds what a list says about a content that was deleted.
    pub(super) fn add(&mut self, content: &Content, failure: Option<Status>, list: &Value) {
        if let Some(failure) = failure {
            self.failures.push(failure.message);
            return;
        }
        let items = list.get("items").and_then(Value::as_array).map(Vec::as_slice);
        let items = items.unwrap_or_default();
        if items.is_empty() {
            return;
        }
        self.count = self.count.saturating_add(items.len());
        self.objects.insert(content.resource.clone(), items.len());
        let finalizers =
            items.iter().filter_map(|it| it.pointer("/metadata/finalizers")?.as_array());
        let mut has_finalizers = false;
        for finalizer in finalizers.flatten().filter_map(Value::as_str) {
            has_finalizers = true;
            let count = self.finalizers.entry(finalizer.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        self.estimate = self.estimate.max(content.estimate);
        if content.estimate.is_zero() && !has_finalizers {
            self.failures.push(content.is_unexpected());
        }
    }

    /// Takes over what could not be deleted or found out before.
    pub(super) fn add_failures(&mut self, before: &Remaining) {
        self.failures.extend(before.failures.iter().cloned());
        self.unknown.extend(before.unknown.iter().cloned());
    }

    /// Takes over why resources could not be found out.
    pub(super) fn add_unknown(&mut self, failures: impl Iterator<Item = Status>) {
        self.unknown.extend(failures.map(|failure| failure.message));
    }

    /// Returns why not all resources are known, if they are not.
    pub(super) fn undiscovered(&self) -> Option<String> {
        let (count, list) = (self.unknown.len(), self.unknown.join(", "));
        let message = || format!("Discovery failed for some groups, {count} failing: {list}");
        (count > 0).then(message)
    }

    /// Forgets the numbers of objects, but not whether some are left.
    pub(super) fn forget_counts(&mut self) {
        self.objects.clear();
        self.finalizers.clear();
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.failures.is_empty() && self.unknown.is_empty()
    }

    /// Returns how long it may take until what remains is gone, if something says so.
    pub(super) fn estimate(&self) -> Option<Duration> {
        (!self.estimate.is_zero()).then_some(self.estimate)
    }

    /// Returns why not everything could be deleted, if it could not.
    pub(super) fn failure(&self) -> Option<String> {
        let all: Vec<&str> =
            self.unknown.iter().chain(&self.failures).map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}
