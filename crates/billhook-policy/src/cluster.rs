//! The cluster as requests see it: parameters, namespaces and permissions (PO-31, PO-46).

use std::sync::Arc;

use billhook::Scope;
use billhook::webhook::{Authorizer, Namespaces};
use billhook_apimachinery::label_selector::{Labels, Selector};
use billhook_apimachinery::namespace;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use crate::document::ParamKind;

/// The world around a request, as the engine asks for it: namespaces and their labels, objects that
/// are parameters, permissions. It is given with each request, so that nothing is kept of it. New methods
/// will have defaults.
///
/// [`MemoryCluster`](crate::MemoryCluster) has it all in memory.
pub trait Cluster: Namespaces + Send + Sync {
    /// Returns the scope of the objects of a kind; none if it is not served.
    fn scope(&self, kind: &ParamKind) -> Option<Scope>;

    /// Returns an object of a kind; the namespace is empty if the kind is cluster-scoped.
    fn object(&self, kind: &ParamKind, namespace: &str, name: &str) -> Option<DeepValue>;

    /// Returns the objects of a kind in a namespace that a selector selects, by name.
    fn objects(&self, kind: &ParamKind, namespace: &str, selector: &Selector) -> Vec<DeepValue>;

    /// Returns a namespace; none if it does not exist, or if only its labels are known.
    fn namespace(&self, name: &str) -> Option<DeepValue> {
        self.object(&ParamKind::new(namespace::API_VERSION, namespace::KIND), "", name)
    }

    /// Returns whether a namespace exists, which may take less time than returning it.
    fn has_namespace(&self, name: &str) -> bool {
        self.namespace(name).is_some()
    }

    /// Returns what decides what users may do; without it, expressions that ask are errors.
    fn authorizer(&self) -> Option<&Arc<dyn Authorizer>> {
        None
    }
}

/// `metadata.labels` of an object.
pub(crate) struct ObjectLabels<'o>(pub(crate) &'o Value);

impl Labels for ObjectLabels<'_> {
    fn label(&self, key: &str) -> Option<&str> {
        self.0.get("metadata")?.get("labels")?.get(key)?.as_str()
    }
}

/// Returns the value of `namespaceObject`: the fields that policies see, without those that are
/// zero or empty (PO-46).
pub(crate) fn namespace_object(namespace: &Value) -> DeepValue {
    const METADATA: [&str; 12] = [
        "name",
        "generateName",
        "namespace",
        "labels",
        "annotations",
        "uid",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "resourceVersion",
        "finalizers",
    ];
    let mut object = serde_json::Map::new();
    let parts: [(&str, &[&str]); 3] =
        [("metadata", &METADATA), ("spec", &["finalizers"]), ("status", &["conditions", "phase"])];
    for (part, names) in parts {
        let member = |name: &&str| {
            let value = namespace.get(part)?.get(*name)?;
            // Of this field a server tells zero and none apart.
            let is_kept = *name == "deletionGracePeriodSeconds" && value.is_number();
            if is_zero(value) && !is_kept {
                return None;
            }
            Some(((*name).to_owned(), deep_clone(value)))
        };
        let members = names.iter().filter_map(member).collect();
        object.insert(part.to_owned(), Value::Object(members));
    }
    DeepValue::from(Value::Object(object))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) => false,
    }
}
