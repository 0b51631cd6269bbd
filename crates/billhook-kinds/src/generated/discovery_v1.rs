//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static ENDPOINT: Record = Record::new(
    "Endpoint",
    &[
        Field::new("addresses", Type::List(&Type::Text)).numbered(&[1]).required().needed().list(ListType::Set),
        Field::new("conditions", Type::Record(|| &super::discovery_v1::ENDPOINT_CONDITIONS)).numbered(&[2]).required(),
        Field::new("hostname", Type::Optional(&Type::Text)).numbered(&[3]),
        Field::new("targetRef", Type::Optional(&Type::Record(|| &super::core_v1::OBJECT_REFERENCE))).numbered(&[4]),
        Field::new("deprecatedTopology", Type::Map(&Type::Text)).numbered(&[5]),
        Field::new("nodeName", Type::Optional(&Type::Text)).numbered(&[6]),
        Field::new("zone", Type::Optional(&Type::Text)).numbered(&[7]),
        Field::new("hints", Type::Optional(&Type::Record(|| &super::discovery_v1::ENDPOINT_HINTS))).numbered(&[8]),
    ],
)
.at_home("io.k8s.api.discovery.v1");

pub(crate) static ENDPOINT_CONDITIONS: Record = Record::new(
    "EndpointConditions",
    &[
        Field::new("ready", Type::Optional(&Type::Flag)).numbered(&[1]),
        Field::new("serving", Type::Optional(&Type::Flag)).numbered(&[2]),
        Field::new("terminating", Type::Optional(&Type::Flag)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.discovery.v1");

pub(crate) static ENDPOINT_HINTS: Record = Record::new(
    "EndpointHints",
    &[
        Field::new("forZones", Type::List(&Type::Record(|| &super::discovery_v1::FOR_ZONE))).numbered(&[1]),
        Field::new("forNodes", Type::List(&Type::Record(|| &super::discovery_v1::FOR_NODE))).numbered(&[2]).since(KubernetesVersion::V1_33),
    ],
)
.at_home("io.k8s.api.discovery.v1");

pub(crate) static ENDPOINT_PORT: Record = Record::new(
    "EndpointPort",
    &[
        Field::new("name", Type::Optional(&Type::Text)).numbered(&[1]),
        Field::new("protocol", Type::Optional(&Type::Named("v1.Protocol", &Type::Text))).numbered(&[2]).one_of(&["SCTP","TCP","UDP"]),
        Field::new("port", Type::Optional(&Type::Int32)).numbered(&[3]),
        Field::new("appProtocol", Type::Optional(&Type::Text)).numbered(&[4]),
    ],
).atomic()
.at_home("io.k8s.api.discovery.v1");

pub(crate) static ENDPOINT_SLICE: Record = Record::new(
    "EndpointSlice",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("addressType", Type::Named("v1.AddressType", &Type::Text)).numbered(&[4]).required().needed().one_of(&["FQDN","IPv4","IPv6"]),
        Field::new("endpoints", Type::List(&Type::Record(|| &super::discovery_v1::ENDPOINT))).numbered(&[2]).required(),
        Field::new("ports", Type::List(&Type::Record(|| &super::discovery_v1::ENDPOINT_PORT))).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.discovery.v1");

pub(crate) static FOR_NODE: Record = Record::new(
    "ForNode",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.discovery.v1");

pub(crate) static FOR_ZONE: Record = Record::new(
    "ForZone",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.discovery.v1");
