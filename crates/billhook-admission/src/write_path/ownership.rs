//! Corrections of the metadata of an object after the mutating stage:
//! ownership of fields, and owners (RP-63, DI-36).

use std::collections::BTreeSet;

use billhook_apimachinery::Wording;
use billhook_apimachinery::metadata::{Invalid, decode_metadata};
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq};
use serde_json::{Map, Value};

use crate::audit::Warnings;
use billhook_apimachinery::metadata::field_errors;

/// `metadata.managedFields` before the mutating stage.
pub(crate) struct ManagedFields(Option<DeepValue>);

impl ManagedFields {
    pub(crate) fn of(object: &Value) -> Self {
        let found = object.pointer("/metadata/managedFields");
        ManagedFields(found.map(|found| deep_clone(found).into()))
    }

    /// Sets them back if they are not valid any more.
    pub(crate) fn keep_valid(&self, object: &mut Value, warnings: &mut Warnings) {
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
            return;
        };
        let Some(found) = metadata.get("managedFields") else { return };
        if self.0.as_deref().is_some_and(|before| deep_eq(before, found)) {
            return;
        }
        let Some(error) = error_in(found) else { return };
        warnings.add(&format!(
            ".metadata.managedFields was in an invalid state after admission and is what it was \
             before: {error}"
        ));
        let invalid = match &self.0 {
            Some(before) => metadata.insert("managedFields".to_owned(), deep_clone(before)),
            None => metadata.remove("managedFields"),
        };
        drop(invalid.map(DeepValue::from));
    }
}

/// Returns the first error in managed fields.
fn error_in(managed_fields: &Value) -> Option<String> {
    const NAME: &str = "managedFields";
    let mut metadata = Map::new();
    metadata.insert(NAME.to_owned(), deep_clone(managed_fields));
    let metadata = DeepValue::from(Value::Object(metadata));
    let decoded = match decode_metadata(&metadata, Invalid::Refuse) {
        Ok(decoded) => decoded,
        Err(error) => return Some(error.to_string()),
    };
    let errors = field_errors(NAME, decoded.get(NAME)?, <&Wording>::default());
    errors.first().map(ToString::to_string)
}

/// Removes owner references that are there already.
pub(crate) fn remove_repeated_owners(object: &mut Value, warnings: &mut Warnings) {
    let Some(Value::Array(owners)) = object.pointer_mut("/metadata/ownerReferences") else {
        return;
    };
    let mut seen = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    owners.retain_mut(|owner| {
        let is_new = seen.insert(compact_json(owner));
        if !is_new {
            let owner = DeepValue::from(owner.take());
            let uid = owner.get("uid").and_then(Value::as_str).unwrap_or_default();
            repeated.insert(uid.to_owned());
        }
        is_new
    });
    if !repeated.is_empty() {
        warnings.add(&format!(
            ".metadata.ownerReferences contained duplicate entries, which are removed; their UIDs: \
             {}",
            repeated.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
}
