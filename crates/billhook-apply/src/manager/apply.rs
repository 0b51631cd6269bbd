//! Apply: merge, ownership, conflicts (SA-61, SA-62, SA-72 to SA-76).

use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{Status, TypeMeta};
use serde_json::{Map, Value};

use super::adapt::adapt;
use super::conflict::{Conflict, Conflicts};
use super::managed_fields::{
    ManagedFields, ManagedFieldsError, ManagedFieldsOperation, ManagerEntry, put_managed_fields,
};
use super::prune::prune;
use super::update::UpdateError;
use super::versions::{ComparisonError, ConversionError, Differences, Versioned};
use super::{FieldManager, NEVER_OWNED};
use crate::edit::Edit;
use crate::field_set::FieldSet;
use crate::fields::Fields;
use crate::merge::Merge;
use crate::path_element::PathElement;
use crate::schema::MergeSchema;
use crate::type_check::Duplicates;
use crate::type_error::TypeErrors;
use crate::typed_value::TypedValue;

/// The manager of all fields of an object that has no owner at its first apply (SA-62).
const FIRST: &str = "before-first-apply";

/// An apply that a server refuses; prints the message of the status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// The entries of the live object cannot be read.
    #[error("failed to decode managed fields: {0}")]
    ManagedFields(#[from] ManagedFieldsError),
    /// The configuration is not of the type of the request.
    #[error("invalid object type: {found}")]
    ObjectType {
        /// The type of the configuration, as the server prints it.
        found: String,
    },
    /// The fields of an object without entries cannot be tracked.
    #[error("failed to create manager for existing fields: {0}")]
    ExistingFields(UpdateError),
    /// The configuration has managed fields.
    #[error("metadata.managedFields must be nil")]
    ConfigurationWithManagedFields,
    /// The configuration does not fit its merge types.
    #[error("failed to create typed patch object ({subject}): {errors}")]
    Configuration {
        /// Namespace, name and type of the object.
        subject: String,
        /// The places that do not fit.
        errors: TypeErrors,
    },
    /// The live object does not fit its merge types.
    #[error("failed to create typed live object ({subject}): {errors}")]
    Live {
        /// Namespace, name and type of the object.
        subject: String,
        /// The places that do not fit.
        errors: TypeErrors,
    },
    /// An object cannot be converted to the version of an entry (SA-91).
    #[error("{step}{error}")]
    Conversion {
        /// The step of the apply, as the server's text begins.
        step: String,
        /// The reason.
        error: ConversionError,
    },
    /// Others own fields that the configuration sets to other values.
    #[error(transparent)]
    Conflicts(#[from] Conflicts),
}

impl MergeError {
    /// Returns the status that the client gets.
    pub fn to_status(&self) -> Status {
        match self {
            MergeError::Conflicts(conflicts) => conflicts.to_status(),
            MergeError::ObjectType { .. } | MergeError::ConfigurationWithManagedFields => {
                Status::bad_request(self.to_string())
            }
            _ => Status::failure(500, "", self.to_string()),
        }
    }

    fn conversion(step: &str, error: ConversionError) -> Self {
        MergeError::Conversion { step: step.to_owned(), error }
    }
}

impl From<ComparisonError> for MergeError {
    fn from(error: ComparisonError) -> Self {
        match error {
            ComparisonError::Old(error) => {
                MergeError::conversion("failed to convert old object: ", error)
            }
            ComparisonError::New(error) => {
                MergeError::conversion("failed to convert new object: ", error)
            }
        }
    }
}

impl FieldManager<'_> {
    /// Applies a configuration to an object, given with its managed fields. Returns whether anything
    /// but these changed (SA-76). An object whose apply fails stays as it is; one that is shared is
    /// not copied unless something changes.
    ///
    /// # Errors
    ///
    /// If the configuration or the live object does not fit the merge types, an object cannot be
    /// converted to the version of an entry, or, without `force`, others own fields that the
    /// configuration changes. The errors come in the server's order (SA-61).
    pub fn apply(
        &self,
        live: &mut DeepValue,
        config: &Value,
        force: bool,
    ) -> Result<bool, MergeError> {
        let schema = self.schema().map_err(|error| MergeError::conversion("", error))?;
        let merge = self.merge_as_written(schema, live, config);
        if merge.as_ref().is_some_and(Merge::changes_nothing) {
            return Ok(false);
        }
        let apply = Apply::new(self, schema, config);
        if let Some(applied) = merge.and_then(|merge| apply.as_written(live, merge, force)) {
            return applied;
        }
        let managed = ManagedFields::of(live)?;
        let taken = ManagedFields::take_out(live);
        let applied = apply.to_object(live, true, managed, force);
        if let (Err(_), Some(taken)) = (&applied, taken) {
            put_managed_fields(live, taken);
        }
        applied
    }

    /// Applies a configuration to an object that does not exist yet.
    ///
    /// # Errors
    ///
    /// If the configuration does not fit the merge types.
    pub fn create(&self, config: &Value) -> Result<DeepValue, MergeError> {
        let schema = self.schema().map_err(|error| MergeError::conversion("", error))?;
        let mut object = DeepValue::from(self.nothing());
        let apply = Apply::new(self, schema, config);
        apply.to_object(&mut object, false, ManagedFields::default(), false)?;
        Ok(object)
    }

    /// SA-61, steps 6 and 7.
    fn check_objects(
        &self,
        schema: &MergeSchema,
        live: &Value,
        config: &Value,
    ) -> Result<(), MergeError> {
        schema.check(config, Duplicates::Refused).map_err(|errors| MergeError::Configuration {
            subject: self.subject(config),
            errors,
        })?;
        schema
            .check(live, Duplicates::Allowed)
            .map_err(|errors| MergeError::Live { subject: self.subject(live), errors })?;
        Ok(())
    }

    /// SA-61, step 3.
    pub(super) fn check_type(&self, config: &Value) -> Result<(), MergeError> {
        let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if api_version == self.api_version && kind == self.kind {
            return Ok(());
        }
        let found = TypeMeta::new(api_version, kind).unwrap_or_default();
        let found = format!("{}/{}, Kind={kind}", found.group, found.version);
        Err(MergeError::ObjectType { found })
    }

    /// SA-62.
    fn first_entry(&self, live: &Value) -> Result<ManagedFields, MergeError> {
        let first = FieldManager { manager: FIRST, ..*self };
        first.creation(live, None).map_err(MergeError::ExistingFields)
    }
}

