//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static OVERHEAD: Record = Record::new(
    "Overhead",
    &[
        Field::new("podFixed", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.node.v1");

pub(crate) static RUNTIME_CLASS: Record = Record::new(
    "RuntimeClass",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("handler", Type::Text).numbered(&[2]).required().needed(),
        Field::new("overhead", Type::Optional(&Type::Record(|| &super::node_v1::OVERHEAD))).numbered(&[3]),
        Field::new("scheduling", Type::Optional(&Type::Record(|| &super::node_v1::SCHEDULING))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.node.v1");

pub(crate) static SCHEDULING: Record = Record::new(
    "Scheduling",
    &[
        Field::new("nodeSelector", Type::Map(&Type::Text)).numbered(&[1]).atomic(),
        Field::new("tolerations", Type::List(&Type::Record(|| &super::core_v1::TOLERATION))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.node.v1");
