//! Events: what controllers tell about objects (CP-03).

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::object::Object;
use crate::resource::{Resource, split_key};

/// An event about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The key of the object.
    pub(crate) key: String,
    /// The object, as the event refers to it.
    pub(crate) involved: Value,
    /// `Normal` or `Warning`.
    pub(crate) kind: &'static str,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Event {
    /// Creates an event of type `Normal`.
    pub fn normal(resource: &Resource, object: &Object, reason: &str, message: String) -> Self {
        Event::new("Normal", resource, object, reason, message)
    }

    /// Creates an event of type `Warning`.
    pub fn warning(resource: &Resource, object: &Object, reason: &str, message: String) -> Self {
        Event::new("Warning", resource, object, reason, message)
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.kind == "Warning"
    }

    fn new(
        kind: &'static str,
        resource: &Resource,
        object: &Object,
        reason: &str,
        message: String,
    ) -> Self {
        let mut involved = json!({
            "apiVersion": resource.api_version(), "kind": resource.kind, "name": object.name(),
            "uid": object.uid(), "resourceVersion": object.revision().to_string(),
        });
        if resource.is_namespaced
            && let Some(involved) = involved.as_object_mut()
        {
            involved.insert("namespace".to_owned(), object.namespace().into());
        }
        let (key, reason) = (object.key().to_string(), reason.to_owned());
        Event { key, involved, kind, reason, message }
    }

    /// Creates an event about an object of any kind.
    pub(crate) fn about(
        object: &Object,
        kind: &'static str,
        reason: &str,
        message: String,
    ) -> Self {
        let of = |pointer: &str| object.get(pointer).clone();
        let mut involved = json!({
            "apiVersion": of("/apiVersion"), "kind": of("/kind"), "name": object.name(),
            "uid": object.uid(), "resourceVersion": object.revision().to_string(),
        });
        if !object.namespace().is_empty()
            && let Some(involved) = involved.as_object_mut()
        {
            involved.insert("namespace".to_owned(), object.namespace().into());
        }
        let (key, reason) = (object.key().to_string(), reason.to_owned());
        Event { key, involved, kind, reason, message }
    }

    /// Returns the namespace that the event is in: that of the object, or `default`.
    pub(crate) fn namespace(&self) -> &str {
        match split_key(&self.key).0 {
            "" => "default",
            namespace => namespace,
        }
    }

    /// Returns the event as an object with a message and a name, from a source.
    pub(crate) fn document(&self, message: &str, name: &str, source: &str, at: Timestamp) -> Value {
        let time = at.to_rfc3339();
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": name, "namespace": self.namespace()},
            "involvedObject": self.involved, "reason": self.reason, "message": message,
            "type": self.kind, "source": {"component": source}, "count": 1,
            "firstTimestamp": time, "lastTimestamp": time, "eventTime": null,
            "reportingComponent": source, "reportingInstance": "",
        })
    }
}
