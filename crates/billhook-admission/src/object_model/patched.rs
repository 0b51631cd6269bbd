//! Objects that a webhook has patched (DI-31 to DI-33).

use billhook::type_meta;
use billhook_apimachinery::GroupVersionKind;
use serde_json::Value;

/// Returns the kind of an object after a patch (DI-31, DI-35): any that the object says.
pub(crate) fn patched_kind(
    object: &Value,
    kind: &GroupVersionKind,
) -> Result<GroupVersionKind, String> {
    let found = type_meta(object, &kind.kind).map_err(|error| error.to_string())?;
    Ok(found.into())
}
