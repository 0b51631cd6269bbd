//! The simulated part of a cluster: a scheduler, and nodes that run pods by scripts (CP-100 to CP-117).

mod addresses;
mod container;
mod document;
mod kubelet;
mod lease;
mod needs;
mod node;
mod node_status;
mod pod;
mod pod_events;
mod restart;
mod rule;
mod rules;
mod scheduler;
mod script;
mod stages;
mod status;

pub(crate) use self::kubelet::Kubelet;
pub(crate) use self::lease::Leases;
pub(crate) use self::node::{permit, register, version};
pub(crate) use self::node_status::NodeStatuses;
pub use self::rule::{Pods, Rule, RuleError};
pub(crate) use self::rules::Simulation;
pub(crate) use self::scheduler::Scheduler;
pub use self::script::{ContainerScript, End, Exit, ExitWords, ReadinessChange, Script, Unready};
pub(crate) use self::stages::Stages;
pub use self::stages::{Stage, StageError};
