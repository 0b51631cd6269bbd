//! Objects of built-in kinds: they exist in one version, have no defaults, and their types are
//! deduced from what they hold.

use billhook::GroupVersionKind;
use billhook::apply::MergeSchema;
use billhook::webhook::ApiResource;
use billhook_admission::ObjectModel;
use serde_json::Value;

/// The objects of built-in kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeForm;

impl ObjectModel for FreeForm {
    fn merge_schema(&self, _: &GroupVersionKind) -> Option<MergeSchema> {
        Some(MergeSchema::deduced())
    }
}

/// The built-in resource of an object, if its kind is one.
pub(crate) fn built_in(object: &Value) -> Option<ApiResource> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    ApiResource::built_in(text("apiVersion")?, text("kind")?)
}
