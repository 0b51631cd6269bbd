//! Objects as controllers read them.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use billhook_apimachinery::value::{DeepValue, at};
use billhook_apiserver::storage;
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::reading::{Writes, read, read_whole};
use crate::resource::{Resource, split_key};

/// An object of a [`View`](crate::View): the stored one, read once for all who look at it.
pub struct Object {
    stored: storage::Object,
    value: OnceLock<DeepValue>,
}

/// The labels or annotations of an object that has none.
static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Object").field(&self.stored.key).finish()
    }
}

impl Object {
    pub(crate) fn new(stored: storage::Object) -> Self {
        Object { stored, value: OnceLock::new() }
    }

    /// Returns its document, without its resource version and its managed fields.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| read(&self.stored.text))
    }

    /// Reads its document with its managed fields.
    pub(crate) fn whole(&self) -> DeepValue {
        read_whole(&self.stored.text)
    }

    /// Returns who has written it, and when.
    pub(crate) fn writes(&self) -> Writes {
        Writes::read(&self.stored.text)
    }

    /// Returns a copy of its document with its resource version, to be changed and sent. Without managed
    /// fields, a request leaves these as they are.
    pub fn copy(&self) -> Value {
        let mut copy = self.value().clone();
        if let Some(Value::Object(metadata)) = copy.get_mut("metadata") {
            let version = self.stored.modified.to_string();
            metadata.insert("resourceVersion".to_owned(), version.into());
        }
        copy
    }

    /// Returns its key: `<namespace>/<name>`, or the name of an object of the cluster.
    pub fn key(&self) -> &Arc<str> {
        &self.stored.key
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        split_key(&self.stored.key).1
    }

    /// Returns its namespace; empty if it is one of the cluster.
    pub fn namespace(&self) -> &str {
        split_key(&self.stored.key).0
    }

    /// Returns its `metadata.uid`.
    pub fn uid(&self) -> &str {
        self.text("/metadata/uid")
    }

    /// Returns its resource version.
    pub fn revision(&self) -> u64 {
        self.stored.modified
    }

    /// Returns the revision that created it, which orders objects by age.
    pub fn created(&self) -> u64 {
        self.stored.created
    }

    /// Returns the member at a JSON pointer without escapes; null if it is absent.
    pub fn get(&self, pointer: &str) -> &Value {
        at(self.value(), pointer).unwrap_or(&Value::Null)
    }

    /// Returns the text at a JSON pointer; empty if it is absent.
    pub fn text(&self, pointer: &str) -> &str {
        self.get(pointer).as_str().unwrap_or_default()
    }

    /// Returns the integer at a JSON pointer, if it is there.
    pub fn int(&self, pointer: &str) -> Option<i64> {
        self.get(pointer).as_i64()
    }

    /// Returns the elements of the list at a JSON pointer.
    pub fn list(&self, pointer: &str) -> &[Value] {
        self.get(pointer).as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the time at a JSON pointer, if it is there.
    pub fn time(&self, pointer: &str) -> Option<Timestamp> {
        Timestamp::parse(self.text(pointer))
    }

    /// Returns its labels.
    pub fn labels(&self) -> &Map<String, Value> {
        self.get("/metadata/labels").as_object().unwrap_or_else(|| &NONE)
    }

    /// Returns its annotations.
    pub fn annotations(&self) -> &Map<String, Value> {
        self.get("/metadata/annotations").as_object().unwrap_or_else(|| &NONE)
    }

    /// Returns the value of an annotation, if it has it.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations().get(name)?.as_str()
    }

    /// Returns whether it is being deleted.
    pub fn is_deleting(&self) -> bool {
        !self.text("/metadata/deletionTimestamp").is_empty()
    }

    /// Returns its controller: the owner reference that has `controller: true`.
    pub fn controller(&self) -> Option<&Value> {
        let is_controller = |owner: &&Value| owner.get("controller") == Some(&Value::Bool(true));
        self.list("/metadata/ownerReferences").iter().find(is_controller)
    }

    /// Returns the UID of its controller; empty if it has none.
    pub fn controller_uid(&self) -> &str {
        let uid = self.controller().and_then(|owner| owner.get("uid")?.as_str());
        uid.unwrap_or_default()
    }

    /// Returns the key of its controller, if that is of a resource.
    pub fn controller_key(&self, resource: &Resource) -> Option<Arc<str>> {
        let owner = self.controller()?;
        let is_of_resource = owner.get("kind")?.as_str()? == resource.kind
            && resource.is_api_version(owner.get("apiVersion")?.as_str()?);
        let name = owner.get("name")?.as_str()?;
        is_of_resource.then(|| [self.namespace(), "/", name].concat().into())
    }

    /// Returns the condition of a type in its status, if it is there.
    pub fn condition(&self, name: &str) -> Option<&Value> {
        let conditions = self.list("/status/conditions").iter();
        conditions.into_iter().find(|it| it.get("type").and_then(Value::as_str) == Some(name))
    }

    /// Returns whether the condition of a type is `True`.
    pub fn is_condition_true(&self, name: &str) -> bool {
        let status = self.condition(name).and_then(|condition| condition.get("status"));
        status.and_then(Value::as_str) == Some("True")
    }
}
