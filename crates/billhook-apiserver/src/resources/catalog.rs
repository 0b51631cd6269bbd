//! The catalog: all resources, found by the parts of URLs and of objects that name them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use billhook::{KubernetesVersion, Scope};
use billhook_admission::Chain;
use billhook_kinds::Kind;
use bytes::Bytes;

use super::definition::StoredDefinition;
use super::resource::{Resource, collection_of};
use crate::storage::{Collection, Object, stored_as};

/// The groups that have reviews alone.
const REVIEW_GROUPS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

/// Returns all kinds of reviews, which are not stored.
pub(crate) fn reviews() -> impl Iterator<Item = &'static Kind> {
    Kind::all().iter().filter(|kind| REVIEW_GROUPS.contains(&kind.group) && !kind.is_stored())
}

/// All resources, by the names of their definitions. A clone costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) kubernetes: KubernetesVersion,
    native: Arc<BTreeMap<String, BuiltIn>>,
    definitions: Arc<BTreeMap<String, Arc<StoredDefinition>>>,
    /// The list of the documents of OpenAPI 3, for which all of them have to be made.
    pub(crate) documents: Arc<OnceLock<Bytes>>,
}

/// A resource of the server itself, which is compiled when it is first used.
#[derive(Debug)]
struct BuiltIn {
    kind: &'static Kind,
    kubernetes: KubernetesVersion,
    compile: Compile,
    compiled: OnceLock<Option<Arc<Resource>>>,
}

/// Compiles the resource of a kind for a server of a version.
pub(crate) type Compile = fn(&'static Kind, KubernetesVersion) -> Option<Resource>;

impl BuiltIn {
    fn resource(&self) -> Option<&Arc<Resource>> {
        let compile = || (self.compile)(self.kind, self.kubernetes).map(Arc::new);
        self.compiled.get_or_init(compile).as_ref()
    }
}

/// A resource as the catalog lists it: what can be said of it without compiling it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'c>(Source<'c>);

#[derive(Clone, Copy, Debug)]
enum Source<'c> {
    BuiltIn(&'c BuiltIn),
    Defined(&'c Arc<Resource>),
}

impl<'c> Listed<'c> {
    /// The group of its kind.
    pub(crate) fn group(self) -> &'c str {
        match self.0 {
            Source::BuiltIn(it) => it.kind.group,
            Source::Defined(resource) => resource.definition.group(),
        }
    }

    /// The name of its kind.
    pub(crate) fn kind(self) -> &'c str {
        match self.0 {
            Source::BuiltIn(it) => it.kind.kind,
            Source::Defined(resource) => resource.definition.kind(),
        }
    }

    /// The kind, if it is one of the server itself.
    pub(crate) fn built_in(self) -> Option<&'static Kind> {
        match self.0 {
            Source::BuiltIn(it) => Some(it.kind),
            Source::Defined(_) => None,
        }
    }

    pub(crate) fn is_namespaced(self) -> bool {
        match self.0 {
            Source::BuiltIn(it) => it.kind.is_namespaced,
            Source::Defined(resource) => resource.definition.scope() == Scope::Namespaced,
        }
    }

    /// Where its objects are.
    pub(crate) fn collection(self) -> Collection {
        match self.0 {
            Source::BuiltIn(it) => collection_of(it.kind),
            Source::Defined(resource) => resource.collection.clone(),
        }
    }

    /// The resource itself.
    pub(crate) fn resource(self) -> Option<&'c Arc<Resource>> {
        match self.0 {
            Source::BuiltIn(it) => it.resource(),
            Source::Defined(resource) => Some(resource),
        }
    }
}

impl Catalog {
    /// A catalog without resources, of a server of a version.
    pub(crate) fn new(kubernetes: KubernetesVersion) -> Self {
        Catalog { kubernetes, ..Catalog::default() }
    }

    /// Finds the resource that a part of URLs names (RE-05, LC-36).
    pub(crate) fn find(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        self.named(&[plural, ".", group].concat())
    }

    /// Finds a resource by the name of its definition.
    fn named(&self, name: &str) -> Option<Arc<Resource>> {
        let native = self.native.get(name).and_then(BuiltIn::resource);
        native.or_else(|| self.definitions.get(name)?.served.as_ref()).cloned()
    }

    /// Finds the resource that a part of URLs names in a version: a kind of the server itself has one
    /// for each.
    pub(crate) fn find_in(
        &self,
        group: &str,
        plural: &str,
        version: &str,
    ) -> Option<Arc<Resource>> {
        let mut name = [plural, ".", group, "/", version].concat();
        let other = self.native.get(&name).and_then(BuiltIn::resource).cloned();
        other.or_else(|| {
            name.truncate(plural.len() + 1 + group.len());
            self.named(&name)
        })
    }

    /// All resources that discovery shows, by the names of their definitions (LC-62).
    pub(crate) fn resources(&self) -> impl Iterator<Item = Listed<'_>> {
        let defined = self.definitions.values().filter(|defined| defined.is_established());
        let defined = defined.filter_map(|defined| defined.served.as_ref());
        let native = self.native.values().map(Source::BuiltIn);
        native.chain(defined.map(Source::Defined)).map(Listed)
    }

    /// Finds the resource that has the objects of a kind.
    pub(crate) fn of_kind(&self, group: &str, kind: &str) -> Option<&Resource> {
        self.of_kinds(group, kind).next()
    }

    /// Finds the resource that has the objects of a kind, and is served in a version.
    pub(crate) fn serving(&self, group: &str, version: &str, kind: &str) -> Option<&Resource> {
        self.of_kinds(group, kind).find(|resource| {
            resource.definition.version(version).is_some_and(|version| version.is_served())
        })
    }

    /// The resources that have the objects of a kind: one for each version of a kind of the server itself.
    fn of_kinds(&self, group: &str, kind: &str) -> impl Iterator<Item = &Resource> {
        let is_meant = move |listed: &Listed<'_>| listed.group() == group && listed.kind() == kind;
        self.resources().filter(is_meant).filter_map(Listed::resource).map(|resource| &**resource)
    }

    /// Finds the resource whose objects are in a collection.
    pub(crate) fn of_collection(&self, collection: &Collection) -> Option<Arc<Resource>> {
        let (group, plural) = collection.parts();
        self.find(group, plural)
    }

    /// Returns a resource of the server itself, by the name of its definition.
    pub(crate) fn native(&self, name: &str) -> Option<Arc<Resource>> {
        self.native.get(name).and_then(BuiltIn::resource).cloned()
    }

    /// Whether the server itself has resources in a group.
    pub(crate) fn is_own(&self, group: &str) -> bool {
        REVIEW_GROUPS.contains(&group)
            || self.native.values().any(|BuiltIn { kind, .. }| kind.group == group)
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
    pub(crate) fn add(&mut self, kind: &'static Kind, compile: Compile) {
        let (mut name, kubernetes) = (format!("{}.{}", kind.plural, kind.group), self.kubernetes);
        // One version is stored and found by the name alone.
        if stored_as(kind).is_some_and(|stored| stored.group == kind.group) {
            name = format!("{name}/{}", kind.version);
        }
        let added = BuiltIn { kind, kubernetes, compile, compiled: OnceLock::new() };
        // Before it has resources, no reader has the catalog.
        if let Some(native) = Arc::get_mut(&mut self.native) {
            native.insert(name, added);
        }
    }

    /// Takes over a definition as it is stored now; `None` if it is gone. Returns whether the same is
    /// served as before.
    pub(crate) fn define(&mut self, name: &str, object: Option<&Object>, chain: &Chain) -> bool {
        self.documents = Arc::default();
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