/// The apply of a configuration.
struct Apply<'a> {
    manager: &'a FieldManager<'a>,
    schema: &'a MergeSchema,
    config: &'a Value,
    /// The manager's entry, without fields and time.
    entry: ManagerEntry,
    /// Its identity.
    id: String,
}

impl<'a> Apply<'a> {
    fn new(manager: &'a FieldManager<'a>, schema: &'a MergeSchema, config: &'a Value) -> Self {
        let entry = manager.entry(ManagedFieldsOperation::Apply);
        let id = entry.identity();
        Apply { manager, schema, config, entry, id }
    }

    /// Applies to an object whose entries need not be read; none if they have to be.
    fn as_written(
        &self,
        live: &mut Value,
        mut merge: Merge<'_>,
        force: bool,
    ) -> Option<Result<bool, MergeError>> {
        let change = merge.ownership.take()?;
        let mut managed = ManagedFields::take_written(live);
        managed.with(&self.id, |own| change.make(&mut own.fields));
        let applied = self.edit(live, &mut managed, merge, &change.lost, force);
        if !matches!(applied, Some(Ok(_))) {
            managed.with(&self.id, |own| change.undo(&mut own.fields));
        }
        managed.remove_empty();
        managed.write_to(live);
        applied
    }

    /// Makes the edit of a merge and removes the fields without an owner from an object
    /// without managed fields, all of which are owned in its version. Returns whether anything
    /// changes; none if the removal is not so simple. Then, and if it fails, the object stays as it
    /// is.
    fn edit(
        &self,
        live: &mut Value,
        managed: &mut ManagedFields,
        merge: Merge<'_>,
        lost: &FieldSet,
        force: bool,
    ) -> Option<Result<bool, MergeError>> {
        let excused = self.manager.fields_of_last_applied(self.typed(live));
        let compared = merge.edit.as_ref().map(|edit| self.typed(live).compare_edited(edit));
        let undo = merge.edit.map(|edit| edit.apply_to(live));
        let leaving = match lost.is_empty() {
            true => Some(FieldSet::default()),
            false => {
                let never = Fields::Read(self.never_owned());
                self.typed(live).leaving(lost, managed.owners().and(&never))
            }
        };
        let removal = leaving.as_ref().and_then(|leaving| self.typed(live).removal(leaving));
        let removed = removal.as_ref().map(|removal| self.typed(live).compare_edited(removal));
        let comparison = compared.unwrap_or_default().union(&removed.unwrap_or_default());
        let mut differences = Differences::new(self.manager.versions, self.manager.subresource);
        differences.add(self.manager.api_version, comparison);
        let conflicts = match force {
            true => None,
            false => self.conflicts(managed, &differences, excused.as_ref()),
        };
        let is_changed = merge.is_changed || removal.is_some();
        if !is_changed || leaving.is_none() || conflicts.is_some() {
            undo.map(|undo| undo.apply_to(live));
            leaving.as_ref()?;
            return Some(conflicts.map_or(Ok(false), |conflicts| Err(conflicts.into())));
        }
        removal.map(|removal| removal.apply_to(live));
        self.take_fields(managed, &differences);
        Some(Ok(true))
    }

