//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static PRIORITY_CLASS: Record = Record::new(
    "PriorityClass",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("value", Type::Int32).numbered(&[2]).required(),
        Field::new("globalDefault", Type::Flag).numbered(&[3]),
        Field::new("description", Type::Text).numbered(&[4]),
        Field::new("preemptionPolicy", Type::Optional(&Type::Named("v1.PreemptionPolicy", &Type::Text))).numbered(&[5]).one_of(&["Never","PreemptLowerPriority"]),
    ],
)
.at_home("io.k8s.api.scheduling.v1");
