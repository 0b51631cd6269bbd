//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static BOUND_OBJECT_REFERENCE: Record = Record::new(
    "BoundObjectReference",
    &[
        Field::new("kind", Type::Text).numbered(&[1]),
        Field::new("apiVersion", Type::Text).numbered(&[2]),
        Field::new("name", Type::Text).numbered(&[3]),
        Field::new("uid", Type::Named("types.UID", &Type::Text)).numbered(&[4]),
    ],
);

pub(crate) static TOKEN_REQUEST: Record = Record::new(
    "TokenRequest",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::authentication_v1::TOKEN_REQUEST_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::authentication_v1::TOKEN_REQUEST_STATUS)).numbered(&[3]).required(),
    ],
);

pub(crate) static TOKEN_REQUEST_SPEC: Record = Record::new(
    "TokenRequestSpec",
    &[
        Field::new("audiences", Type::List(&Type::Text)).numbered(&[1]).required(),
        Field::new("expirationSeconds", Type::Optional(&Type::Int64)).numbered(&[4]).required(),
        Field::new("boundObjectRef", Type::Optional(&Type::Record(|| &super::authentication_v1::BOUND_OBJECT_REFERENCE))).numbered(&[3]).required(),
    ],
);

pub(crate) static TOKEN_REQUEST_STATUS: Record = Record::new(
    "TokenRequestStatus",
    &[
        Field::new("token", Type::Text).numbered(&[1]).required(),
        Field::new("expirationTimestamp", Type::Time).numbered(&[2]).required(),
    ],
);
