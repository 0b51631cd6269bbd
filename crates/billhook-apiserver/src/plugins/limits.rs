//! LimitRanges: the defaults and the limits of pods and claims (BK-561).

use billhook::DeepValue;
use billhook_admission::PluginRequest;
use billhook_apimachinery::Status;
use billhook_kinds::{claim_exceeds, pod_exceeds, set_limit_defaults};
use serde_json::Value;

use super::forbidden;
use crate::shared::Shared;
use crate::write_path::object_key;

/// Sets what a new pod leaves out.
pub(super) fn set_defaults(server: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let ranges = ranges(server, request);
    if !ranges.is_empty()
        && let Some(pod) = request.object_mut()
    {
        ranges.iter().for_each(|range| set_limit_defaults(pod, range));
    }
    Ok(())
}

/// Refuses pods that need more or less than is allowed.
pub(super) fn check_pod(server: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    check(server, request, pod_exceeds)
}

/// Refuses claims that need more or less than is allowed.
pub(super) fn check_claim(server: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    check(server, request, claim_exceeds)
}

fn check(
    server: &Shared,
    request: &PluginRequest<'_>,
    exceeds: fn(&Value, &Value) -> Option<String>,
) -> Result<(), Status> {
    let Some(object) = request.object() else { return Ok(()) };
    let ranges = ranges(server, request);
    match ranges.iter().find_map(|range| exceeds(range, object)) {
        Some(why) => Err(forbidden(request.attributes(), &why)),
        None => Ok(()),
    }
}

/// The LimitRanges of the namespace of a request.
fn ranges(server: &Shared, request: &PluginRequest<'_>) -> Vec<DeepValue> {
    let prefix = object_key(&request.attributes().namespace, "");
    server.read_objects("", "limitranges", &prefix)
}
