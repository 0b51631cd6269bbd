//! Which objects have owners, and which wait for their dependents: all that the garbage collector has
//! to know of them, and what of it a write has changed (RE-114).

use std::collections::BTreeSet;
use std::sync::Arc;

use billhook_apimachinery::metadata::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER, ObjectMeta};
use billhook_apimachinery::record::TypedRecord as _;
use billhook_decode::ObjectView;
use rpds::RedBlackTreeMapSync;
use serde_json::Value;

use crate::storage::{Collection, Object};

/// The place of an object in the storage.
pub(crate) type Place = (Collection, Arc<str>);

/// The part that an owner plays for its dependents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Owner {
    /// It stays.
    Solid,
    /// It waits until they are deleted.
    Waiting,
    /// It lets go of them.
    Orphaning,
    Gone,
}

impl Owner {
    pub(crate) fn of(metadata: &ObjectMeta) -> Self {
        match () {
            () if metadata.deletion_timestamp.is_zero() => Owner::Solid,
            () if has_finalizer(metadata, ORPHAN_FINALIZER) => Owner::Orphaning,
            () if has_finalizer(metadata, FOREGROUND_FINALIZER) => Owner::Waiting,
            () => Owner::Solid,
        }
    }
}

pub(crate) fn has_finalizer(metadata: &ObjectMeta, name: &str) -> bool {
    metadata.finalizers.iter().any(|finalizer| finalizer == name)
}

/// The metadata that the collector reads: the rest is skipped, managed fields above all.
const READ: [&str; 6] =
    ["name", "namespace", "uid", "ownerReferences", "finalizers", "deletionTimestamp"];

/// Reads the metadata of a stored object that the collector needs.
pub(crate) fn metadata(object: &Object) -> Option<ObjectMeta> {
    let metadata = ObjectView::of_checked(&object.text).get("metadata")?;
    let read = metadata.members().filter(|(name, _)| READ.contains(&&**name));
    let read = read.map(|(name, value)| (name.into_owned(), value.to_value().into_inner()));
    ObjectMeta::read(&Value::Object(read.collect())).ok().map(|(metadata, _)| metadata)
}

/// An object that has owners or waits for the collector.
#[derive(Clone, Debug)]
pub(crate) struct Linked {
    pub(crate) object: Object,
    pub(crate) metadata: Arc<ObjectMeta>,
}

impl Linked {
    /// Returns the object, if it has owners or is being deleted.
    fn of(object: Object) -> Option<Self> {
        // Most objects have neither; the text alone tells.
        let text = str::from_utf8(&object.text).ok()?;
        ["\"ownerReferences\"", "\"deletionTimestamp\""].iter().find(|it| text.contains(**it))?;
        let metadata = Arc::new(metadata(&object)?);
        let is_linked =
            !metadata.owner_references.is_empty() || !metadata.deletion_timestamp.is_zero();
        is_linked.then_some(Linked { object, metadata })
    }
}

/// The links between objects, kept up to date with each write. A clone costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    linked: RedBlackTreeMapSync<Place, Linked>,
    /// The dependents that name a UID, and whether they block the deletion of that owner.
    dependents: RedBlackTreeMapSync<String, RedBlackTreeMapSync<Place, bool>>,
    /// The objects that are being deleted, by their UIDs.
    deleted: RedBlackTreeMapSync<String, Place>,
    /// The places that the collector is to look at.
    touched: BTreeSet<Place>,
    /// Whether it is to look at everything.
    all_touched: bool,
}

