//! The versions of a definition as field management sees them, and objects in them (SA-09, SA-90).

use std::collections::BTreeMap;
use std::ops::Deref;

use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use crate::compare::Comparison;
use crate::field_set::FieldSet;
use crate::order::equal;
use crate::schema::MergeSchema;
use crate::type_check::Duplicates;
use crate::typed_value::TypedValue;

/// The versions of a definition.
pub trait Versions {
    /// Returns the merge schema of a version, given as `group/version`; none if the definition
    /// does not have it.
    fn merge_schema(&self, api_version: &str) -> Option<&MergeSchema>;

    /// Returns an object in another version, given as `group/version`.
    ///
    /// # Errors
    ///
    /// Returns the server's text if the object cannot be converted.
    fn convert(&self, object: &Value, api_version: &str) -> Result<DeepValue, ConversionError>;

    /// Returns the fields of a version that a write does not own, whatever it sets them to. The
    /// subresource is that of the write; an empty one is the object itself (SA-36).
    fn reset_fields(&self, api_version: &str, subresource: &str) -> FieldSet;
}

/// An object cannot be converted to a version, or does not fit its merge types there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConversionError(String);

impl ConversionError {
    /// Makes an error of its text.
    pub fn new(text: impl Into<String>) -> Self {
        ConversionError(text.into())
    }
}

/// An object that fits the merge schema of its version.
pub(super) struct Versioned<'v> {
    pub(super) api_version: &'v str,
    schema: &'v MergeSchema,
    object: Object<'v>,
}

enum Object<'v> {
    Borrowed(&'v Value),
    Owned(DeepValue),
}

impl Deref for Object<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        match self {
            Object::Borrowed(object) => object,
            Object::Owned(object) => object,
        }
    }
}

impl<'v> Versioned<'v> {
    /// An object that was checked.
    pub(super) fn new(api_version: &'v str, object: TypedValue<'v>) -> Self {
        let (schema, object) = (object.schema(), Object::Borrowed(object.value()));
        Versioned { api_version, schema, object }
    }

    pub(super) fn typed(&self) -> TypedValue<'_> {
        TypedValue::checked(self.schema, &self.object)
    }

    /// The object with a configuration merged into it.
    pub(super) fn merged(&self, config: TypedValue<'_>) -> Versioned<'v> {
        let object = Object::Owned(self.typed().merge(config));
        Versioned { object, ..*self }
    }

    /// The object without the members of a set.
    pub(super) fn without(&self, set: &FieldSet) -> Versioned<'v> {
        Versioned { object: Object::Owned(self.typed().remove(set)), ..*self }
    }

    pub(super) fn is_equal(&self, other: &Versioned<'_>) -> bool {
        equal(&self.object, &other.object)
    }

    pub(super) fn closure(&self, set: &FieldSet) -> FieldSet {
        self.schema.closure(set)
    }

    /// The closure of the object's own set.
    pub(super) fn all_fields(&self) -> FieldSet {
        self.closure(&self.typed().field_set())
    }

    /// The object in another version.
    pub(super) fn convert<'b>(
        &'b self,
        versions: &'b dyn Versions,
        api_version: &'b str,
    ) -> Result<Versioned<'b>, ConversionError> {
        if api_version == self.api_version {
            return Ok(Versioned::new(api_version, self.typed()));
        }
        convert(versions, &self.object, api_version)
    }

    /// The same as [`Versioned::convert`], for an object that is not needed any more.
    pub(super) fn into_version(
        self,
        versions: &'v dyn Versions,
        api_version: &'v str,
    ) -> Result<Versioned<'v>, ConversionError> {
        if api_version == self.api_version {
            return Ok(self);
        }
        convert(versions, &self.object, api_version)
    }

    pub(super) fn into_object(self) -> DeepValue {
        self.object.into_owned()
    }
}

/// Converts an object and checks it (SA-90).
fn convert<'v>(
    versions: &'v dyn Versions,
    object: &Value,
    api_version: &'v str,
) -> Result<Versioned<'v>, ConversionError> {
    let object = versions.convert(object, api_version)?;
    let Some(schema) = versions.merge_schema(api_version) else {
        return Err(ConversionError::new(format!("no version {api_version}")));
    };
    if let Err(errors) = schema.check(&object, Duplicates::Refused) {
        return Err(ConversionError::new(errors.to_string()));
    }
    Ok(Versioned { api_version, schema, object: Object::Owned(object) })
}

impl Object<'_> {
    fn into_owned(self) -> DeepValue {
        match self {
            Object::Borrowed(object) => deep_clone(object).into(),
            Object::Owned(object) => object,
        }
    }
}

/// The changes of a write in one version, without the fields that are reset.
#[derive(Clone)]
pub(super) struct Difference {
    /// The modified and the added fields.
    pub(super) changed: FieldSet,
    /// These and the removed fields: what all other managers lose.
    pub(super) lost: FieldSet,
}

/// The differences that a write makes, as the managers of each version see them.
pub(super) struct Differences<'d> {
    versions: &'d dyn Versions,
    subresource: &'d str,
    by_version: BTreeMap<String, Difference>,
}

/// Which object of a comparison cannot be converted.
pub(super) enum ComparisonError {
    Old(ConversionError),
    New(ConversionError),
}

impl<'d> Differences<'d> {
    /// The differences of a write to a subresource, none of which are known yet.
    pub(super) fn new(versions: &'d dyn Versions, subresource: &'d str) -> Self {
        Differences { versions, subresource, by_version: BTreeMap::new() }
    }

    /// The difference in a version, if it is known.
    pub(super) fn get(&self, api_version: &str) -> Option<&Difference> {
        self.by_version.get(api_version)
    }

    /// Adds what is compared in a version.
    pub(super) fn add(&mut self, api_version: &str, comparison: Comparison) -> Difference {
        let comparison =
            comparison.without(&self.versions.reset_fields(api_version, self.subresource));
        let Comparison { removed, modified, added } = comparison;
        let changed = modified.union(&added);
        let difference = Difference { lost: changed.union(&removed), changed };
        self.by_version.insert(api_version.to_owned(), difference.clone());
        difference
    }

    /// Compares the two objects of the write in a version, if that was not done before.
    pub(super) fn compare(
        &mut self,
        old: &Versioned<'_>,
        new: &Versioned<'_>,
        api_version: &str,
    ) -> Result<Difference, ComparisonError> {
        if let Some(known) = self.get(api_version) {
            return Ok(known.clone());
        }
        let old = old.convert(self.versions, api_version).map_err(ComparisonError::Old)?;
        let new = new.convert(self.versions, api_version).map_err(ComparisonError::New)?;
        let comparison = old.typed().compare(new.typed());
        Ok(self.add(api_version, comparison))
    }
}
