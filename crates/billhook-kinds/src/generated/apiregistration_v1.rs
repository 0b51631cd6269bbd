//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static API_SERVICE: Record = Record::new(
    "APIService",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::apiregistration_v1::API_SERVICE_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::apiregistration_v1::API_SERVICE_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1");

pub(crate) static API_SERVICE_CONDITION: Record = Record::new(
    "APIServiceCondition",
    &[
        Field::new("type", Type::Named("v1.APIServiceConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[3]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1");

pub(crate) static API_SERVICE_SPEC: Record = Record::new(
    "APIServiceSpec",
    &[
        Field::new("service", Type::Optional(&Type::Record(|| &super::apiregistration_v1::SERVICE_REFERENCE))).numbered(&[1]),
        Field::new("group", Type::Text).numbered(&[2]),
        Field::new("version", Type::Text).numbered(&[3]),
        Field::new("insecureSkipTLSVerify", Type::Flag).numbered(&[4]),
        Field::new("caBundle", Type::Bytes).numbered(&[5]),
        Field::new("groupPriorityMinimum", Type::Int32).numbered(&[7]).required().needed(),
        Field::new("versionPriority", Type::Int32).numbered(&[8]).required().needed(),
    ],
)
.at_home("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1");

pub(crate) static API_SERVICE_STATUS: Record = Record::new(
    "APIServiceStatus",
    &[
        Field::new("conditions", Type::List(&Type::Record(|| &super::apiregistration_v1::API_SERVICE_CONDITION))).numbered(&[1]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1");

pub(crate) static SERVICE_REFERENCE: Record = Record::new(
    "ServiceReference",
    &[
        Field::new("namespace", Type::Text).numbered(&[1]),
        Field::new("name", Type::Text).numbered(&[2]),
        Field::new("port", Type::Optional(&Type::Int32)).numbered(&[3]),
    ],
)
.at_home("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1");
