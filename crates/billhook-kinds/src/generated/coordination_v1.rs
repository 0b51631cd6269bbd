//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static LEASE: Record = Record::new(
    "Lease",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::coordination_v1::LEASE_SPEC)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.coordination.v1");

pub(crate) static LEASE_SPEC: Record = Record::new(
    "LeaseSpec",
    &[
        Field::new("holderIdentity", Type::Optional(&Type::Text)).numbered(&[1]),
        Field::new("leaseDurationSeconds", Type::Optional(&Type::Int32)).numbered(&[2]),
        Field::new("acquireTime", Type::Optional(&Type::MicroTime)).numbered(&[3]),
        Field::new("renewTime", Type::Optional(&Type::MicroTime)).numbered(&[4]),
        Field::new("leaseTransitions", Type::Optional(&Type::Int32)).numbered(&[5]),
        Field::new("strategy", Type::Optional(&Type::Named("v1.CoordinatedLeaseStrategy", &Type::Text))).numbered(&[6]),
        Field::new("preferredHolder", Type::Optional(&Type::Text)).numbered(&[7]),
    ],
)
.at_home("io.k8s.api.coordination.v1");
