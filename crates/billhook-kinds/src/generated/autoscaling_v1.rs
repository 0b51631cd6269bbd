//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static CROSS_VERSION_OBJECT_REFERENCE: Record = Record::new(
    "CrossVersionObjectReference",
    &[
        Field::new("kind", Type::Text).numbered(&[1]).required().needed(),
        Field::new("name", Type::Text).numbered(&[2]).required().needed(),
        Field::new("apiVersion", Type::Text).numbered(&[3]),
    ],
).atomic()
.at_home("io.k8s.api.autoscaling.v1");

pub(crate) static HORIZONTAL_POD_AUTOSCALER: Record = Record::new(
    "HorizontalPodAutoscaler",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::autoscaling_v1::HORIZONTAL_POD_AUTOSCALER_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::autoscaling_v1::HORIZONTAL_POD_AUTOSCALER_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.autoscaling.v1");

pub(crate) static HORIZONTAL_POD_AUTOSCALER_SPEC: Record = Record::new(
    "HorizontalPodAutoscalerSpec",
    &[
        Field::new("scaleTargetRef", Type::Record(|| &super::autoscaling_v1::CROSS_VERSION_OBJECT_REFERENCE)).numbered(&[1]).required().needed(),
        Field::new("minReplicas", Type::Optional(&Type::Int32)).numbered(&[2]),
        Field::new("maxReplicas", Type::Int32).numbered(&[3]).required().needed(),
        Field::new("targetCPUUtilizationPercentage", Type::Optional(&Type::Int32)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.autoscaling.v1");

pub(crate) static HORIZONTAL_POD_AUTOSCALER_STATUS: Record = Record::new(
    "HorizontalPodAutoscalerStatus",
    &[
        Field::new("observedGeneration", Type::Optional(&Type::Int64)).numbered(&[1]),
        Field::new("lastScaleTime", Type::Optional(&Type::Time)).numbered(&[2]),
        Field::new("currentReplicas", Type::Int32).numbered(&[3]).required().needed(),
        Field::new("desiredReplicas", Type::Int32).numbered(&[4]).required().needed(),
        Field::new("currentCPUUtilizationPercentage", Type::Optional(&Type::Int32)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.autoscaling.v1");

pub(crate) static SCALE: Record = Record::new(
    "Scale",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::autoscaling_v1::SCALE_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::autoscaling_v1::SCALE_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.autoscaling.v1");

pub(crate) static SCALE_SPEC: Record = Record::new(
    "ScaleSpec",
    &[
        Field::new("replicas", Type::Int32).numbered(&[1]).default("0"),
    ],
)
.at_home("io.k8s.api.autoscaling.v1");

pub(crate) static SCALE_STATUS: Record = Record::new(
    "ScaleStatus",
    &[
        Field::new("replicas", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("selector", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.autoscaling.v1");
