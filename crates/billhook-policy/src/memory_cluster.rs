//! A cluster in memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use billhook::webhook::{
    Authorizer, NamespaceError, NamespaceLabels, Namespaces, labels_of_name, labels_of_namespace,
};
use billhook::{CrdVersion, CustomResourceDefinition, DecodeError, DecodeOptions, Scope};
use billhook_apimachinery::label_selector::Selector;
use billhook_apimachinery::namespace;
use billhook_apimachinery::value::DeepValue;
use serde_json::{Value, json};

use crate::cluster::{Cluster, ObjectLabels};
use crate::document::ParamKind;

/// A [`Cluster`] in memory.
///
/// It serves the kinds that are registered. `billhook_kinds::register_kinds` registers the built-in ones.
///
/// ```
/// use billhook::webhook::Namespaces as _;
/// use billhook_policy::{Cluster as _, MemoryCluster, ParamKind};
/// use serde_json::json;
///
/// let mut cluster = MemoryCluster::new();
/// cluster.insert(json!({"apiVersion": "v1", "kind": "Namespace",
///     "metadata": {"name": "shop", "labels": {"env": "prod"}}}));
/// cluster.insert(json!({"apiVersion": "v1", "kind": "ConfigMap",
///     "metadata": {"name": "limits", "namespace": "shop"}, "data": {"max": "3"}}));
///
/// assert_eq!(cluster.labels("shop")?.unwrap()["kubernetes.io/metadata.name"], "shop");
/// let limits = cluster.object(&ParamKind::new("v1", "ConfigMap"), "shop", "limits").unwrap();
/// assert_eq!(limits["data"]["max"], "3");
/// # Ok::<(), billhook::webhook::NamespaceError>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryCluster {
    scopes: BTreeMap<(String, String), Scope>,
    objects: BTreeMap<Key, DeepValue>,
    /// The labels of namespaces; of some of these there may be no object.
    labels: BTreeMap<String, NamespaceLabels>,
    assumes_namespaces: bool,
    /// The namespaces that were asked for and are not known.
    assumed: Mutex<BTreeSet<String>>,
    authorizer: Option<Arc<dyn Authorizer>>,
}

/// `apiVersion`, kind, namespace and name.
type Key = (String, String, String, String);

impl MemoryCluster {
    /// Returns a cluster without objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// The cluster in which namespaces that are not known exist all the same, with the label of
    /// their name and no other.
    #[must_use]
    pub fn assume_namespaces(mut self) -> Self {
        self.assumes_namespaces = true;
        self
    }

    /// The cluster with what decides what users may do.
    #[must_use]
    pub fn with_authorizer(mut self, authorizer: Option<Arc<dyn Authorizer>>) -> Self {
        self.authorizer = authorizer;
        self
    }

    /// The cluster with a namespace of which only the labels are known.
    #[must_use]
    pub fn with_namespace(mut self, name: &str, labels: NamespaceLabels) -> Self {
        self.label_namespace(name, labels);
        self
    }

    /// Replaces the labels of a namespace, as they are: its name is not added.
    pub fn label_namespace(&mut self, name: &str, labels: NamespaceLabels) {
        let [api_version, kind] = [namespace::API_VERSION, namespace::KIND].map(str::to_owned);
        let key = (api_version, kind, String::new(), name.to_owned());
        let object = self.objects.get_mut(&key);
        let metadata = object.and_then(|object| object.get_mut("metadata")?.as_object_mut());
        if let Some(metadata) = metadata {
            metadata.insert("labels".to_owned(), json!(labels));
        }
        self.labels.insert(name.to_owned(), labels);
    }

    /// Returns the namespaces that were asked for and are not known, in order.
    pub fn assumed_namespaces(&self) -> Vec<String> {
        let assumed = self.assumed.lock().unwrap_or_else(PoisonError::into_inner);
        assumed.iter().cloned().collect()
    }

    /// Says that a kind is served.
    pub fn register(&mut self, api_version: &str, kind: &str, scope: Scope) {
        self.scopes.insert((api_version.to_owned(), kind.to_owned()), scope);
    }

    /// Says that the kind of a definition is served.
    pub fn register_definition(&mut self, definition: &CustomResourceDefinition) {
        for version in definition.versions().filter(CrdVersion::is_served) {
            self.register(&version.api_version(), definition.kind(), definition.scope());
        }
    }

    /// Adds an object, or replaces the one of its kind, namespace and name. A namespace gets the
    /// label of its name.
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
        let namespace =
            namespace::is_namespace(&object).then(|| (key.3.clone(), labels_of_namespace(&object)));
        self.objects.insert(key, object);
        if let Some((name, labels)) = namespace {
            self.label_namespace(&name, labels);
        }
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

impl From<BTreeMap<String, NamespaceLabels>> for MemoryCluster {
    /// Returns a cluster in which only the labels of namespaces are known.
    fn from(labels: BTreeMap<String, NamespaceLabels>) -> Self {
        MemoryCluster { labels, ..MemoryCluster::default() }
    }
}

impl Namespaces for MemoryCluster {
    fn labels<'n>(
        &'n self,
        name: &str,
    ) -> Result<Option<Cow<'n, NamespaceLabels>>, NamespaceError> {
        if let Some(labels) = self.labels.get(name) {
            return Ok(Some(Cow::Borrowed(labels)));
        }
        if name.is_empty() || !self.assumes_namespaces {
            return Ok(None);
        }
        let mut assumed = self.assumed.lock().unwrap_or_else(PoisonError::into_inner);
        assumed.insert(name.to_owned());
        Ok(Some(Cow::Owned(labels_of_name(name))))
    }
}

impl Cluster for MemoryCluster {
    fn scope(&self, kind: &ParamKind) -> Option<Scope> {
        let ParamKind { api_version, kind } = kind;
        self.scopes.get(&(api_version.clone(), kind.clone())).copied()
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

    fn authorizer(&self) -> Option<&Arc<dyn Authorizer>> {
        self.authorizer.as_ref()
    }
}
