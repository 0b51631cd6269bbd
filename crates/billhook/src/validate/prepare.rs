//! The changes a server makes to a decoded object before it validates it (RP-45, RP-70).

use billhook_apimachinery::value::{DeepValue, deep_clone, deep_clone_from, deep_eq, dismantle};
use serde_json::{Map, Value};

use crate::crd::{CrdVersion, ObjectType, Scope};

/// The metadata fields of a new object that only the server writes.
const SERVER_FIELDS: [&str; 5] =
    ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"];

pub(super) const STATUS: &str = "status";

/// Removes the metadata that only the server writes from the body of a create: `uid`,
/// `creationTimestamp`, `deletionTimestamp`, `deletionGracePeriodSeconds` and `selfLink` (RP-45).
/// A server does this before admission: what webhooks set there stays.
pub fn remove_server_fields(object: &mut Value) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    for name in SERVER_FIELDS {
        remove(metadata, name);
    }
}

impl CrdVersion {
    /// Prepares a decoded object for a create (RP-45): drops status if there is a status
    /// subresource and sets the generation to 1; does not invent `uid` and `creationTimestamp`
    /// ([`remove_server_fields`] drops those of a client). An object without a namespace gets that
    /// of the request; one that cannot have a namespace loses it.
    pub fn prepare_create(&self, object: &mut Value, namespace: &str) {
        let Value::Object(members) = object else { return };
        let object_type = self.definition().object_type();
        if self.has_status_subresource() && !object_type.is_some_and(ObjectType::takes_status) {
            remove(members, STATUS);
        }
        let Some(metadata) = metadata_mut(members) else { return };
        metadata.insert("generation".to_owned(), Value::from(1));
        self.set_namespace(metadata, namespace);
        if let Some(object_type) = object_type {
            object_type.prepare(object, None, false);
        }
    }

    /// Prepares a decoded object for an update (RP-45): if there is a status subresource, status is
    /// that of the old object; the generation is the old one, plus one if anything except metadata
    /// changes.
    pub fn prepare_update(&self, object: &mut Value, old: &Value) {
        let Value::Object(members) = object else { return };
        if self.has_status_subresource() {
            copy(members, old, STATUS);
        }
        let changed = !equal_but_metadata(members, old);
        let generation = old.pointer("/metadata/generation").and_then(Value::as_i64);
        let Some(metadata) = metadata_mut(members) else { return };
        match generation.unwrap_or(0).saturating_add(i64::from(changed)) {
            0 => remove(metadata, "generation"),
            generation => {
                metadata.insert("generation".to_owned(), Value::from(generation));
            }
        }
        if let Some(object_type) = self.definition().object_type() {
            object_type.prepare(object, Some(old), false);
        }
    }

    /// Prepares a decoded object for an update of the status subresource (RP-70): of the new object
    /// only status and `managedFields` count.
    pub fn prepare_status_update(&self, object: &mut Value, old: &Value) {
        let mut new = DeepValue::from(object.take());
        let mut new = new.as_object_mut();
        let mut take = |name: &str| new.as_mut().and_then(|new| new.remove(name));
        let (status, metadata) = (take(STATUS), take("metadata").map(DeepValue::from));
        let object_type = self.definition().object_type();
        let takes_metadata = object_type.is_some_and(ObjectType::takes_metadata)
            && metadata.as_deref().is_some_and(Value::is_object);
        let kept = old.as_object().into_iter().flatten().filter(|(name, _)| *name != STATUS);
        let mut members: Map<String, Value> = kept
            .filter(|(name, _)| *name != "metadata")
            .map(|(name, value)| (name.clone(), copied(value, take(name))))
            .collect();
        members.extend(status.map(|status| (STATUS.to_owned(), status)));
        let metadata = status_metadata(metadata, old.get("metadata"), takes_metadata);
        members.insert("metadata".to_owned(), metadata);
        *object = Value::Object(members);
        if let Some(object_type) = object_type {
            object_type.prepare(object, Some(old), true);
        }
    }

    fn set_namespace(&self, metadata: &mut Map<String, Value>, namespace: &str) {
        match self.definition().scope() {
            Scope::Cluster => remove(metadata, "namespace"),
            Scope::Namespaced if !metadata.contains_key("namespace") && !namespace.is_empty() => {
                metadata.insert("namespace".to_owned(), Value::from(namespace));
            }
            Scope::Namespaced => {}
        }
    }
}

/// Returns the metadata, created if missing; `None` if it is not an object.
fn metadata_mut(members: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    let metadata = members.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    metadata.as_object_mut()
}

/// Returns the metadata of an object whose status is updated: that of the new object but the
/// generation, or else that of the old one but `managedFields`.
fn status_metadata(new: Option<DeepValue>, old: Option<&Value>, takes_new: bool) -> Value {
    let new = new.map(DeepValue::into_inner).unwrap_or_default();
    let (mut metadata, own, other) = match takes_new {
        true => (new, "generation", old.and_then(|old| old.get("generation")).map(deep_clone)),
        false => {
            let kept = old.and_then(Value::as_object).into_iter().flatten();
            let kept = kept.filter(|(name, _)| *name != "managedFields");
            let kept = kept.map(|(name, value)| (name.clone(), deep_clone(value)));
            let mut new = DeepValue::from(new);
            let owners = new.as_object_mut().and_then(|new| new.remove("managedFields"));
            (Value::Object(kept.collect()), "managedFields", owners)
        }
    };
    if let Value::Object(members) = &mut metadata {
        match other {
            Some(value) => drop(members.insert(own.to_owned(), value)),
            None => remove(members, own),
        }
    }
    metadata
}

/// Makes a member equal to that of another object, or removes it.
fn copy(members: &mut Map<String, Value>, from: &Value, name: &str) {
    match from.get(name) {
        None => remove(members, name),
        Some(value) => deep_clone_from(members.entry(name).or_insert(Value::Null), value),
    }
}

/// Returns a copy of a value, made of the one in its place.
fn copied(value: &Value, in_place: Option<Value>) -> Value {
    let mut copy = in_place.unwrap_or_default();
    deep_clone_from(&mut copy, value);
    copy
}

pub(super) fn remove(members: &mut Map<String, Value>, name: &str) {
    if let Some(value) = members.remove(name) {
        dismantle(value);
    }
}

fn equal_but_metadata(members: &Map<String, Value>, old: &Value) -> bool {
    let Value::Object(old) = old else { return false };
    let others = |members: &Map<String, Value>| {
        members.len() - usize::from(members.contains_key("metadata"))
    };
    others(members) == others(old)
        && members.iter().all(|(key, value)| {
            key == "metadata" || old.get(key).is_some_and(|old| deep_eq(value, old))
        })
}
