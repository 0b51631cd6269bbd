//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static EVICTION: Record = Record::new(
    "Eviction",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("deleteOptions", Type::Optional(&Type::Record(|| &super::meta_v1::DELETE_OPTIONS))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.policy.v1");

pub(crate) static POD_DISRUPTION_BUDGET: Record = Record::new(
    "PodDisruptionBudget",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::policy_v1::POD_DISRUPTION_BUDGET_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::policy_v1::POD_DISRUPTION_BUDGET_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.policy.v1");

pub(crate) static POD_DISRUPTION_BUDGET_SPEC: Record = Record::new(
    "PodDisruptionBudgetSpec",
    &[
        Field::new("minAvailable", Type::Optional(&Type::IntOrString)).numbered(&[1]),
        Field::new("selector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[2]).replaced(),
        Field::new("maxUnavailable", Type::Optional(&Type::IntOrString)).numbered(&[3]),
        Field::new("unhealthyPodEvictionPolicy", Type::Optional(&Type::Named("v1.UnhealthyPodEvictionPolicyType", &Type::Text))).numbered(&[4]).one_of(&["AlwaysAllow","IfHealthyBudget"]),
    ],
)
.at_home("io.k8s.api.policy.v1");

pub(crate) static POD_DISRUPTION_BUDGET_STATUS: Record = Record::new(
    "PodDisruptionBudgetStatus",
    &[
        Field::new("observedGeneration", Type::Int64).numbered(&[1]),
        Field::new("disruptedPods", Type::Map(&Type::Time)).numbered(&[2]),
        Field::new("disruptionsAllowed", Type::Int32).numbered(&[3]).required(),
        Field::new("currentHealthy", Type::Int32).numbered(&[4]).required(),
        Field::new("desiredHealthy", Type::Int32).numbered(&[5]).required(),
        Field::new("expectedPods", Type::Int32).numbered(&[6]).required(),
        Field::new("conditions", Type::List(&Type::Record(|| &super::meta_v1::CONDITION))).numbered(&[7]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.policy.v1");
