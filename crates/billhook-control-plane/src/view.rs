//! The view of controllers: a copy of all objects, kept up with the changes of the server.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use billhook_apiserver::storage::{self, Batch, Collection};

use crate::object::Object;
use crate::resource::{EVENTS, PODS, Resource};

/// All objects at one time, found by their keys, by their controllers, and pods by their nodes.
#[derive(Debug, Default)]
pub struct View {
    collections: HashMap<String, Objects>,
}

/// The objects of a collection.
#[derive(Debug)]
struct Objects {
    by_key: BTreeMap<Arc<str>, Arc<Object>>,
    by_controller: Option<Index>,
    by_node: Option<Index>,
}

/// The objects of a collection by something that many of them share.
#[derive(Debug)]
struct Index {
    /// Returns what an object is found by.
    term: fn(&Object) -> &str,
    objects: HashMap<String, BTreeMap<Arc<str>, Arc<Object>>>,
}

/// A change of an object, seen by a controller.
#[derive(Clone, Debug)]
pub struct Change {
    collection: Collection,
    /// The object before the change; `None` if it was created.
    pub before: Option<Arc<Object>>,
    /// The object after it; `None` if it was deleted.
    pub after: Option<Arc<Object>>,
}

impl Change {
    /// A change after which an object is as it was before.
    pub(crate) fn of_nothing(resource: &Resource, object: Arc<Object>) -> Self {
        let collection = Collection::new(resource.group, resource.plural);
        Change { collection, before: Some(Arc::clone(&object)), after: Some(object) }
    }

    /// Returns whether it is one of an object of a resource.
    pub fn is_of(&self, resource: &Resource) -> bool {
        resource.is_in(&self.collection)
    }

    /// Returns the name of the collection of the object.
    pub(crate) fn collection(&self) -> &str {
        self.collection.as_str()
    }

    /// Returns the object after the change, or before it if it was deleted.
    pub fn object(&self) -> Option<&Arc<Object>> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// Returns the object before and after the change; one alone for a creation or a deletion.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.before.iter().chain(&self.after)
    }
}

impl View {
    /// Returns an object by its key: `<namespace>/<name>`, or the name of an object of the cluster.
    pub fn get(&self, resource: &Resource, key: &str) -> Option<&Arc<Object>> {
        self.objects(resource)?.by_key.get(key)
    }

    /// Returns an object by the name of its collection and its key.
    pub(crate) fn find(&self, collection: &str, key: &str) -> Option<&Arc<Object>> {
        self.collections.get(collection)?.by_key.get(key)
    }

    /// Returns the objects of a namespace, by name.
    pub fn list<'v>(
        &'v self,
        resource: &Resource,
        namespace: &str,
    ) -> impl Iterator<Item = &'v Arc<Object>> {
        let objects = self.objects(resource).filter(|objects| !objects.by_key.is_empty());
        objects.into_iter().flat_map(|objects| objects.of_namespace(namespace))
    }

    /// Returns all objects of a resource, by key.
    pub fn all(&self, resource: &Resource) -> impl Iterator<Item = &Arc<Object>> {
        self.objects(resource).into_iter().flat_map(|objects| objects.by_key.values())
    }

    /// Returns how many objects of a resource there are.
    pub(crate) fn count(&self, resource: &Resource) -> usize {
        self.objects(resource).map_or(0, |objects| objects.by_key.len())
    }

    /// Returns the objects of a resource whose controller has a UID, by key.
    pub fn controlled(&self, resource: &Resource, uid: &str) -> impl Iterator<Item = &Arc<Object>> {
        let index = self.objects(resource).and_then(|objects| objects.by_controller.as_ref());
        index.into_iter().flat_map(move |index| index.get(uid))
    }

    /// Returns the pods that are bound to a node, by key; those that are bound to none for an empty
    /// name.
    pub(crate) fn pods_on(&self, node: &str) -> impl Iterator<Item = &Arc<Object>> {
        let index = self.objects(&PODS).and_then(|objects| objects.by_node.as_ref());
        index.into_iter().flat_map(move |index| index.get(node))
    }

    /// Returns the objects of a namespace that have no controller, by name.
    pub fn uncontrolled(
        &self,
        resource: &Resource,
        namespace: &str,
    ) -> impl Iterator<Item = &Arc<Object>> {
        self.controlled(resource, namespace)
    }

    /// Returns all objects of a namespace, by resource and name, with the group and the plural name
    /// of their resource.
    pub fn in_namespace<'v>(
        &'v self,
        namespace: &str,
    ) -> impl Iterator<Item = (&'v str, &'v str, &'v Arc<Object>)> {
        let mut collections: Vec<_> = self.collections.iter().collect();
        collections.sort_by_key(|(name, _)| *name);
        let namespace = namespace.to_owned();
        collections.into_iter().flat_map(move |(name, objects)| {
            let (group, plural) = name.split_once('/').unwrap_or(("", name));
            objects.of_namespace(&namespace).map(move |object| (group, plural, object))
        })
    }

    fn objects(&self, resource: &Resource) -> Option<&Objects> {
        self.collections.get(resource.collection())
    }

    /// Takes over what has happened. Returns the changes, in their order.
    pub(crate) fn take_over(&mut self, batch: Batch) -> Vec<Change> {
        match batch {
            Batch::Events(events) => {
                let changes = events.into_iter();
                changes
                    .map(|(name, event)| self.put(name, event.key(), event.after.clone()))
                    .collect()
            }
            Batch::Objects(all) => self.replace(all),
        }
    }

    /// Takes over all objects, where changes were missed.
    fn replace(&mut self, all: Vec<(Collection, Vec<storage::Object>)>) -> Vec<Change> {
        let mut changes = Vec::new();
        for (collection, objects) in all {
            let mut gone = self.keys(&collection);
            for stored in objects {
                let key = Arc::clone(&stored.key);
                gone.remove(&key);
                changes.push(self.put(collection.clone(), &key, Some(stored)));
            }
            changes.extend(gone.iter().map(|key| self.put(collection.clone(), key, None)));
        }
        changes
    }

    fn keys(&self, collection: &Collection) -> BTreeSet<Arc<str>> {
        let objects = self.collections.get(collection.as_str());
        objects.map(|objects| objects.by_key.keys().cloned().collect()).unwrap_or_default()
    }

    fn put(&mut self, collection: Collection, key: &str, after: Option<storage::Object>) -> Change {
        if !self.collections.contains_key(collection.as_str()) {
            self.collections.insert(collection.as_str().to_owned(), Objects::of(&collection));
        }
        let after = after.map(|stored| Arc::new(Object::new(stored)));
        let objects = self.collections.get_mut(collection.as_str());
        let before = objects.and_then(|objects| objects.put(key, after.as_ref()));
        Change { collection, before, after }
    }
}

