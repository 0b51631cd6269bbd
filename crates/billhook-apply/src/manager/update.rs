//! Tracking of updates: every write except an apply (SA-54).

use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

use super::adapt::adapt;
use super::managed_fields::{
    ManagedFields, ManagedFieldsError, ManagedFieldsOperation, ManagerEntry,
};
use super::versions::{ComparisonError, ConversionError, Differences, Versioned};
use super::{FieldManager, NEVER_OWNED};
use crate::field_set::{Below, FieldSet};
use crate::fields::{Fields, NO_FIELDS};
use crate::fields_v1::is_current;
use crate::new_fields::{LeftOut, new_fields_json};
use crate::schema::MergeSchema;
use crate::type_check::Duplicates;
use crate::type_error::TypeErrors;
use crate::typed_value::TypedValue;

/// An update that cannot be tracked. A server then stores the object without managed fields
/// (SA-52).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The new object does not fit its merge types.
    #[error("failed to convert new object ({subject}) to smd typed: {errors}")]
    New {
        /// Namespace, name and type of the object.
        subject: String,
        /// The places that do not fit.
        errors: TypeErrors,
    },
    /// The live object does not fit its merge types.
    #[error("failed to convert live object ({subject}) to smd typed: {errors}")]
    Live {
        /// Namespace, name and type of the object.
        subject: String,
        /// The places that do not fit.
        errors: TypeErrors,
    },
    /// An object cannot be compared in the version of an entry.
    #[error(transparent)]
    Conversion(#[from] ConversionError),
}

impl From<ComparisonError> for UpdateError {
    fn from(error: ComparisonError) -> Self {
        match error {
            ComparisonError::Old(error) | ComparisonError::New(error) => error.into(),
        }
    }
}

impl FieldManager<'_> {
    /// Reads `metadata.managedFields` for an update, as [`ManagedFields::of`] does.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the first entry that cannot be read (SA-33).
    pub fn entries(
        &self,
        mut managed_fields: DeepValue,
    ) -> Result<ManagedFields, ManagedFieldsError> {
        let entries = managed_fields.as_array_mut().into_iter().flatten();
        ManagedFields::read(entries, |api_version, entry| {
            let schema = self.versions.merge_schema(api_version)?;
            let fields = entry.get_mut("fieldsV1")?;
            is_current(Some(schema.root()), fields).then(|| fields.take().into())
        })
    }

    /// Returns the entries of a new object that is created otherwise than by an apply. The fields of
    /// an empty one have no owner, if it is given. Both are without managed fields.
    ///
    /// # Errors
    ///
    /// If an object does not fit the merge types.
    pub fn creation(
        &self,
        new: &Value,
        empty: Option<&Value>,
    ) -> Result<ManagedFields, UpdateError> {
        let schema = self.schema()?;
        let nothing = if empty.is_some() { Value::Null } else { self.nothing() };
        let empty = empty.unwrap_or(&nothing);
        self.check(schema, empty, new)?;
        let reset = self.versions.reset_fields(self.api_version, self.subresource);
        let left_out = LeftOut { whole: &reset, alone: &NEVER_OWNED };
        let Some(json) = new_fields_json(schema.root(), empty, new, left_out) else {
            return self.update(ManagedFields::default(), empty, new);
        };
        let mut managed = ManagedFields::default();
        if json != NO_FIELDS {
            let mut entry = self.entry(ManagedFieldsOperation::Update);
            entry.fields = Fields::Printed(json.into());
            entry.time = self.now;
            managed.insert(entry);
        }
        Ok(managed)
    }

    /// Returns the entries after a write that makes a new object of an old one. Both are given
    /// without their managed fields; the old one of a creation has its type only.
    ///
    /// # Errors
    ///
    /// If an object does not fit the merge types, or cannot be compared in the version of an
    /// entry.
    pub fn update(
        &self,
        mut managed: ManagedFields,
        old: &Value,
        new: &Value,
    ) -> Result<ManagedFields, UpdateError> {
        let schema = self.schema()?;
        let (old, new) = self.check(schema, old, new)?;
        let (old, new) =
            (Versioned::new(self.api_version, old), Versioned::new(self.api_version, new));
        adapt(&mut managed, &old, self.versions)?;
        let mut differences = Differences::new(self.versions, self.subresource);
        for entry in managed.entries() {
            differences.compare(&old, &new, &entry.api_version)?;
        }
        let own = differences.compare(&old, &new, self.api_version)?;
        managed.0.values_mut().for_each(|entry| entry.lose(&differences));
        managed.remove_empty();
        self.take(&mut managed, own.changed);
        managed.cap();
        Ok(managed)
    }

    /// Checks the old and the new object of a write, the new one first.
    fn check<'v>(
        &self,
        schema: &'v MergeSchema,
        old: &'v Value,
        new: &'v Value,
    ) -> Result<(TypedValue<'v>, TypedValue<'v>), UpdateError> {
        let typed = |object| schema.check(object, Duplicates::Allowed);
        let checked =
            typed(new).map_err(|errors| UpdateError::New { subject: self.subject(new), errors })?;
        let old = typed(old)
            .map_err(|errors| UpdateError::Live { subject: self.subject(old), errors })?;
        Ok((old, checked))
    }

    /// Adds the changed fields to the entry of the manager.
    fn take(&self, managed: &mut ManagedFields, mut changed: FieldSet) {
        changed.subtract(&NEVER_OWNED, Below::Stays);
        let new = self.entry(ManagedFieldsOperation::Update);
        let id = new.identity();
        let mut entry = managed.0.remove(&id).unwrap_or(new);
        entry.fields.subtract(&NEVER_OWNED);
        if !changed.is_empty() {
            entry.fields.add(&changed);
            entry.time = self.now;
        }
        if !entry.fields.is_empty() {
            managed.0.insert(id, entry);
        }
    }
}

impl ManagerEntry {
    /// Takes away what another write changed or removed.
    pub(super) fn lose(&mut self, differences: &Differences<'_>) {
        if let Some(difference) = differences.get(&self.api_version) {
            self.fields.subtract(&difference.lost);
        }
    }
}
