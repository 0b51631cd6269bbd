//! The cluster as policies see it: parameters and namespaces (PO-31, PO-46).

use std::collections::BTreeMap;

use billhook::webhook::ApiResource;
use billhook::{CrdVersion, DecodeError, DecodeOptions, Scope};
use billhook_apimachinery::label_selector::{Labels, Selector};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use crate::document::ParamKind;

/// A cluster as policies see it. New methods will have defaults.
pub trait PolicyCluster: Send + Sync {
    /// Returns the scope of the objects of a kind; none if it is not served.
    fn scope(&self, kind: &ParamKind) -> Option<Scope>;

    /// Returns an object of a kind; the namespace is empty if the kind is cluster-scoped.
    fn object(&self, kind: &ParamKind, namespace: &str, name: &str) -> Option<DeepValue>;

    /// Returns the objects of a kind in a namespace that a selector selects, by name.
    fn objects(&self, kind: &ParamKind, namespace: &str, selector: &Selector) -> Vec<DeepValue>;

    /// Returns a namespace; none if it does not exist.
    fn namespace(&self, name: &str) -> Option<DeepValue> {
        self.object(&ParamKind::new("v1", "Namespace"), "", name)
    }

    /// Returns whether a namespace exists, which may take less time than returning it.
    fn has_namespace(&self, name: &str) -> bool {
        self.namespace(name).is_some()
    }
}

/// Objects in memory.
///
/// The built-in kinds are known; others have to be registered.
#[derive(Clone, Debug, Default)]
pub struct ClusterObjects {
    scopes: BTreeMap<(String, String), Scope>,
    objects: BTreeMap<Key, DeepValue>,
}

/// `apiVersion`, kind, namespace and name.
type Key = (String, String, String, String);

impl ClusterObjects {
    /// Returns a cluster without objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that a kind is served.
    pub fn register(&mut self, api_version: &str, kind: &str, scope: Scope) {
        self.scopes.insert((api_version.to_owned(), kind.to_owned()), scope);
    }

    /// Adds an object, or replaces the one of its kind, namespace and name.
    pub fn insert(&mut self, object: impl Into<DeepValue>) {
        let object = object.into();
        let key = {
            let text = |pointer: &str| {
                object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            (
                text("/apiVersion"),
                text("/kind"),
                text("/metadata/namespace"),
                text("/metadata/name"),
            )
        };
        self.objects.insert(key, object);
    }

    /// Adds an object as a server has it that was sent it in a version: without unknown fields and
    /// with defaults, in all versions that are served; where a webhook converts objects, in this
    /// version alone (RP-50, RP-53).
    ///
    /// # Errors
    ///
    /// If a server could not read the object.
    pub fn insert_sent(
        &mut self,
        object: impl Into<DeepValue>,
        version: &CrdVersion,
    ) -> Result<(), DecodeError> {
        let (mut object, options) = (object.into(), DecodeOptions::default());
        version.decode_storage_value(&mut object, &options)?;
        let definition = version.definition();
        if definition.is_converted_by_webhook() {
            self.insert(object);
            return Ok(());
        }
        let stored = version.encode_storage(&object)?;
        self.insert(object);
        for served in definition.versions().filter(CrdVersion::is_served) {
            self.insert(served.decode_storage(&stored, &options)?.into_parts().0);
        }
        Ok(())
    }
}

impl PolicyCluster for ClusterObjects {
    fn scope(&self, kind: &ParamKind) -> Option<Scope> {
        let ParamKind { api_version, kind } = kind;
        let registered = self.scopes.get(&(api_version.clone(), kind.clone())).copied();
        registered
            .or_else(|| ApiResource::built_in(api_version, kind).map(|resource| resource.scope))
    }

    fn object(&self, kind: &ParamKind, namespace: &str, name: &str) -> Option<DeepValue> {
        let ParamKind { api_version, kind } = kind;
        let key = (api_version.clone(), kind.clone(), namespace.to_owned(), name.to_owned());
        self.objects.get(&key).cloned()
    }

    fn objects(&self, kind: &ParamKind, namespace: &str, selector: &Selector) -> Vec<DeepValue> {
        let ParamKind { api_version, kind } = kind;
        let from = (api_version.clone(), kind.clone(), namespace.to_owned(), String::new());
        let is_in = |key: &Key| key.0 == *api_version && key.1 == *kind && key.2 == namespace;
        let found = self.objects.range(from..).take_while(|(key, _)| is_in(key));
        let found = found.filter(|(_, object)| selector.matches(&ObjectLabels(object)));
        found.map(|(_, object)| object.clone()).collect()
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
