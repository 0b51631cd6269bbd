//! Corrections of the metadata of an object after the mutating stage:
//! ownership of fields, and owners (RP-63, DI-36, RE-26).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::{Invalid, decode_metadata};
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq};
use billhook_apply::ManagedFieldsError;
use serde_json::{Map, Value};

use crate::audit::Warnings;
use crate::object_model::metadata_member;

/// Sets `metadata.managedFields` of an object back to what it was before the mutating stage, if it is
/// not valid any more.
pub(crate) fn keep_valid_owners(object: &mut Value, before: &Value, warnings: &mut Warnings) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(found) = metadata.get("managedFields") else { return };
    let before = metadata_member(before, "managedFields");
    if before.is_some_and(|before| deep_eq(before, found)) {
        return;
    }
    let Some(error) = error_in(found) else { return };
    warnings.add(&format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by \
         an outdated mutating admission controller; please fix your requests: {error}"
    ));
    let invalid = match before {
        Some(before) => metadata.insert("managedFields".to_owned(), deep_clone(before)),
        None => metadata.remove("managedFields"),
    };
    drop(invalid.map(DeepValue::from));
}

/// Returns the first error in managed fields (SA-33). What is not a list of entries counts as none.
fn error_in(managed_fields: &Value) -> Option<ManagedFieldsError> {
    let mut metadata = Map::new();
    metadata.insert("managedFields".to_owned(), deep_clone(managed_fields));
    let metadata = DeepValue::from(Value::Object(metadata));
    let decoded = decode_metadata(&metadata, Invalid::Refuse).ok()?;
    let mut object = Map::new();
    object.insert("metadata".to_owned(), decoded.into_value().into_inner());
    billhook_apply::ManagedFields::of(&DeepValue::from(Value::Object(object))).err()
}

/// Removes owner references that are there already; `when` says after which step (RE-26).
pub(crate) fn remove_repeated_owners(object: &mut Value, when: &str, warnings: &mut Warnings) {
    let metadata = object.get_mut("metadata");
    let owners = metadata.and_then(|metadata| metadata.get_mut("ownerReferences"));
    let Some(Value::Array(owners)) = owners else { return };
    let mut seen = BTreeSet::new();
    let mut repeated = Vec::new();
    owners.retain_mut(|owner| {
        let is_new = seen.insert(compact_json(owner));
        if !is_new {
            let owner = DeepValue::from(owner.take());
            let uid = owner.get("uid").and_then(Value::as_str).unwrap_or_default();
            repeated.push(uid.to_owned());
        }
        is_new
    });
    if !repeated.is_empty() {
        warnings.add(&format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner \
             references in 1.20+, and may reject such requests as early as 1.24; please fix your \
             requests; duplicate UID(s) observed: {}",
            repeated.join(", ")
        ));
    }
}
