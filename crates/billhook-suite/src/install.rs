//! Definitions as a server accepts them, and objects as it stores them.

use billhook::{DeepValue, Definition, KubernetesVersion};
use billhook_admission::ServerFields;
use billhook_apimachinery::aggregate;
use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use crate::runner_error::RunnerError;

/// The revision of every object that is stored.
pub(crate) const REVISION: &str = "1";
/// The UID of every object.
pub(crate) const UID: &str = "00000000-0000-0000-0000-000000000000";
/// The time at which all objects are created.
const TIME: &str = "2000-01-01T00:00:00Z";

/// Returns a definition without its status, if a server accepts it as a new one.
pub(crate) fn accepted_definition(
    definition: &Value,
    kubernetes: KubernetesVersion,
) -> Result<DeepValue, RunnerError> {
    let mut definition = DeepValue::from(deep_clone(definition));
    // What a server that has the definition already says of it is about other versions.
    if let Some(members) = definition.as_object_mut() {
        members.remove("status");
    }
    let validation = Definition::new(definition.clone(), kubernetes)?.validate_create();
    match validation.errors() {
        [] => Ok(definition),
        errors => Err(RunnerError::Refused(aggregate(errors))),
    }
}

/// The fields that the server sets in all objects.
pub(crate) fn fields() -> ServerFields {
    ServerFields::new(UID, TIME, "x")
}

pub(crate) fn body(object: &Value) -> Vec<u8> {
    billhook::to_json(object).into_bytes()
}
