//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static CONDITION: Record = Record::new(
    "Condition",
    &[
        Field::new("type", Type::Text).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("observedGeneration", Type::Int64).numbered(&[3]),
        Field::new("lastTransitionTime", Type::Time).numbered(&[4]).required().needed(),
        Field::new("reason", Type::Text).numbered(&[5]).required().needed(),
        Field::new("message", Type::Text).numbered(&[6]).required().needed(),
    ],
)
.at_home("io.k8s.apimachinery.pkg.apis.meta.v1");

pub(crate) static DELETE_OPTIONS: Record = Record::new(
    "DeleteOptions",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("gracePeriodSeconds", Type::Optional(&Type::Int64)).numbered(&[1]),
        Field::new("preconditions", Type::Optional(&Type::Record(|| &super::meta_v1::PRECONDITIONS))).numbered(&[2]),
        Field::new("orphanDependents", Type::Optional(&Type::Flag)).numbered(&[3]),
        Field::new("propagationPolicy", Type::Optional(&Type::Named("v1.DeletionPropagation", &Type::Text))).numbered(&[4]),
        Field::new("dryRun", Type::List(&Type::Text)).numbered(&[5]),
        Field::new("ignoreStoreReadErrorWithClusterBreakingPotential", Type::Optional(&Type::Flag)).numbered(&[6]),
    ],
)
.at_home("io.k8s.apimachinery.pkg.apis.meta.v1");

pub(crate) static FIELD_SELECTOR_REQUIREMENT: Record = Record::new(
    "FieldSelectorRequirement",
    &[
        Field::new("key", Type::Text).numbered(&[1]).required().needed(),
        Field::new("operator", Type::Named("v1.FieldSelectorOperator", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("values", Type::List(&Type::Text)).numbered(&[3]),
    ],
)
.at_home("io.k8s.apimachinery.pkg.apis.meta.v1");

pub(crate) static PRECONDITIONS: Record = Record::new(
    "Preconditions",
    &[
        Field::new("uid", Type::Optional(&Type::Named("types.UID", &Type::Text))).numbered(&[1]),
        Field::new("resourceVersion", Type::Optional(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.apimachinery.pkg.apis.meta.v1");
