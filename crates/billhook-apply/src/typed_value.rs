//! Values that fit their merge type, and what can be done with them.

use billhook_apimachinery::FieldPath;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use crate::atomics::atomics;
use crate::compare::{Comparison, compare, compare_edited};
use crate::edit::Edit;
use crate::field_set::{FieldSet, OwnedPath};
use crate::foreign::ForeignValues;
use crate::lost_fields::Place;
use crate::merge::Merge;
use crate::owners::Owners;
use crate::remove::removal;
use crate::schema::MergeSchema;
use crate::type_check::{Duplicates, check};
use crate::type_error::TypeErrors;
use crate::value_set::{closure, is_of_apply, set_of};
use crate::values::{owned_path, values_at};

/// An object that fits a [`MergeSchema`].
#[derive(Clone, Copy, Debug)]
pub struct TypedValue<'a> {
    schema: &'a MergeSchema,
    value: &'a Value,
}

impl MergeSchema {
    /// Checks an object against the merge types; it need not be valid beyond that (SA-10).
    ///
    /// # Errors
    ///
    /// Returns all places at which the object does not fit.
    pub fn check<'a>(
        &'a self,
        object: &'a Value,
        duplicates: Duplicates,
    ) -> Result<TypedValue<'a>, TypeErrors> {
        check(self.root(), object, duplicates, None)?;
        Ok(TypedValue { schema: self, value: object })
    }

    /// [`MergeSchema::check`] of a configuration that an expression made: where it has values that
    /// JSON does not have, nothing fits (PO-70).
    ///
    /// # Errors
    ///
    /// Returns all places at which the object does not fit.
    pub fn check_made<'a>(
        &'a self,
        object: &'a Value,
        foreign: &ForeignValues,
    ) -> Result<TypedValue<'a>, TypeErrors> {
        check(self.root(), object, Duplicates::Refused, Some(foreign))?;
        Ok(TypedValue { schema: self, value: object })
    }

    /// Whether a set is as the apply of a configuration makes it.
    pub(crate) fn is_of_apply(&self, set: &FieldSet) -> bool {
        is_of_apply(self.root(), set)
    }

    /// Returns a set together with the declared fields on the ways to its members (SA-28).
    #[must_use]
    pub fn closure(&self, set: &FieldSet) -> FieldSet {
        closure(self.root(), set)
    }
}

impl<'a> TypedValue<'a> {
    /// An object of which it is known that it fits.
    pub(crate) fn checked(schema: &'a MergeSchema, value: &'a Value) -> Self {
        TypedValue { schema, value }
    }

    pub(crate) fn schema(self) -> &'a MergeSchema {
        self.schema
    }

    /// Returns the object.
    pub fn value(self) -> &'a Value {
        self.value
    }

    /// Returns the set of all fields of the object: what a manager owns who applies it (SA-26).
    pub fn field_set(self) -> FieldSet {
        set_of(self.schema.root(), self.value)
    }

    /// Returns the topmost members of a set that the object has, with what is there. Where elements of
    /// a list repeat it is the first.
    pub fn values_at(self, set: &FieldSet) -> Vec<(OwnedPath, &'a Value)> {
        values_at(self.schema.root(), self.value, set)
    }

    /// Returns the path of a place in the object as sets have it: elements of lists by their keys or
    /// values, those of atomic lists by their position.
    pub fn owned_path(self, path: &FieldPath) -> OwnedPath {
        owned_path(self.schema.root(), self.value, path)
    }

    /// Compares the object with a newer one of the same schema (SA-27).
    pub fn compare(self, newer: TypedValue<'_>) -> Comparison {
        compare(self.schema.root(), self.value, newer.value)
    }

    /// Returns the paths of all lists, maps and structs that are owned as a whole, along declared
    /// fields and the elements of lists: `.spec.items[0].set` (PO-72).
    pub fn atomics(self) -> Vec<String> {
        atomics(self.schema.root(), self.value)
    }

    /// Returns the edit that takes the members of a set out of the object.
    pub(crate) fn removal<'s>(self, set: &'s FieldSet) -> Option<Edit<'s>> {
        removal(self.schema.root(), self.value, set)
    }

    /// Compares the object with what an edit makes of it.
    pub(crate) fn compare_edited(self, edit: &Edit<'_>) -> Comparison {
        compare_edited(self.schema.root(), self.value, edit)
    }

    /// Merges a configuration into the object (SA-70, SA-71). Nothing is removed. Lists in which
    /// elements of the configuration repeat stay as they are.
    #[must_use]
    pub fn merge(self, config: TypedValue<'_>) -> DeepValue {
        let mut merged = DeepValue::from(deep_clone(self.value));
        let merge = Merge::new(self.schema.root(), self.value, config.value, None);
        if let Some(edit) = merge.edit {
            edit.apply_to(&mut merged);
        }
        merged
    }

    /// Returns the fields that leave the object when `lost` has no owner any more, but still what
    /// `owners` do; see [`Place::leaving`].
    pub(crate) fn leaving(self, lost: &FieldSet, owners: Owners<'_>) -> Option<FieldSet> {
        Place { type_: self.schema.root(), value: self.value, owners }.leaving(lost)
    }

    /// Returns the object without the members of a set (SA-73). What loses all of its content
    /// becomes null.
    #[must_use]
    pub fn remove(self, set: &FieldSet) -> DeepValue {
        let mut object = DeepValue::from(deep_clone(self.value));
        if let Some(edit) = self.removal(set) {
            edit.apply_to(&mut object);
        }
        object
    }
}
