//! The group `resource.k8s.io`.

mod claim;
mod device;
mod device_class;
mod devices;
mod names;
mod nodes;
mod slice;

use self::claim::ResourceClaim;
use self::device_class::DeviceClass;
use self::slice::ResourceSlice;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "DeviceClass" => &DeviceClass,
        "ResourceClaim" => &ResourceClaim::Itself,
        "ResourceClaimTemplate" => &ResourceClaim::Template,
        "ResourceSlice" => &ResourceSlice,
        _ => &Plain,
    }
}