impl Links {
    /// Takes over an object as it is stored now; `before` is what a write has replaced.
    pub(crate) fn update(&mut self, place: Place, before: Option<&Object>, now: Option<Object>) {
        let is_gone = now.is_none();
        let known = self.linked.get(&place).cloned();
        let linked = now.and_then(Linked::of);
        if let Some((known, linked)) = known.as_ref().zip(linked.as_ref())
            && known.metadata == linked.metadata
        {
            // Nothing that the collector looks at has changed.
            self.linked.insert_mut(place, linked.clone());
            return;
        }
        let part = |linked: &Option<Linked>| {
            linked.as_ref().map_or(Owner::Solid, |linked| Owner::of(&linked.metadata))
        };
        let is_other_part = is_gone || part(&known) != part(&linked);
        if is_other_part && !self.dependents.is_empty() {
            let uid = match known.as_ref().or(linked.as_ref()) {
                Some(linked) => Some(linked.metadata.uid.clone()),
                None => before.and_then(metadata).map(|metadata| metadata.uid),
            };
            let dependents = uid.and_then(|uid| self.dependents.get(&uid));
            let places = dependents.into_iter().flat_map(|dependents| dependents.keys());
            self.touched.extend(places.cloned());
        }
        if let Some(known) = known {
            self.remove(&place, &known.metadata);
        }
        if let Some(linked) = linked {
            self.add(place, linked);
        }
    }

    fn remove(&mut self, place: &Place, metadata: &ObjectMeta) {
        self.linked.remove_mut(place);
        self.deleted.remove_mut(&metadata.uid);
        for reference in &metadata.owner_references {
            let Some(mut places) = self.dependents.get(&reference.uid).cloned() else { continue };
            places.remove_mut(place);
            if places.is_empty() {
                self.dependents.remove_mut(&reference.uid);
            } else {
                self.dependents.insert_mut(reference.uid.clone(), places);
            }
            // The owner may have waited for this.
            self.touched.extend(self.deleted.get(&reference.uid).cloned());
        }
    }

    fn add(&mut self, place: Place, linked: Linked) {
        let metadata = &linked.metadata;
        if !metadata.deletion_timestamp.is_zero() {
            self.deleted.insert_mut(metadata.uid.clone(), place.clone());
        }
        for reference in &metadata.owner_references {
            let mut places = self.dependents.get(&reference.uid).cloned().unwrap_or_default();
            let blocks = reference.block_owner_deletion == Some(true)
                || places.get(&place).copied().unwrap_or_default();
            places.insert_mut(place.clone(), blocks);
            self.dependents.insert_mut(reference.uid.clone(), places);
        }
        self.touched.insert(place.clone());
        self.linked.insert_mut(place, linked);
    }

    /// Lets the collector look at everything, as other kinds are known now.
    pub(crate) fn touch_all(&mut self) {
        self.all_touched = true;
    }

    /// Lets the collector look at an object again.
    pub(crate) fn touch(&mut self, place: Place) {
        self.touched.insert(place);
    }

    /// Whether there is something to look at.
    pub(crate) fn is_touched(&self) -> bool {
        self.all_touched || !self.touched.is_empty()
    }

    /// Returns what is to be looked at, once.
    pub(crate) fn take_touched(&mut self) -> BTreeSet<Place> {
        let touched = std::mem::take(&mut self.touched);
        match std::mem::take(&mut self.all_touched) {
            true => self.linked.keys().cloned().collect(),
            false => touched,
        }
    }

    pub(crate) fn get(&self, place: &Place) -> Option<&Linked> {
        self.linked.get(place)
    }

    /// Whether any object names an owner.
    pub(crate) fn is_owner(&self, uid: &str) -> bool {
        self.dependents.contains_key(uid)
    }

    /// Whether an object that names an owner waits for its own dependents.
    pub(crate) fn has_waiting_dependent(&self, uid: &str) -> bool {
        let places = self.dependents.get(uid).into_iter().flat_map(RedBlackTreeMapSync::keys);
        let mut linked = places.filter_map(|place| self.linked.get(place));
        linked.any(|linked| Owner::of(&linked.metadata) == Owner::Waiting)
    }

    /// Whether an object blocks the deletion of an owner.
    pub(crate) fn is_blocked(&self, uid: &str) -> bool {
        // Those that block are few, or go soon.
        self.dependents.get(uid).is_some_and(|places| places.values().any(|blocks| *blocks))
    }
}
