//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static HTTP_INGRESS_PATH: Record = Record::new(
    "HTTPIngressPath",
    &[
        Field::new("path", Type::Text).numbered(&[1]),
        Field::new("pathType", Type::Optional(&Type::Named("v1.PathType", &Type::Text))).numbered(&[3]).required().needed().one_of(&["Exact","ImplementationSpecific","Prefix"]),
        Field::new("backend", Type::Record(|| &super::networking_v1::INGRESS_BACKEND)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static HTTP_INGRESS_RULE_VALUE: Record = Record::new(
    "HTTPIngressRuleValue",
    &[
        Field::new("paths", Type::List(&Type::Record(|| &super::networking_v1::HTTP_INGRESS_PATH))).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static IP_ADDRESS: Record = Record::new(
    "IPAddress",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::networking_v1::IP_ADDRESS_SPEC)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static IP_ADDRESS_SPEC: Record = Record::new(
    "IPAddressSpec",
    &[
        Field::new("parentRef", Type::Optional(&Type::Record(|| &super::networking_v1::PARENT_REFERENCE))).numbered(&[1]).needed(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static IP_BLOCK: Record = Record::new(
    "IPBlock",
    &[
        Field::new("cidr", Type::Text).numbered(&[1]).required().needed(),
        Field::new("except", Type::List(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS: Record = Record::new(
    "Ingress",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::networking_v1::INGRESS_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::networking_v1::INGRESS_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_BACKEND: Record = Record::new(
    "IngressBackend",
    &[
        Field::new("service", Type::Optional(&Type::Record(|| &super::networking_v1::INGRESS_SERVICE_BACKEND))).numbered(&[4]),
        Field::new("resource", Type::Optional(&Type::Record(|| &super::core_v1::TYPED_LOCAL_OBJECT_REFERENCE))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_CLASS: Record = Record::new(
    "IngressClass",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::networking_v1::INGRESS_CLASS_SPEC)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_CLASS_PARAMETERS_REFERENCE: Record = Record::new(
    "IngressClassParametersReference",
    &[
        Field::new("apiGroup", Type::Optional(&Type::Text)).numbered(&[1]),
        Field::new("kind", Type::Text).numbered(&[2]).required().needed(),
        Field::new("name", Type::Text).numbered(&[3]).required().needed(),
        Field::new("scope", Type::Optional(&Type::Text)).numbered(&[4]).required(),
        Field::new("namespace", Type::Optional(&Type::Text)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_CLASS_SPEC: Record = Record::new(
    "IngressClassSpec",
    &[
        Field::new("controller", Type::Text).numbered(&[1]),
        Field::new("parameters", Type::Optional(&Type::Record(|| &super::networking_v1::INGRESS_CLASS_PARAMETERS_REFERENCE))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_LOAD_BALANCER_INGRESS: Record = Record::new(
    "IngressLoadBalancerIngress",
    &[
        Field::new("ip", Type::Text).numbered(&[1]),
        Field::new("hostname", Type::Text).numbered(&[2]),
        Field::new("ports", Type::List(&Type::Record(|| &super::networking_v1::INGRESS_PORT_STATUS))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_LOAD_BALANCER_STATUS: Record = Record::new(
    "IngressLoadBalancerStatus",
    &[
        Field::new("ingress", Type::List(&Type::Record(|| &super::networking_v1::INGRESS_LOAD_BALANCER_INGRESS))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_PORT_STATUS: Record = Record::new(
    "IngressPortStatus",
    &[
        Field::new("port", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("protocol", Type::Named("v1.Protocol", &Type::Text)).numbered(&[2]).required().needed().one_of(&["SCTP","TCP","UDP"]),
        Field::new("error", Type::Optional(&Type::Text)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_RULE: Record = Record::new(
    "IngressRule",
    &[
        Field::new("host", Type::Text).numbered(&[1]),
        Field::new("http", Type::Optional(&Type::Record(|| &super::networking_v1::HTTP_INGRESS_RULE_VALUE))).numbered(&[2, 1]).embedded("IngressRuleValue"),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_SERVICE_BACKEND: Record = Record::new(
    "IngressServiceBackend",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("port", Type::Record(|| &super::networking_v1::SERVICE_BACKEND_PORT)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_SPEC: Record = Record::new(
    "IngressSpec",
    &[
        Field::new("ingressClassName", Type::Optional(&Type::Text)).numbered(&[4]),
        Field::new("defaultBackend", Type::Optional(&Type::Record(|| &super::networking_v1::INGRESS_BACKEND))).numbered(&[1]),
        Field::new("tls", Type::List(&Type::Record(|| &super::networking_v1::INGRESS_TLS))).numbered(&[2]),
        Field::new("rules", Type::List(&Type::Record(|| &super::networking_v1::INGRESS_RULE))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_STATUS: Record = Record::new(
    "IngressStatus",
    &[
        Field::new("loadBalancer", Type::Record(|| &super::networking_v1::INGRESS_LOAD_BALANCER_STATUS)).numbered(&[1]).required(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static INGRESS_TLS: Record = Record::new(
    "IngressTLS",
    &[
        Field::new("hosts", Type::List(&Type::Text)).numbered(&[1]),
        Field::new("secretName", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static NETWORK_POLICY: Record = Record::new(
    "NetworkPolicy",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::networking_v1::NETWORK_POLICY_SPEC)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static NETWORK_POLICY_EGRESS_RULE: Record = Record::new(
    "NetworkPolicyEgressRule",
    &[
        Field::new("ports", Type::List(&Type::Record(|| &super::networking_v1::NETWORK_POLICY_PORT))).numbered(&[1]),
        Field::new("to", Type::List(&Type::Record(|| &super::networking_v1::NETWORK_POLICY_PEER))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static NETWORK_POLICY_INGRESS_RULE: Record = Record::new(
    "NetworkPolicyIngressRule",
    &[
        Field::new("ports", Type::List(&Type::Record(|| &super::networking_v1::NETWORK_POLICY_PORT))).numbered(&[1]),
        Field::new("from", Type::List(&Type::Record(|| &super::networking_v1::NETWORK_POLICY_PEER))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static NETWORK_POLICY_PEER: Record = Record::new(
    "NetworkPolicyPeer",
    &[
        Field::new("podSelector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[1]),
        Field::new("namespaceSelector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[2]),
        Field::new("ipBlock", Type::Optional(&Type::Record(|| &super::networking_v1::IP_BLOCK))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static NETWORK_POLICY_PORT: Record = Record::new(
    "NetworkPolicyPort",
    &[
        Field::new("protocol", Type::Optional(&Type::Named("v1.Protocol", &Type::Text))).numbered(&[1]).one_of(&["SCTP","TCP","UDP"]),
        Field::new("port", Type::Optional(&Type::IntOrString)).numbered(&[2]),
        Field::new("endPort", Type::Optional(&Type::Int32)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static NETWORK_POLICY_SPEC: Record = Record::new(
    "NetworkPolicySpec",
    &[
        Field::new("podSelector", Type::Record(LabelSelector::record)).numbered(&[1]).required(),
        Field::new("ingress", Type::List(&Type::Record(|| &super::networking_v1::NETWORK_POLICY_INGRESS_RULE))).numbered(&[2]),
        Field::new("egress", Type::List(&Type::Record(|| &super::networking_v1::NETWORK_POLICY_EGRESS_RULE))).numbered(&[3]),
        Field::new("policyTypes", Type::List(&Type::Named("v1.PolicyType", &Type::Text))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static PARENT_REFERENCE: Record = Record::new(
    "ParentReference",
    &[
        Field::new("group", Type::Text).numbered(&[1]),
        Field::new("resource", Type::Text).numbered(&[2]).needed(),
        Field::new("namespace", Type::Text).numbered(&[3]),
        Field::new("name", Type::Text).numbered(&[4]).needed(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static SERVICE_BACKEND_PORT: Record = Record::new(
    "ServiceBackendPort",
    &[
        Field::new("name", Type::Text).numbered(&[1]),
        Field::new("number", Type::Int32).numbered(&[2]),
    ],
).atomic()
.at_home("io.k8s.api.networking.v1");

pub(crate) static SERVICE_CIDR: Record = Record::new(
    "ServiceCIDR",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::networking_v1::SERVICE_CIDR_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::networking_v1::SERVICE_CIDR_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static SERVICE_CIDR_SPEC: Record = Record::new(
    "ServiceCIDRSpec",
    &[
        Field::new("cidrs", Type::List(&Type::Text)).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.networking.v1");

pub(crate) static SERVICE_CIDR_STATUS: Record = Record::new(
    "ServiceCIDRStatus",
    &[
        Field::new("conditions", Type::List(&Type::Record(|| &super::meta_v1::CONDITION))).numbered(&[1]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.networking.v1");
