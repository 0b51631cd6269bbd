//! The view of controllers: a copy of all objects, kept up with the changes of the server.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use billhook_apiserver::storage::{self, Batch, Collection};

use crate::object::Object;
use crate::resource::{EVENTS, Resource};

/// All objects at one time, found by their keys and by their controllers.
#[derive(Debug, Default)]
pub struct View {
    collections: HashMap<String, Objects>,
}

/// The objects of a collection.
#[derive(Debug, Default)]
struct Objects {
    by_key: BTreeMap<Arc<str>, Arc<Object>>,
    /// The objects by the UIDs of their controllers, or by their namespaces if they have none.
    by_controller: HashMap<String, BTreeMap<Arc<str>, Arc<Object>>>,
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

    /// Returns the object before and after the change, as far as there is one.
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
        let (first, end) = (format!("{namespace}/"), format!("{namespace}0"));
        let range = (Bound::Included(&*first), Bound::Excluded(&*end));
        let objects = self.objects(resource).map(|it| it.by_key.range::<str, _>(range));
        objects.into_iter().flatten().map(|(_, object)| object)
    }

    /// Returns all objects of a resource, by key.
    pub fn all(&self, resource: &Resource) -> impl Iterator<Item = &Arc<Object>> {
        self.objects(resource).into_iter().flat_map(|objects| objects.by_key.values())
    }

    /// Returns the objects of a resource whose controller has a UID, by key.
    pub fn controlled(&self, resource: &Resource, uid: &str) -> impl Iterator<Item = &Arc<Object>> {
        let objects = self.objects(resource).and_then(|objects| objects.by_controller.get(uid));
        objects.into_iter().flat_map(BTreeMap::values)
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
        let (first, end) = (format!("{namespace}/"), format!("{namespace}0"));
        collections.into_iter().flat_map(move |(name, objects)| {
            let range = (Bound::Included(&*first), Bound::Excluded(&*end));
            let (group, plural) = name.split_once('/').unwrap_or(("", name));
            let found = objects.by_key.range::<str, _>(range);
            found.map(move |(_, object)| (group, plural, object))
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
            self.collections.insert(collection.as_str().to_owned(), Objects::default());
        }
        let after = after.map(|stored| Arc::new(Object::new(stored)));
        let has_controllers = !EVENTS.is_in(&collection);
        let objects = self.collections.get_mut(collection.as_str());
        let before = objects.and_then(|objects| objects.put(key, after.as_ref(), has_controllers));
        Change { collection, before, after }
    }
}

impl Objects {
    /// Puts an object in the place of the one with its key. Returns that one.
    fn put(
        &mut self,
        key: &str,
        after: Option<&Arc<Object>>,
        has_controllers: bool,
    ) -> Option<Arc<Object>> {
        let before = match after {
            Some(object) => self.by_key.insert(Arc::clone(object.key()), Arc::clone(object)),
            None => self.by_key.remove(key),
        };
        if !has_controllers {
            return before;
        }
        let owner = before.as_deref().map(owner);
        if let Some(before) = owner
            && after.map(|after| self::owner(after)) != owner
            && let Some(objects) = self.by_controller.get_mut(before)
        {
            objects.remove(key);
            if objects.is_empty() {
                self.by_controller.remove(before);
            }
        }
        if let Some(object) = after {
            let owner = self::owner(object);
            if !self.by_controller.contains_key(owner) {
                self.by_controller.insert(owner.to_owned(), BTreeMap::new());
            }
            if let Some(objects) = self.by_controller.get_mut(owner) {
                objects.insert(Arc::clone(object.key()), Arc::clone(object));
            }
        }
        before
    }
}

/// Returns the UID of an object's controller, or its namespace if it has none.
fn owner(object: &Object) -> &str {
    match object.controller_uid() {
        "" => object.namespace(),
        uid => uid,
    }
}
