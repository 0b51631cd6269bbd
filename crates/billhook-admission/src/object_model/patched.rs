//! Objects that a webhook has patched (DI-31 to DI-33).

use billhook::type_meta;
use billhook_apimachinery::GroupVersionKind;
use billhook_policy::ObjectModel;
use serde_json::Value;

/// Returns the kind of an object after a patch (DI-31, DI-35): the one that the object says, if the model
/// does not refuse it.
pub(crate) fn patched_kind(
    object: &mut Value,
    kind: &GroupVersionKind,
    model: &dyn ObjectModel,
) -> Result<GroupVersionKind, String> {
    model.complete_type(object, kind).map_err(|error| error.to_string())?;
    let found = type_meta(object, &kind.kind).map_err(|error| error.to_string())?;
    Ok(found.into())
}

/// Names the type of an object where a patch took it away: decoding assumes the type that is expected.
pub(crate) fn complete_type(object: &mut Value, kind: &GroupVersionKind) {
    let Value::Object(members) = object else { return };
    for (name, expected) in [("apiVersion", kind.api_version()), ("kind", kind.kind.clone())] {
        let found = members.get(name);
        if found.is_none_or(|found| found.is_null() || found.as_str() == Some("")) {
            members.insert(name.to_owned(), expected.into());
        }
    }
}
