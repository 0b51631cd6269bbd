#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod admissionregistration;
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
mod ip;
mod kind;
mod networking;
mod node;
mod policy;
mod rbac;
mod registry;
mod resource;
mod resource_names;
mod rules;
mod scheduling;
mod storage;
mod values;
mod workloads;

pub use self::core::{AllocatedByServices, AllocationError, ServiceAllocator, ServiceRanges};
pub use autoscaling::{pod_autoscaler_to_v1, pod_autoscaler_to_v2};
pub use behavior::{Behavior, Findings, WriteContext};
pub use kind::{BodyKind, ColumnHeading, Deprecation, Generation, Kind, NameRule, Subresource};
pub use rbac::{PolicyRule, RoleBinding};
