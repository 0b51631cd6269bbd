//! Checks of incomplete metadata: updates by manifests, which omit the fields that only servers
//! write.

use serde_json::Value;

use crate::FieldError;
use crate::metadata::validate_update;
use crate::value::DeepValue;
use crate::wording::Wording;

/// Fields that servers write and that manifests leave out.
pub const WRITTEN_BY_SERVERS: [&str; 6] = [
    "resourceVersion",
    "generation",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// Validates the metadata of an update (OM-41). A patch, which is how manifests are applied, keeps
/// the fields that only servers write.
pub fn validate_applied(
    metadata: &DeepValue,
    stored: &DeepValue,
    wording: &Wording,
) -> Vec<FieldError> {
    let (mut metadata, mut stored) = (metadata.clone(), stored.clone());
    let fallback = Value::from("1");
    for name in WRITTEN_BY_SERVERS {
        let kept = stored.get(name).cloned();
        let kept = kept.or((name == "resourceVersion").then(|| fallback.clone()));
        for members in [&mut metadata, &mut stored] {
            if let (Some(kept), Value::Object(members)) = (&kept, &mut **members)
                && !members.contains_key(name)
            {
                members.insert(name.to_owned(), kept.clone());
            }
        }
    }
    validate_update(&metadata, &stored, wording)
}