impl Objects {
    /// Creates a collection that is empty.
    fn of(collection: &Collection) -> Self {
        Objects {
            by_key: BTreeMap::new(),
            by_controller: (!EVENTS.is_in(collection)).then(|| Index::by(owner)),
            by_node: PODS.is_in(collection).then(|| Index::by(node)),
        }
    }

    /// Returns the objects of a namespace, by name.
    fn of_namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<Object>> + use<'_> {
        let (first, end) = (format!("{namespace}/"), format!("{namespace}0"));
        let range = (Bound::Included(&*first), Bound::Excluded(&*end));
        self.by_key.range::<str, _>(range).map(|(_, object)| object)
    }

    /// Puts an object in the place of the one with its key. Returns that one.
    fn put(&mut self, key: &str, after: Option<&Arc<Object>>) -> Option<Arc<Object>> {
        let before = match after {
            Some(object) => self.by_key.insert(Arc::clone(object.key()), Arc::clone(object)),
            None => self.by_key.remove(key),
        };
        for index in self.by_controller.iter_mut().chain(&mut self.by_node) {
            index.put(key, before.as_deref(), after);
        }
        before
    }
}

impl Index {
    fn by(term: fn(&Object) -> &str) -> Self {
        Index { term, objects: HashMap::new() }
    }

    /// Returns the objects that are found by a term, by key.
    fn get(&self, term: &str) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.get(term).into_iter().flat_map(BTreeMap::values)
    }

    /// Puts an object in the place of the one before it.
    fn put(&mut self, key: &str, before: Option<&Object>, after: Option<&Arc<Object>>) {
        let old = before.map(self.term);
        let new = after.map(|object| (self.term)(object));
        if let Some(old) = old.filter(|_| old != new)
            && let Some(objects) = self.objects.get_mut(old)
        {
            objects.remove(key);
            if objects.is_empty() {
                self.objects.remove(old);
            }
        }
        let Some((term, object)) = new.zip(after) else { return };
        if !self.objects.contains_key(term) {
            self.objects.insert(term.to_owned(), BTreeMap::new());
        }
        if let Some(objects) = self.objects.get_mut(term) {
            objects.insert(Arc::clone(object.key()), Arc::clone(object));
        }
    }
}

/// Returns the UID of an object's controller, or its namespace if it has none.
fn owner(object: &Object) -> &str {
    match object.controller_uid() {
        "" => object.namespace(),
        uid => uid,
    }
}

/// Returns the name of the node that a pod is bound to; empty if it is bound to none.
fn node(pod: &Object) -> &str {
    pod.text("/spec/nodeName")
}
