//! The core group.

mod component_status;
mod config_map;
mod data;
mod endpoints;
mod event;
mod limit_range;
mod namespace;
mod node;
pub(crate) mod node_selector;
mod persistent_volume;
mod persistent_volume_claim;
pub(crate) mod pod;
pub(crate) mod pod_template;
mod replication_controller;
mod resource_quota;
mod secret;
mod service;
mod service_account;
pub(crate) mod volume_claim;

use self::component_status::ComponentStatus;
use self::config_map::ConfigMap;
use self::endpoints::Endpoints;
pub(crate) use self::event::Event;
use self::limit_range::LimitRange;
use self::namespace::Namespace;
use self::node::Node;
use self::persistent_volume::PersistentVolume;
use self::persistent_volume_claim::PersistentVolumeClaim;
use self::pod::Pod;
use self::pod_template::PodTemplate;
use self::replication_controller::ReplicationController;
use self::resource_quota::ResourceQuota;
use self::secret::Secret;
use self::service::Service;
pub use self::service::{AllocatedByServices, AllocationError, ServiceAllocator, ServiceRanges};
pub(crate) use self::service::{load_balancer_addresses, validate_host};
use self::service_account::ServiceAccount;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "ComponentStatus" => &ComponentStatus,
        "ConfigMap" => &ConfigMap,
        "Endpoints" => &Endpoints,
        "Event" => &Event,
        "LimitRange" => &LimitRange,
        "Namespace" => &Namespace,
        "Pod" => &Pod,
        "PodTemplate" => &PodTemplate,
        "ReplicationController" => &ReplicationController,
        "Node" => &Node,
        "PersistentVolume" => &PersistentVolume,
        "PersistentVolumeClaim" => &PersistentVolumeClaim,
        "ResourceQuota" => &ResourceQuota,
        "Secret" => &Secret,
        "Service" => &Service,
        "ServiceAccount" => &ServiceAccount,
        _ => &Plain,
    }
}
