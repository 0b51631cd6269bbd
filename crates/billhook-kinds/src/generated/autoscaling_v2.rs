//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static CONTAINER_RESOURCE_METRIC_SOURCE: Record = Record::new(
    "ContainerResourceMetricSource",
    &[
        Field::new("name", Type::Named("v1.ResourceName", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("target", Type::Record(|| &super::autoscaling_v2::METRIC_TARGET)).numbered(&[2]).required().needed(),
        Field::new("container", Type::Text).numbered(&[3]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static CONTAINER_RESOURCE_METRIC_STATUS: Record = Record::new(
    "ContainerResourceMetricStatus",
    &[
        Field::new("name", Type::Named("v1.ResourceName", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("current", Type::Record(|| &super::autoscaling_v2::METRIC_VALUE_STATUS)).numbered(&[2]).required().needed(),
        Field::new("container", Type::Text).numbered(&[3]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static CROSS_VERSION_OBJECT_REFERENCE: Record = Record::new(
    "CrossVersionObjectReference",
    &[
        Field::new("kind", Type::Text).numbered(&[1]).required().needed(),
        Field::new("name", Type::Text).numbered(&[2]).required().needed(),
        Field::new("apiVersion", Type::Text).numbered(&[3]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static EXTERNAL_METRIC_SOURCE: Record = Record::new(
    "ExternalMetricSource",
    &[
        Field::new("metric", Type::Record(|| &super::autoscaling_v2::METRIC_IDENTIFIER)).numbered(&[1]).required().needed(),
        Field::new("target", Type::Record(|| &super::autoscaling_v2::METRIC_TARGET)).numbered(&[2]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static EXTERNAL_METRIC_STATUS: Record = Record::new(
    "ExternalMetricStatus",
    &[
        Field::new("metric", Type::Record(|| &super::autoscaling_v2::METRIC_IDENTIFIER)).numbered(&[1]).required().needed(),
        Field::new("current", Type::Record(|| &super::autoscaling_v2::METRIC_VALUE_STATUS)).numbered(&[2]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static HPA_SCALING_POLICY: Record = Record::new(
    "HPAScalingPolicy",
    &[
        Field::new("type", Type::Named("v2.HPAScalingPolicyType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("value", Type::Int32).numbered(&[2]).required().needed(),
        Field::new("periodSeconds", Type::Int32).numbered(&[3]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static HPA_SCALING_RULES: Record = Record::new(
    "HPAScalingRules",
    &[
        Field::new("stabilizationWindowSeconds", Type::Optional(&Type::Int32)).numbered(&[3]),
        Field::new("selectPolicy", Type::Optional(&Type::Named("v2.ScalingPolicySelect", &Type::Text))).numbered(&[1]),
        Field::new("policies", Type::List(&Type::Record(|| &super::autoscaling_v2::HPA_SCALING_POLICY))).numbered(&[2]),
        Field::new("tolerance", Type::Optional(&Type::Quantity)).numbered(&[4]).since(KubernetesVersion::V1_33),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static HORIZONTAL_POD_AUTOSCALER: Record = Record::new(
    "HorizontalPodAutoscaler",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::autoscaling_v2::HORIZONTAL_POD_AUTOSCALER_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::autoscaling_v2::HORIZONTAL_POD_AUTOSCALER_STATUS)).numbered(&[3]).required(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static HORIZONTAL_POD_AUTOSCALER_BEHAVIOR: Record = Record::new(
    "HorizontalPodAutoscalerBehavior",
    &[
        Field::new("scaleUp", Type::Optional(&Type::Record(|| &super::autoscaling_v2::HPA_SCALING_RULES))).numbered(&[1]),
        Field::new("scaleDown", Type::Optional(&Type::Record(|| &super::autoscaling_v2::HPA_SCALING_RULES))).numbered(&[2]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static HORIZONTAL_POD_AUTOSCALER_CONDITION: Record = Record::new(
    "HorizontalPodAutoscalerCondition",
    &[
        Field::new("type", Type::Named("v2.HorizontalPodAutoscalerConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[3]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static HORIZONTAL_POD_AUTOSCALER_SPEC: Record = Record::new(
    "HorizontalPodAutoscalerSpec",
    &[
        Field::new("scaleTargetRef", Type::Record(|| &super::autoscaling_v2::CROSS_VERSION_OBJECT_REFERENCE)).numbered(&[1]).required().needed(),
        Field::new("minReplicas", Type::Optional(&Type::Int32)).numbered(&[2]),
        Field::new("maxReplicas", Type::Int32).numbered(&[3]).required().needed(),
        Field::new("metrics", Type::List(&Type::Record(|| &super::autoscaling_v2::METRIC_SPEC))).numbered(&[4]),
        Field::new("behavior", Type::Optional(&Type::Record(|| &super::autoscaling_v2::HORIZONTAL_POD_AUTOSCALER_BEHAVIOR))).numbered(&[5]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static HORIZONTAL_POD_AUTOSCALER_STATUS: Record = Record::new(
    "HorizontalPodAutoscalerStatus",
    &[
        Field::new("observedGeneration", Type::Optional(&Type::Int64)).numbered(&[1]),
        Field::new("lastScaleTime", Type::Optional(&Type::Time)).numbered(&[2]),
        Field::new("currentReplicas", Type::Int32).numbered(&[3]),
        Field::new("desiredReplicas", Type::Int32).numbered(&[4]).required().needed(),
        Field::new("currentMetrics", Type::List(&Type::Record(|| &super::autoscaling_v2::METRIC_STATUS))).numbered(&[5]).required(),
        Field::new("conditions", Type::List(&Type::Record(|| &super::autoscaling_v2::HORIZONTAL_POD_AUTOSCALER_CONDITION))).numbered(&[6]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static METRIC_IDENTIFIER: Record = Record::new(
    "MetricIdentifier",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("selector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[2]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static METRIC_SPEC: Record = Record::new(
    "MetricSpec",
    &[
        Field::new("type", Type::Named("v2.MetricSourceType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("object", Type::Optional(&Type::Record(|| &super::autoscaling_v2::OBJECT_METRIC_SOURCE))).numbered(&[2]),
        Field::new("pods", Type::Optional(&Type::Record(|| &super::autoscaling_v2::PODS_METRIC_SOURCE))).numbered(&[3]),
        Field::new("resource", Type::Optional(&Type::Record(|| &super::autoscaling_v2::RESOURCE_METRIC_SOURCE))).numbered(&[4]),
        Field::new("containerResource", Type::Optional(&Type::Record(|| &super::autoscaling_v2::CONTAINER_RESOURCE_METRIC_SOURCE))).numbered(&[7]),
        Field::new("external", Type::Optional(&Type::Record(|| &super::autoscaling_v2::EXTERNAL_METRIC_SOURCE))).numbered(&[5]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static METRIC_STATUS: Record = Record::new(
    "MetricStatus",
    &[
        Field::new("type", Type::Named("v2.MetricSourceType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("object", Type::Optional(&Type::Record(|| &super::autoscaling_v2::OBJECT_METRIC_STATUS))).numbered(&[2]),
        Field::new("pods", Type::Optional(&Type::Record(|| &super::autoscaling_v2::PODS_METRIC_STATUS))).numbered(&[3]),
        Field::new("resource", Type::Optional(&Type::Record(|| &super::autoscaling_v2::RESOURCE_METRIC_STATUS))).numbered(&[4]),
        Field::new("containerResource", Type::Optional(&Type::Record(|| &super::autoscaling_v2::CONTAINER_RESOURCE_METRIC_STATUS))).numbered(&[7]),
        Field::new("external", Type::Optional(&Type::Record(|| &super::autoscaling_v2::EXTERNAL_METRIC_STATUS))).numbered(&[5]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static METRIC_TARGET: Record = Record::new(
    "MetricTarget",
    &[
        Field::new("type", Type::Named("v2.MetricTargetType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("value", Type::Optional(&Type::Quantity)).numbered(&[2]),
        Field::new("averageValue", Type::Optional(&Type::Quantity)).numbered(&[3]),
        Field::new("averageUtilization", Type::Optional(&Type::Int32)).numbered(&[4]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static METRIC_VALUE_STATUS: Record = Record::new(
    "MetricValueStatus",
    &[
        Field::new("value", Type::Optional(&Type::Quantity)).numbered(&[1]),
        Field::new("averageValue", Type::Optional(&Type::Quantity)).numbered(&[2]),
        Field::new("averageUtilization", Type::Optional(&Type::Int32)).numbered(&[3]),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static OBJECT_METRIC_SOURCE: Record = Record::new(
    "ObjectMetricSource",
    &[
        Field::new("describedObject", Type::Record(|| &super::autoscaling_v2::CROSS_VERSION_OBJECT_REFERENCE)).numbered(&[1]).required().needed(),
        Field::new("target", Type::Record(|| &super::autoscaling_v2::METRIC_TARGET)).numbered(&[2]).required().needed(),
        Field::new("metric", Type::Record(|| &super::autoscaling_v2::METRIC_IDENTIFIER)).numbered(&[3]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static OBJECT_METRIC_STATUS: Record = Record::new(
    "ObjectMetricStatus",
    &[
        Field::new("metric", Type::Record(|| &super::autoscaling_v2::METRIC_IDENTIFIER)).numbered(&[1]).required().needed(),
        Field::new("current", Type::Record(|| &super::autoscaling_v2::METRIC_VALUE_STATUS)).numbered(&[2]).required().needed(),
        Field::new("describedObject", Type::Record(|| &super::autoscaling_v2::CROSS_VERSION_OBJECT_REFERENCE)).numbered(&[3]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static PODS_METRIC_SOURCE: Record = Record::new(
    "PodsMetricSource",
    &[
        Field::new("metric", Type::Record(|| &super::autoscaling_v2::METRIC_IDENTIFIER)).numbered(&[1]).required().needed(),
        Field::new("target", Type::Record(|| &super::autoscaling_v2::METRIC_TARGET)).numbered(&[2]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static PODS_METRIC_STATUS: Record = Record::new(
    "PodsMetricStatus",
    &[
        Field::new("metric", Type::Record(|| &super::autoscaling_v2::METRIC_IDENTIFIER)).numbered(&[1]).required().needed(),
        Field::new("current", Type::Record(|| &super::autoscaling_v2::METRIC_VALUE_STATUS)).numbered(&[2]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static RESOURCE_METRIC_SOURCE: Record = Record::new(
    "ResourceMetricSource",
    &[
        Field::new("name", Type::Named("v1.ResourceName", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("target", Type::Record(|| &super::autoscaling_v2::METRIC_TARGET)).numbered(&[2]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");

pub(crate) static RESOURCE_METRIC_STATUS: Record = Record::new(
    "ResourceMetricStatus",
    &[
        Field::new("name", Type::Named("v1.ResourceName", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("current", Type::Record(|| &super::autoscaling_v2::METRIC_VALUE_STATUS)).numbered(&[2]).required().needed(),
    ],
).in_package("v2")
.at_home("io.k8s.api.autoscaling.v2");
