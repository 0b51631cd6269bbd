//! The fields of features that are off by default, or were off in older versions (BK-29, BK-770).

use billhook_apimachinery::KubernetesVersion;
use serde_json::Value;

use super::edition::EDITIONS;
use crate::values::{items_mut, object_mut};

/// The lists of the states of containers.
const STATES: [&str; 3] =
    ["/containerStatuses", "/initContainerStatuses", "/ephemeralContainerStatuses"];

/// Drops the fields of the spec of a pod, but its containers, that the server knows and does not keep.
pub(super) fn drop_of_spec(spec: &mut Value, kubernetes: KubernetesVersion) {
    let edition = EDITIONS.of(kubernetes);
    for volume in items_mut(spec, "/volumes") {
        keep(volume, &[("image", edition.has_image_volumes)]);
        for source in items_mut(volume, "/projected/sources") {
            keep(source, &[("clusterTrustBundle", false), ("podCertificate", false)]);
        }
    }
    if !edition.has_security_policies
        && let Some(context) = object_mut(spec, "/securityContext")
    {
        keep(context, &[("supplementalGroupsPolicy", false), ("seLinuxChangePolicy", false)]);
    }
    keep(
        spec,
        &[
            ("schedulingGroup", false),
            ("resources", edition.has_pod_resources),
            ("hostUsers", edition.has_user_namespaces),
            ("resourceClaims", edition.claims_devices),
            ("hostnameOverride", edition.overrides_hostnames),
        ],
    );
}

/// Drops the fields of a container that the server knows and does not keep.
pub(super) fn drop_of_container(container: &mut Value, kubernetes: KubernetesVersion) {
    let edition = EDITIONS.of(kubernetes);
    if let Some(lifecycle) = object_mut(container, "/lifecycle") {
        keep(lifecycle, &[("stopSignal", false)]);
    }
    if !edition.has_user_namespaces
        && let Some(context) = object_mut(container, "/securityContext")
    {
        keep(context, &[("procMount", false)]);
    }
    if !edition.claims_devices
        && let Some(resources) = object_mut(container, "/resources")
    {
        keep(resources, &[("claims", false)]);
    }
    if !edition.keeps_variable_files {
        for variable in items_mut(container, "/env") {
            if let Some(source) = object_mut(variable, "/valueFrom") {
                keep(source, &[("fileKeyRef", false)]);
            }
        }
    }
    keep(
        container,
        &[
            ("resizePolicy", edition.resizes_in_place),
            ("restartPolicyRules", edition.has_restart_rules),
        ],
    );
}

/// Drops the fields of the status of a pod that the server knows and does not keep.
pub(super) fn drop_of_status(status: &mut Value, kubernetes: KubernetesVersion) {
    let edition = EDITIONS.of(kubernetes);
    for list in STATES {
        for container in items_mut(status, list) {
            for mount in items_mut(container, "/volumeMounts") {
                keep(mount, &[("volumeStatus", false)]);
            }
        }
    }
    for condition in items_mut(status, "/conditions") {
        keep(condition, &[("observedGeneration", edition.tracks_generations)]);
    }
    keep(
        status,
        &[
            ("nodeAllocatableResourceClaimStatuses", false),
            ("observedGeneration", edition.tracks_generations),
            ("resourceClaimStatuses", edition.claims_devices),
        ],
    );
}

/// Leaves fields to an object whose features are on.
fn keep(object: &mut Value, fields: &[(&str, bool)]) {
    if let Value::Object(members) = object {
        for (name, _) in fields.iter().filter(|(_, is_on)| !is_on) {
            members.remove(*name);
        }
    }
}
