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
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static SELF_SUBJECT_REVIEW: Record = Record::new(
    "SelfSubjectReview",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("status", Type::Record(|| &super::authentication_v1::SELF_SUBJECT_REVIEW_STATUS)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static SELF_SUBJECT_REVIEW_STATUS: Record = Record::new(
    "SelfSubjectReviewStatus",
    &[
        Field::new("userInfo", Type::Record(|| &super::authentication_v1::USER_INFO)).numbered(&[1]).required(),
    ],
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static TOKEN_REQUEST: Record = Record::new(
    "TokenRequest",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::authentication_v1::TOKEN_REQUEST_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::authentication_v1::TOKEN_REQUEST_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static TOKEN_REQUEST_SPEC: Record = Record::new(
    "TokenRequestSpec",
    &[
        Field::new("audiences", Type::List(&Type::Text)).numbered(&[1]).required(),
        Field::new("expirationSeconds", Type::Optional(&Type::Int64)).numbered(&[4]).required(),
        Field::new("boundObjectRef", Type::Optional(&Type::Record(|| &super::authentication_v1::BOUND_OBJECT_REFERENCE))).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static TOKEN_REQUEST_STATUS: Record = Record::new(
    "TokenRequestStatus",
    &[
        Field::new("token", Type::Text).numbered(&[1]).required(),
        Field::new("expirationTimestamp", Type::Time).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static TOKEN_REVIEW: Record = Record::new(
    "TokenReview",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::authentication_v1::TOKEN_REVIEW_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::authentication_v1::TOKEN_REVIEW_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static TOKEN_REVIEW_SPEC: Record = Record::new(
    "TokenReviewSpec",
    &[
        Field::new("token", Type::Text).numbered(&[1]).needed(),
        Field::new("audiences", Type::List(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static TOKEN_REVIEW_STATUS: Record = Record::new(
    "TokenReviewStatus",
    &[
        Field::new("authenticated", Type::Flag).numbered(&[1]),
        Field::new("user", Type::Record(|| &super::authentication_v1::USER_INFO)).numbered(&[2]).required(),
        Field::new("audiences", Type::List(&Type::Text)).numbered(&[4]),
        Field::new("error", Type::Text).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.authentication.v1");

pub(crate) static USER_INFO: Record = Record::new(
    "UserInfo",
    &[
        Field::new("username", Type::Text).numbered(&[1]),
        Field::new("uid", Type::Text).numbered(&[2]),
        Field::new("groups", Type::List(&Type::Text)).numbered(&[3]),
        Field::new("extra", Type::Map(&Type::Named("v1.ExtraValue", &Type::List(&Type::Text)))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.authentication.v1");
