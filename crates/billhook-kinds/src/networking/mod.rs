//! The group `networking.k8s.io`.

mod ingress;
mod ingress_class;
mod ip_address;
mod network_policy;
mod reference;
mod service_cidr;

use self::ingress::Ingress;
use self::ingress_class::IngressClass;
use self::ip_address::IpAddress;
use self::network_policy::NetworkPolicy;
use self::service_cidr::ServiceCidr;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "Ingress" => &Ingress,
        "IngressClass" => &IngressClass,
        "IPAddress" => &IpAddress,
        "NetworkPolicy" => &NetworkPolicy,
        "ServiceCIDR" => &ServiceCidr,
        _ => &Plain,
    }
}
