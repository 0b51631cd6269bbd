//! The objects of `--old`, found by what identifies them on a server.

use std::collections::HashMap;

use crate::identity::Identity;
use crate::input::Document;

/// Stored objects. Of several with one identity the first counts.
#[derive(Debug)]
pub(crate) struct Stored {
    documents: Vec<Document>,
    /// The namespace of objects that name none.
    namespace: String,
    by_identity: HashMap<Key, usize>,
    by_name: HashMap<Name, usize>,
}

/// Group, kind and name. The version does not matter.
type Key = (String, Option<String>, Name);

/// Namespace and name.
type Name = (String, Option<String>);

impl Stored {
    pub(crate) fn new(documents: Vec<Document>, namespace: &str) -> Self {
        let mut stored = Stored {
            documents: Vec::new(),
            namespace: namespace.to_owned(),
            by_identity: HashMap::new(),
            by_name: HashMap::new(),
        };
        for (position, document) in documents.iter().enumerate() {
            let identity = Identity::of(&document.value);
            let (key, name) = (stored.key(&identity), stored.name(&identity));
            stored.by_identity.entry(key).or_insert(position);
            stored.by_name.entry(name).or_insert(position);
        }
        stored.documents = documents;
        stored
    }

    /// Returns the object of the same group, kind, namespace and name.
    pub(crate) fn find(&self, identity: &Identity) -> Option<&Document> {
        self.documents.get(*self.by_identity.get(&self.key(identity))?)
    }

    /// Returns the object of the same namespace and name, of whatever kind.
    pub(crate) fn find_by_name(&self, identity: &Identity) -> Option<&Document> {
        self.documents.get(*self.by_name.get(&self.name(identity))?)
    }

    fn key(&self, identity: &Identity) -> Key {
        (identity.group().to_owned(), identity.kind.clone(), self.name(identity))
    }

    fn name(&self, identity: &Identity) -> Name {
        let namespace = identity.namespace.as_ref().unwrap_or(&self.namespace);
        (namespace.clone(), identity.name.clone())
    }
}
