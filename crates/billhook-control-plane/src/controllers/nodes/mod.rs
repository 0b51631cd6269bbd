//! Nodes: those whose kubelets are silent, their taints, and the pods on them (CP-85 to CP-87).

mod eviction;
mod heartbeat;
mod pod_garbage;
mod readiness;
mod silence;
mod taints;
mod ttl;

pub(super) use self::eviction::TaintEviction;
pub(super) use self::pod_garbage::PodGarbage;
pub(super) use self::readiness::UnreadyNodes;
pub(super) use self::silence::SilentNodes;
pub(crate) use self::silence::{SIMULATED, is_silent, is_simulated};
pub(crate) use self::taints::NOT_READY;
pub(super) use self::taints::NodeTaints;
pub(super) use self::ttl::NodeTtl;

/// The name of the controllers of the life of nodes, and of their account.
const LIFECYCLE: [&str; 2] = ["node-lifecycle-controller", "node-controller"];
