//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static AGGREGATION_RULE: Record = Record::new(
    "AggregationRule",
    &[
        Field::new("clusterRoleSelectors", Type::List(&Type::Record(LabelSelector::record))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.rbac.v1");

pub(crate) static CLUSTER_ROLE: Record = Record::new(
    "ClusterRole",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("rules", Type::List(&Type::Record(|| &super::rbac_v1::POLICY_RULE))).numbered(&[2]).required(),
        Field::new("aggregationRule", Type::Optional(&Type::Record(|| &super::rbac_v1::AGGREGATION_RULE))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.rbac.v1");

pub(crate) static CLUSTER_ROLE_BINDING: Record = Record::new(
    "ClusterRoleBinding",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("subjects", Type::List(&Type::Record(|| &super::rbac_v1::SUBJECT))).numbered(&[2]),
        Field::new("roleRef", Type::Record(|| &super::rbac_v1::ROLE_REF)).numbered(&[3]).required().needed(),
    ],
)
.at_home("io.k8s.api.rbac.v1");

pub(crate) static POLICY_RULE: Record = Record::new(
    "PolicyRule",
    &[
        Field::new("verbs", Type::List(&Type::Text)).numbered(&[1]).required().needed(),
        Field::new("apiGroups", Type::List(&Type::Text)).numbered(&[2]),
        Field::new("resources", Type::List(&Type::Text)).numbered(&[3]),
        Field::new("resourceNames", Type::List(&Type::Text)).numbered(&[4]),
        Field::new("nonResourceURLs", Type::List(&Type::Text)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.rbac.v1");

pub(crate) static ROLE: Record = Record::new(
    "Role",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("rules", Type::List(&Type::Record(|| &super::rbac_v1::POLICY_RULE))).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.rbac.v1");

pub(crate) static ROLE_BINDING: Record = Record::new(
    "RoleBinding",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("subjects", Type::List(&Type::Record(|| &super::rbac_v1::SUBJECT))).numbered(&[2]),
        Field::new("roleRef", Type::Record(|| &super::rbac_v1::ROLE_REF)).numbered(&[3]).required().needed(),
    ],
)
.at_home("io.k8s.api.rbac.v1");

pub(crate) static ROLE_REF: Record = Record::new(
    "RoleRef",
    &[
        Field::new("apiGroup", Type::Text).numbered(&[1]).required(),
        Field::new("kind", Type::Text).numbered(&[2]).required().needed(),
        Field::new("name", Type::Text).numbered(&[3]).required().needed(),
    ],
).atomic()
.at_home("io.k8s.api.rbac.v1");

pub(crate) static SUBJECT: Record = Record::new(
    "Subject",
    &[
        Field::new("kind", Type::Text).numbered(&[1]).required().needed(),
        Field::new("apiGroup", Type::Text).numbered(&[2]),
        Field::new("name", Type::Text).numbered(&[3]).required().needed(),
        Field::new("namespace", Type::Text).numbered(&[4]),
    ],
).atomic()
.at_home("io.k8s.api.rbac.v1");
