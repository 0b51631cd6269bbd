//! The catalog: all resources, found by the parts of URLs and of objects that name them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use billhook::KubernetesVersion;
use billhook_admission::Chain;

use super::definition::StoredDefinition;
use super::resource::Resource;
use crate::storage::{Collection, Object};

/// All resources, by the names of their definitions. A clone costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) kubernetes: KubernetesVersion,
    native: Arc<BTreeMap<String, Arc<Resource>>>,
    definitions: Arc<BTreeMap<String, Arc<StoredDefinition>>>,
}

impl Catalog {
    /// A catalog without resources, of a server of a version.
    pub(crate) fn new(kubernetes: KubernetesVersion) -> Self {
        Catalog { kubernetes, ..Catalog::default() }
    }

    /// Finds the resource that a part of URLs names (RE-05, LC-36).
    pub(crate) fn find(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        let name = [plural, ".", group].concat();
        let native = self.native.get(&name);
        native.or_else(|| self.definitions.get(&name)?.served.as_ref()).cloned()
    }

    /// All resources that discovery shows, by the names of their definitions (LC-62).
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Resource> {
        let defined = self.definitions.values().filter(|defined| defined.is_established());
        let defined = defined.filter_map(|defined| defined.served.as_ref());
        self.native.values().chain(defined).map(|resource| &**resource)
    }

    /// Finds the resource that has the objects of a kind.
    pub(crate) fn of_kind(&self, group: &str, kind: &str) -> Option<&Resource> {
        self.resources().find(|resource| {
            resource.definition.group() == group && resource.definition.kind() == kind
        })
    }

    /// Finds the resource whose objects are in a collection.
    pub(crate) fn of_collection(&self, collection: &Collection) -> Option<Arc<Resource>> {
        let (group, plural) = collection.parts();
        self.find(group, plural)
    }

    /// Returns a resource of the server itself, by the name of its definition.
    pub(crate) fn native(&self, name: &str) -> Option<Arc<Resource>> {
        self.native.get(name).cloned()
    }

    /// Whether the server itself has resources in a group, or in a version of it.
    pub(crate) fn is_own(&self, group: &str, version: Option<&str>) -> bool {
        self.native.values().any(|resource| {
            let definition = &resource.definition;
            definition.group() == group
                && version.is_none_or(|version| definition.version(version).is_some())
        })
    }

    /// Returns the group of each definition.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.definitions.values().map(|defined| defined.document.spec.group.as_str())
    }

    /// Returns the groups of the definitions that are being deleted.
    pub(crate) fn terminating_groups(&self) -> BTreeSet<String> {
        let documents = self.definitions.values().map(|defined| &defined.document);
        let terminating = documents.filter(|it| !it.metadata.deletion_timestamp.is_zero());
        terminating.map(|document| document.spec.group.clone()).collect()
    }

    /// Returns the definitions of a group, the oldest first.
    pub(crate) fn definitions(&self, group: &str) -> Vec<Arc<StoredDefinition>> {
        let of_group = |defined: &&Arc<StoredDefinition>| defined.document.spec.group == group;
        let mut found: Vec<_> = self.definitions.values().filter(of_group).cloned().collect();
        found.sort_by_key(|defined| defined.created);
        found
    }

    /// Adds a resource of the server itself.
    pub(crate) fn add(&mut self, resource: Resource) {
        let name = resource.definition.name().to_owned();
        Arc::make_mut(&mut self.native).insert(name, Arc::new(resource));
    }

    /// Takes over a definition as it is stored now; `None` if it is gone. Returns whether the same is
    /// served as before.
    pub(crate) fn define(&mut self, name: &str, object: Option<&Object>, chain: &Chain) -> bool {
        let definitions = Arc::make_mut(&mut self.definitions);
        let before = definitions.remove(name);
        let defined = object.and_then(|object| {
            StoredDefinition::new(object, before.as_deref(), self.kubernetes, chain)
        });
        let Some((defined, is_kept)) = defined else { return false };
        definitions.insert(name.to_owned(), Arc::new(defined));
        is_kept
    }
}
