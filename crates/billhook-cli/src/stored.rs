//! The objects of `--old`, found by what identifies them on a server.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::crds::Crds;
use crate::identity::Identity;
use crate::input::Document;

/// Stored objects. Of several with one identity the first counts.
#[derive(Debug)]
pub(crate) struct Stored {
    documents: Vec<Document>,
    /// The namespace of objects that name none.
    namespace: String,
    /// The kinds, with their groups, whose objects have none.
    cluster_scoped: HashSet<Kind>,
    by_identity: HashMap<Key, usize>,
    by_name: HashMap<Name, usize>,
}

/// Group, kind and name. The version does not matter.
type Key = (Kind, Name);

/// Group and kind.
type Kind = (String, Option<String>);

/// Namespace and name.
type Name = (String, Option<String>);

impl Stored {
    pub(crate) fn new(documents: Vec<Document>, namespace: &str, crds: Option<&Crds>) -> Self {
        let mut stored = Stored {
            documents: Vec::new(),
            namespace: namespace.to_owned(),
            cluster_scoped: HashSet::new(),
            by_identity: HashMap::new(),
            by_name: HashMap::new(),
        };
        for (position, document) in documents.iter().enumerate() {
            let identity = Identity::of(&document.value);
            let of = identity.kind.as_deref().unwrap_or_default();
            if crds.is_some_and(|crds| crds.is_cluster_scoped(identity.group(), of)) {
                stored.cluster_scoped.insert(kind(&identity));
            }
            let (key, name) = (stored.key(&identity), stored.name(&identity));
            stored.by_identity.entry(key).or_insert(position);
            stored.by_name.entry(name).or_insert(position);
        }
        stored.documents = documents;
        stored
    }

    /// Returns the objects as the requests that created them left them: with a namespace, unless
    /// their kind has none.
    pub(crate) fn with_namespaces(mut self) -> Self {
        for document in &mut self.documents {
            let is_cluster_scoped =
                self.cluster_scoped.contains(&kind(&Identity::of(&document.value)));
            if let Some(Value::Object(metadata)) = document.value.get_mut("metadata")
                && !is_cluster_scoped
            {
                let namespace = || self.namespace.clone().into();
                metadata.entry("namespace").or_insert_with(namespace);
            }
        }
        self
    }

    /// Returns the object of the same group, kind, namespace and name.
    pub(crate) fn find(&self, identity: &Identity) -> Option<&Document> {
        self.documents.get(*self.by_identity.get(&self.key(identity))?)
    }

    /// Returns the object of the same namespace and name, of any kind.
    pub(crate) fn find_by_name(&self, identity: &Identity) -> Option<&Document> {
        self.documents.get(*self.by_name.get(&self.name(identity))?)
    }

    fn key(&self, identity: &Identity) -> Key {
        let (kind, mut name) = (kind(identity), self.name(identity));
        // A server leaves out the namespace of what has none.
        if self.cluster_scoped.contains(&kind) {
            name.0.clear();
        }
        (kind, name)
    }

    fn name(&self, identity: &Identity) -> Name {
        let namespace = identity.namespace.as_ref().unwrap_or(&self.namespace);
        (namespace.clone(), identity.name.clone())
    }
}

fn kind(identity: &Identity) -> Kind {
    (identity.group().to_owned(), identity.kind.clone())
}
