//! Objects of built-in kinds: they exist in one version, have no defaults, and their types are
//! deduced from what they hold.

use billhook::apply::MergeSchema;
use billhook::webhook::ApiResource;
use billhook::{DeepValue, GroupVersionKind};
use billhook_admission::{BoxFuture, ObjectModel, ObjectModelError, UnknownObjects};
use serde_json::Value;

/// The objects of built-in kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeForm;

impl ObjectModel for FreeForm {
    fn convert<'a>(
        &'a self,
        object: &'a Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<DeepValue, ObjectModelError>> {
        UnknownObjects.convert(object, to)
    }

    fn apply_defaults(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        UnknownObjects.apply_defaults(object, kind)
    }

    fn merge_schema(&self, _: &GroupVersionKind) -> Option<MergeSchema> {
        Some(MergeSchema::deduced())
    }
}

/// The built-in resource of an object, if its kind is one.
pub(crate) fn built_in(object: &Value) -> Option<ApiResource> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    ApiResource::built_in(text("apiVersion")?, text("kind")?)
}
