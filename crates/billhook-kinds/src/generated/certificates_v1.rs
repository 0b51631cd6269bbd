//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static CERTIFICATE_SIGNING_REQUEST: Record = Record::new(
    "CertificateSigningRequest",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::certificates_v1::CERTIFICATE_SIGNING_REQUEST_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::certificates_v1::CERTIFICATE_SIGNING_REQUEST_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.certificates.v1");

pub(crate) static CERTIFICATE_SIGNING_REQUEST_CONDITION: Record = Record::new(
    "CertificateSigningRequestCondition",
    &[
        Field::new("type", Type::Named("v1.RequestConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[6]).required().needed(),
        Field::new("reason", Type::Text).numbered(&[2]),
        Field::new("message", Type::Text).numbered(&[3]),
        Field::new("lastUpdateTime", Type::Time).numbered(&[4]).required(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[5]).required(),
    ],
)
.at_home("io.k8s.api.certificates.v1");

pub(crate) static CERTIFICATE_SIGNING_REQUEST_SPEC: Record = Record::new(
    "CertificateSigningRequestSpec",
    &[
        Field::new("request", Type::Bytes).numbered(&[1]).required().needed(),
        Field::new("signerName", Type::Text).numbered(&[7]).required().needed(),
        Field::new("expirationSeconds", Type::Optional(&Type::Int32)).numbered(&[8]),
        Field::new("usages", Type::List(&Type::Named("v1.KeyUsage", &Type::Text))).numbered(&[5]),
        Field::new("username", Type::Text).numbered(&[2]),
        Field::new("uid", Type::Text).numbered(&[3]),
        Field::new("groups", Type::List(&Type::Text)).numbered(&[4]),
        Field::new("extra", Type::Map(&Type::Named("v1.ExtraValue", &Type::List(&Type::Text)))).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.certificates.v1");

pub(crate) static CERTIFICATE_SIGNING_REQUEST_STATUS: Record = Record::new(
    "CertificateSigningRequestStatus",
    &[
        Field::new("conditions", Type::List(&Type::Record(|| &super::certificates_v1::CERTIFICATE_SIGNING_REQUEST_CONDITION))).numbered(&[1]).list(ListType::Map(&["type"])),
        Field::new("certificate", Type::Bytes).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.certificates.v1");