    /// The fields of the configuration that have no owner in the end, but that keep their parents
    /// (SA-35, SA-73).
    fn never_owned(&self) -> FieldSet {
        let never = |name: &str, fields: &FieldSet| {
            fields.get(&PathElement::field(name)).map(|node| node.children.clone())
        };
        let mut part = Map::new();
        for (name, value) in self.config.as_object().into_iter().flatten() {
            let Some(below) = never(name, &NEVER_OWNED) else { continue };
            let value = match value {
                Value::Object(members) => {
                    let members = members.iter().filter(|(name, _)| never(name, &below).is_some());
                    members.map(|(name, value)| (name.clone(), deep_clone(value))).collect()
                }
                other => deep_clone(other),
            };
            part.insert(name.clone(), value);
        }
        let part = DeepValue::from(Value::Object(part));
        let FieldManager { versions, api_version, subresource, .. } = *self.manager;
        let reset = versions.reset_fields(api_version, subresource);
        self.typed(&part).field_set().intersection(&NEVER_OWNED).recursive_difference(&reset)
    }

    /// Applies to an object without managed fields; these are its entries.
    fn to_object(
        &self,
        live: &mut Value,
        exists: bool,
        mut managed: ManagedFields,
        force: bool,
    ) -> Result<bool, MergeError> {
        let FieldManager { versions, api_version, .. } = *self.manager;
        self.manager.check_type(self.config)?;
        if managed.is_empty() && exists {
            managed = self.manager.first_entry(live)?;
        }
        let entries = self.config.pointer("/metadata/managedFields");
        if entries.is_some_and(Value::is_array) {
            return Err(MergeError::ConfigurationWithManagedFields);
        }
        let merge = Merge::new(self.schema.root(), live, self.config, None);
        if !merge.fits {
            self.manager.check_objects(self.schema, live, self.config)?;
        }
        let versioned = Versioned::new(api_version, self.typed(live));
        adapt(&mut managed, &versioned, versions)
            .map_err(|error| MergeError::conversion("", error))?;
        let last = self.replace_own(&mut managed);
        let lost = self.lost(&managed, last.as_ref());
        let applied = lost.and_then(|lost| self.edit(live, &mut managed, merge, &lost, force));
        let is_changed = match applied {
            Some(applied) => applied?,
            None => self.in_versions(live, &mut managed, last.as_ref(), force)?,
        };
        managed.with(&self.id, |own| own.fields.subtract(&NEVER_OWNED));
        managed.remove_empty();
        managed.write_to(live);
        Ok(is_changed)
    }

