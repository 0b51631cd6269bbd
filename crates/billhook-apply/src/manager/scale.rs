//! Ownership of replicas that are written through the scale subresource (SA-95).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps};
use serde_json::{Value, json};

use super::FieldManager;
use super::apply::MergeError;
use super::managed_fields::{ManagedFields, ManagerEntry};
use super::update::UpdateError;
use super::versions::{ConversionError, Versions};
use crate::field_set::{FieldSet, OwnedPath};
use crate::fields::Fields;
use crate::path_element::PathElement;
use crate::schema::MergeSchema;

const API_VERSION: &str = "autoscaling/v1";
const KIND: &str = "Scale";
const SUBRESOURCE: &str = "scale";

/// The place of the replicas in a version of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplicasPath {
    /// The definition does not have the version.
    UnknownVersion,
    /// The version does not have the scale subresource.
    NoScale,
    /// The replicas are here.
    At(OwnedPath),
}

/// The field management of one write to the scale subresource of an object. Fields are tracked on
/// the `Scale`; the entries of the object follow.
pub struct ScaleManager<'a> {
    path_in: &'a dyn Fn(&str) -> ReplicasPath,
    /// Group and version of the URL.
    api_version: &'a str,
    manager: &'a str,
    now: Time,
    converts: bool,
}

impl fmt::Debug for ScaleManager<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScaleManager")
            .field("manager", &self.manager)
            .field("api_version", &self.api_version)
            .finish_non_exhaustive()
    }
}

impl<'a> ScaleManager<'a> {
    /// Returns the field management of a manager for objects of a version, given as
    /// `group/version`. `path_in` tells where the replicas are in each version.
    pub fn new(
        path_in: &'a dyn Fn(&str) -> ReplicasPath,
        api_version: &'a str,
        manager: &'a str,
        now: Time,
    ) -> Self {
        ScaleManager { path_in, api_version, manager, now, converts: false }
    }

    /// Lets the `Scale` of a built-in kind be applied, which a server converts as custom resources
    /// are not (BK-308).
    #[must_use]
    pub fn converts(mut self, converts: bool) -> Self {
        self.converts = converts;
        self
    }

    /// Returns the entries that a `Scale` has: those that own the replicas of its object.
    pub fn entries_of_scale(&self, object: &ManagedFields) -> ManagedFields {
        let mut managed = ManagedFields::default();
        for entry in object.entries() {
            if let ReplicasPath::At(path) = (self.path_in)(&entry.api_version)
                && entry.fields().contains(path.elements())
            {
                managed.insert(in_scale(entry));
            }
        }
        managed
    }

    /// Returns the entries of a `Scale` after a write other than an apply. Without owners of the
    /// replicas, nothing is tracked.
    ///
    /// # Errors
    ///
    /// If a `Scale` does not fit its merge types.
    pub fn update(
        &self,
        managed: ManagedFields,
        old: &Value,
        new: &Value,
    ) -> Result<ManagedFields, UpdateError> {
        if managed.is_empty() {
            return Ok(managed);
        }
        self.on_scale().update(managed, old, new)
    }

    /// Applies a configuration to a `Scale`, given with its entries. Returns the same `Scale` with
    /// its new entries.
    ///
    /// # Errors
    ///
    /// As for any apply. A server cannot apply a change of a custom resource's `Scale`, nor anything to
    /// one whose replicas have no owner.
    pub fn apply(
        &self,
        live: &Value,
        config: &Value,
        force: bool,
    ) -> Result<DeepValue, MergeError> {
        let is_first = ManagedFields::of(live)?.is_empty();
        let on_scale = self.on_scale();
        let mut scale = DeepValue::from(deep_clone(live));
        let applied = on_scale.apply(&mut scale, config, force);
        if is_first && !self.converts && !matches!(applied, Err(MergeError::ObjectType { .. })) {
            let step =
                "failed to create manager for existing fields: failed to convert live object";
            return Err(inconvertible(step, &on_scale.subject(&Value::Null)));
        }
        match applied? {
            true if !self.converts => {
                Err(inconvertible("failed to convert new object", &on_scale.subject(config)))
            }
            _ => Ok(scale),
        }
    }

    /// Returns the entries of an object after a write that left these entries to its `Scale`.
    pub fn entries_of_object(
        &self,
        object: &ManagedFields,
        scale: &ManagedFields,
    ) -> ManagedFields {
        let mut managed = ManagedFields::default();
        let mut kept = BTreeSet::new();
        for entry in object.entries() {
            let mut entry = entry.clone();
            match (self.path_in)(&entry.api_version) {
                ReplicasPath::UnknownVersion => continue,
                ReplicasPath::At(path) if entry.fields().contains(path.elements()) => {
                    let id = in_scale(&entry).identity();
                    if scale.0.contains_key(&id) {
                        kept.insert(id);
                    } else {
                        entry.fields.subtract(&FieldSet::from_iter([path]));
                    }
                }
                _ => {}
            }
            managed.insert(entry);
        }
        if let ReplicasPath::At(path) = (self.path_in)(self.api_version) {
            let new = scale.0.iter().filter(|(id, _)| !kept.contains(*id)).map(|(_, entry)| entry);
            for entry in new.filter(|entry| entry.fields().contains(replicas().elements())) {
                let api_version = self.api_version.to_owned();
                let mut entry = ManagerEntry { api_version, ..entry.clone() };
                let last = object.0.get(&entry.identity());
                entry.time = last.map(|last| last.time).unwrap_or_default();
                entry.fields = Fields::Read(FieldSet::from_iter([path.clone()]));
                managed.insert(entry);
            }
        }
        managed.remove_empty();
        managed
    }

    fn on_scale(&self) -> FieldManager<'a> {
        FieldManager::new(&Scales, (API_VERSION, KIND), self.manager, self.now)
            .subresource(SUBRESOURCE)
    }
}

/// The path of the replicas in a `Scale`.
fn replicas() -> OwnedPath {
    OwnedPath::from(["spec", "replicas"].map(PathElement::field).to_vec())
}

/// An entry that owns the replicas, as the `Scale` has it.
fn in_scale(entry: &ManagerEntry) -> ManagerEntry {
    let fields = Fields::Read(FieldSet::from_iter([replicas()]));
    ManagerEntry { api_version: API_VERSION.to_owned(), fields, ..entry.clone() }
}

fn inconvertible(step: &str, subject: &str) -> MergeError {
    MergeError::Conversion {
        step: format!("{step} ({subject}) to proper version: "),
        error: no_version(API_VERSION),
    }
}

fn no_version(api_version: &str) -> ConversionError {
    ConversionError::new(format!(
        "request to convert CR to an invalid group/version: {api_version}"
    ))
}

/// The only version of `Scale`.
struct Scales;

static SCHEMA: LazyLock<MergeSchema> = LazyLock::new(|| {
    let schema = JsonSchemaProps::from_value(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
        "status": {"type": "object", "properties": {
            "replicas": {"type": "integer"}, "selector": {"type": "string"}}},
    }}));
    let schema = schema.unwrap_or_default();
    let compiled = CompiledSchema::of_part(&schema, CompileOptions::default());
    MergeSchema::new(&compiled, &schema, false)
});

impl Versions for Scales {
    fn merge_schema(&self, api_version: &str) -> Option<&MergeSchema> {
        (api_version == API_VERSION).then(|| &*SCHEMA)
    }

    fn convert(&self, _: &Value, api_version: &str) -> Result<DeepValue, ConversionError> {
        Err(no_version(api_version))
    }

    fn reset_fields(&self, _: &str, _: &str) -> FieldSet {
        FieldSet::default()
    }
}
