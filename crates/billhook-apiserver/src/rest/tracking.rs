//! The managed fields of what is answered and not stored.

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apply::{
    ConversionError, FieldManager, FieldSet, ManagedFields, MergeSchema, Versions,
};
use serde_json::Value;

/// The one version of a kind, whose fields are merged one by one.
#[derive(Debug)]
struct OneVersion(MergeSchema);

impl Versions for OneVersion {
    fn merge_schema(&self, _: &str) -> Option<&MergeSchema> {
        Some(&self.0)
    }

    fn convert(&self, object: &Value, _: &str) -> Result<DeepValue, ConversionError> {
        Ok(deep_clone(object).into())
    }

    fn reset_fields(&self, _: &str, _: &str) -> FieldSet {
        FieldSet::default()
    }
}

/// Sets the managed fields of an object that a manager creates: those which differ from an empty one.
pub(crate) fn track_creation(
    object: &mut Value,
    empty: &DeepValue,
    (api_version, kind): (&str, &str),
    subresource: &str,
    (manager, now): (&str, Time),
) {
    let versions = OneVersion(MergeSchema::deduced());
    let manager = FieldManager::new(&versions, (api_version, kind), manager, now);
    let manager = manager.subresource(subresource);
    if let Ok(managed) = manager.update(ManagedFields::default(), empty, object) {
        managed.write_to(object);
    }
}
