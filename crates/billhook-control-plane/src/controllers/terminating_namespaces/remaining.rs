//! The content of a namespace, and what remains of it after it was deleted.

use std::collections::BTreeMap;
use std::time::Duration;

use billhook_apimachinery::Status;
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::object::Object;
use crate::pods::is_terminal;
use crate::request::Request;
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

/// Finds the content of a namespace.
pub(super) fn contents(
    view: &View,
    namespace: &str,
    deleted: Timestamp,
    now: Timestamp,
) -> Vec<Content> {
    let mut all: Vec<Content> = Vec::new();
    for (group, plural, object) in view.in_namespace(namespace) {
        let resource = format!("{plural}.{group}");
        let estimate = match &*resource {
            "pods." => grace(object, deleted, now),
            _ => Duration::ZERO,
        };
        match all.last_mut().filter(|last| last.resource == resource) {
            Some(last) => last.estimate = last.estimate.max(estimate),
            None => {
                all.push(Content {
                    namespace: namespace.to_owned(),
                    api_version: object.text("/apiVersion").to_owned(),
                    plural: plural.to_owned(),
                    resource,
                    estimate,
                });
            }
        }
    }
    all
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

    /// Takes over what could not be deleted before.
    pub(super) fn add_failures(&mut self, before: &Remaining) {
        self.failures.extend(before.failures.iter().cloned());
    }

    /// Forgets how many objects there are of what, but not that there are some.
    pub(super) fn forget_counts(&mut self) {
        self.objects.clear();
        self.finalizers.clear();
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.failures.is_empty()
    }

    /// Returns how long it may take until what remains is gone, if something says so.
    pub(super) fn estimate(&self) -> Option<Duration> {
        (!self.estimate.is_zero()).then_some(self.estimate)
    }

    /// Returns why not everything could be deleted, if it could not.
    pub(super) fn failure(&self) -> Option<String> {
        (!self.failures.is_empty()).then(|| self.failures.join(", "))
    }
}
