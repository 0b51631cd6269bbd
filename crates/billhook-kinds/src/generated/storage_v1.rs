//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static CSI_DRIVER: Record = Record::new(
    "CSIDriver",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::storage_v1::CSI_DRIVER_SPEC)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static CSI_DRIVER_SPEC: Record = Record::new(
    "CSIDriverSpec",
    &[
        Field::new("attachRequired", Type::Optional(&Type::Flag)).numbered(&[1]),
        Field::new("podInfoOnMount", Type::Optional(&Type::Flag)).numbered(&[2]),
        Field::new("volumeLifecycleModes", Type::List(&Type::Named("v1.VolumeLifecycleMode", &Type::Text))).numbered(&[3]).list(ListType::Set),
        Field::new("storageCapacity", Type::Optional(&Type::Flag)).numbered(&[4]),
        Field::new("fsGroupPolicy", Type::Optional(&Type::Named("v1.FSGroupPolicy", &Type::Text))).numbered(&[5]),
        Field::new("tokenRequests", Type::List(&Type::Record(|| &super::storage_v1::TOKEN_REQUEST))).numbered(&[6]),
        Field::new("requiresRepublish", Type::Optional(&Type::Flag)).numbered(&[7]),
        Field::new("seLinuxMount", Type::Optional(&Type::Flag)).numbered(&[8]),
        Field::new("nodeAllocatableUpdatePeriodSeconds", Type::Optional(&Type::Int64)).numbered(&[9]).since(KubernetesVersion::V1_33),
        Field::new("serviceAccountTokenInSecrets", Type::Optional(&Type::Flag)).numbered(&[10]).since(KubernetesVersion::V1_35),
        Field::new("preventPodSchedulingIfMissing", Type::Optional(&Type::Flag)).numbered(&[11]).since(KubernetesVersion::V1_36),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static CSI_NODE: Record = Record::new(
    "CSINode",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::storage_v1::CSI_NODE_SPEC)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static CSI_NODE_DRIVER: Record = Record::new(
    "CSINodeDriver",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("nodeID", Type::Text).numbered(&[2]).required().needed(),
        Field::new("topologyKeys", Type::List(&Type::Text)).numbered(&[3]).required(),
        Field::new("allocatable", Type::Optional(&Type::Record(|| &super::storage_v1::VOLUME_NODE_RESOURCES))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static CSI_NODE_SPEC: Record = Record::new(
    "CSINodeSpec",
    &[
        Field::new("drivers", Type::List(&Type::Record(|| &super::storage_v1::CSI_NODE_DRIVER))).numbered(&[1]).required().needed().list(ListType::Map(&["name"])).patched_by("name"),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static CSI_STORAGE_CAPACITY: Record = Record::new(
    "CSIStorageCapacity",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("nodeTopology", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[2]),
        Field::new("storageClassName", Type::Text).numbered(&[3]).required().needed(),
        Field::new("capacity", Type::Optional(&Type::Quantity)).numbered(&[4]),
        Field::new("maximumVolumeSize", Type::Optional(&Type::Quantity)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static STORAGE_CLASS: Record = Record::new(
    "StorageClass",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("provisioner", Type::Text).numbered(&[2]).required().needed(),
        Field::new("parameters", Type::Map(&Type::Text)).numbered(&[3]),
        Field::new("reclaimPolicy", Type::Optional(&Type::Named("v1.PersistentVolumeReclaimPolicy", &Type::Text))).numbered(&[4]).one_of(&["Delete","Recycle","Retain"]),
        Field::new("mountOptions", Type::List(&Type::Text)).numbered(&[5]),
        Field::new("allowVolumeExpansion", Type::Optional(&Type::Flag)).numbered(&[6]),
        Field::new("volumeBindingMode", Type::Optional(&Type::Named("v1.VolumeBindingMode", &Type::Text))).numbered(&[7]).one_of(&["Immediate","WaitForFirstConsumer"]),
        Field::new("allowedTopologies", Type::List(&Type::Record(|| &super::core_v1::TOPOLOGY_SELECTOR_TERM))).numbered(&[8]),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static TOKEN_REQUEST: Record = Record::new(
    "TokenRequest",
    &[
        Field::new("audience", Type::Text).numbered(&[1]).required().needed(),
        Field::new("expirationSeconds", Type::Optional(&Type::Int64)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static VOLUME_ATTACHMENT: Record = Record::new(
    "VolumeAttachment",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::storage_v1::VOLUME_ATTACHMENT_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::storage_v1::VOLUME_ATTACHMENT_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static VOLUME_ATTACHMENT_SOURCE: Record = Record::new(
    "VolumeAttachmentSource",
    &[
        Field::new("persistentVolumeName", Type::Optional(&Type::Text)).numbered(&[1]),
        Field::new("inlineVolumeSpec", Type::Optional(&Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_SPEC))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static VOLUME_ATTACHMENT_SPEC: Record = Record::new(
    "VolumeAttachmentSpec",
    &[
        Field::new("attacher", Type::Text).numbered(&[1]).required().needed(),
        Field::new("source", Type::Record(|| &super::storage_v1::VOLUME_ATTACHMENT_SOURCE)).numbered(&[2]).required().needed(),
        Field::new("nodeName", Type::Text).numbered(&[3]).required().needed(),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static VOLUME_ATTACHMENT_STATUS: Record = Record::new(
    "VolumeAttachmentStatus",
    &[
        Field::new("attached", Type::Flag).numbered(&[1]).required().needed(),
        Field::new("attachmentMetadata", Type::Map(&Type::Text)).numbered(&[2]),
        Field::new("attachError", Type::Optional(&Type::Record(|| &super::storage_v1::VOLUME_ERROR))).numbered(&[3]),
        Field::new("detachError", Type::Optional(&Type::Record(|| &super::storage_v1::VOLUME_ERROR))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static VOLUME_ATTRIBUTES_CLASS: Record = Record::new(
    "VolumeAttributesClass",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("driverName", Type::Text).numbered(&[2]).required().needed(),
        Field::new("parameters", Type::Map(&Type::Text)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static VOLUME_ERROR: Record = Record::new(
    "VolumeError",
    &[
        Field::new("time", Type::Time).numbered(&[1]).required(),
        Field::new("message", Type::Text).numbered(&[2]),
        Field::new("errorCode", Type::Optional(&Type::Int32)).numbered(&[3]).since(KubernetesVersion::V1_33),
    ],
)
.at_home("io.k8s.api.storage.v1");

pub(crate) static VOLUME_NODE_RESOURCES: Record = Record::new(
    "VolumeNodeResources",
    &[
        Field::new("count", Type::Optional(&Type::Int32)).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.storage.v1");