    /// Sets the manager's entry. Returns the last one if it had fields.
    fn replace_own(&self, managed: &mut ManagedFields) -> Option<ManagerEntry> {
        let FieldManager { versions, api_version, subresource, .. } = *self.manager;
        let reset = versions.reset_fields(api_version, subresource);
        let fields = self.typed(self.config).field_set().recursive_difference(&reset);
        let mut own = self.entry.clone();
        own.fields = Fields::Read(fields);
        let last = managed.0.remove(&self.id);
        own.time = last.as_ref().map(|last| last.time).unwrap_or_default();
        managed.insert(own);
        last.filter(|last| !last.fields.is_empty())
    }

    /// The fields that the manager gives up; none if fields of another version have an owner, or the
    /// last entry is not as an apply makes it.
    fn lost(&self, managed: &ManagedFields, last: Option<&ManagerEntry>) -> Option<FieldSet> {
        let mut entries = managed.entries().chain(last);
        let last = last.map(ManagerEntry::fields).unwrap_or_default();
        let is_simple = entries.all(|entry| entry.api_version == self.manager.api_version)
            && self.schema.is_of_apply(&last);
        let own = managed.0.get(&self.id).filter(|_| is_simple)?;
        Some(last.difference(&own.fields()))
    }

    /// Applies to an object without managed fields, which may be owned in several versions. Returns
    /// whether anything changes.
    fn in_versions(
        &self,
        live: &mut Value,
        managed: &mut ManagedFields,
        last: Option<&ManagerEntry>,
        force: bool,
    ) -> Result<bool, MergeError> {
        let FieldManager { versions, api_version, subresource, .. } = *self.manager;
        let old = Versioned::new(api_version, self.typed(live));
        let merged = old.merged(self.typed(self.config));
        let new = match last {
            Some(last) => prune(&merged, last, managed, versions).map_err(|error| {
                let error = ConversionError::new(error.to_string());
                MergeError::conversion("failed to prune fields: ", error)
            })?,
            None => merged,
        };
        if old.is_equal(&new) {
            return Ok(false);
        }
        let mut differences = Differences::new(versions, subresource);
        for entry in self.others(managed) {
            differences.compare(&old, &new, &entry.api_version)?;
        }
        let excused = self.manager.fields_of_last_applied(old.typed());
        if !force && let Some(conflicts) = self.conflicts(managed, &differences, excused.as_ref()) {
            return Err(conflicts.into());
        }
        let new = Edit::Made(new.into_object());
        new.apply_to(live);
        self.take_fields(managed, &differences);
        Ok(true)
    }

    fn typed<'v>(&'v self, object: &'v Value) -> TypedValue<'v> {
        TypedValue::checked(self.schema, object)
    }

    /// The entries of other managers, or other ones of the manager.
    fn others<'m>(&self, managed: &'m ManagedFields) -> impl Iterator<Item = &'m ManagerEntry> {
        managed.0.iter().filter(|(id, _)| **id != self.id).map(|(_, entry)| entry)
    }

    /// The fields of others that change (SA-74).
    fn conflicts(
        &self,
        managed: &ManagedFields,
        differences: &Differences<'_>,
        excused: Option<&FieldSet>,
    ) -> Option<Conflicts> {
        let conflicts = self.others(managed).filter_map(|entry| {
            let fields = entry.fields.intersection(&differences.get(&entry.api_version)?.changed);
            (!fields.is_empty()).then(|| Conflict { owner: entry.clone(), fields })
        });
        let conflicts = Conflicts::new(conflicts.collect())?;
        match excused {
            Some(fields) => conflicts.without(fields),
            None => Some(conflicts),
        }
    }

    /// Takes what changes from other managers.
    fn take_fields(&self, managed: &mut ManagedFields, differences: &Differences<'_>) {
        for (id, entry) in &mut managed.0 {
            match *id == self.id {
                true => entry.time = self.manager.now,
                false => entry.lose(differences),
            }
        }
    }
}
