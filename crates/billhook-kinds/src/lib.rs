#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod admissionregistration;
mod api_resources;
mod apiregistration;
mod apps;
mod autoscaling;
mod batch;
mod behavior;
mod cells;
mod certificates;
mod conditions;
mod coordination;
mod core;
mod definition;
mod difference;
mod discovery;
mod edition;
mod flowcontrol;
mod generated;
mod initial_object;
mod ip;
mod kind;
mod kind_type;
mod limits;
mod networking;
mod node;
mod pod_security;
mod policy;
mod published;
mod quota;
mod rbac;
mod registry;
mod resource;
mod resource_names;
mod rules;
mod scheduling;
mod selector_text;
mod served_types;
mod storage;
mod values;
mod workloads;

pub use self::core::pod::pod_requests;
pub use self::core::{AllocatedByServices, AllocationError, ServiceAllocator, ServiceRanges};
pub use api_resources::{equivalent_resources, register_kinds};
pub use autoscaling::{pod_autoscaler_to_v1, pod_autoscaler_to_v2};
pub use behavior::{Behavior, Findings, WriteContext};
pub use initial_object::InitialObject;
pub use kind::{BodyKind, ColumnHeading, Deprecation, Generation, Kind, NameRule, Subresource};
pub use kind_type::KindType;
pub use limits::{claim_exceeds, pod_exceeds, set_limit_defaults};
pub use pod_security::{
    SecurityDefaults, SecurityDefaultsError, SecurityLevel, security_label_errors,
};
pub use quota::{QuotaError, QuotaSubject, charge, is_quota_resource};
pub use rbac::{PolicyRule, RoleBinding, has_path};
pub use selector_text::selector_text;
pub use served_types::ServedTypes;
