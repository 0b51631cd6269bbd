//! The group `storage.k8s.io`.

mod capacity;
mod csi_driver;
mod csi_node;
mod parameters;
mod storage_class;
mod volume_attachment;
mod volume_attributes_class;

use self::capacity::CsiStorageCapacity;
use self::csi_driver::CsiDriver;
use self::csi_node::CsiNode;
use self::storage_class::StorageClass;
use self::volume_attachment::VolumeAttachment;
use self::volume_attributes_class::VolumeAttributesClass;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "CSIDriver" => &CsiDriver,
        "CSINode" => &CsiNode,
        "CSIStorageCapacity" => &CsiStorageCapacity,
        "StorageClass" => &StorageClass,
        "VolumeAttachment" => &VolumeAttachment,
        "VolumeAttributesClass" => &VolumeAttributesClass,
        _ => &Plain,
    }
}
