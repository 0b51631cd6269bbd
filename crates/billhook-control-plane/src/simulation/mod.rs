//! The simulated part of a cluster: a scheduler, and nodes that run pods by scripts (CP-100 to CP-117).

mod kubelet;
mod node;
mod scheduler;
mod script;
mod status;

pub use self::kubelet::Kubelet;
pub(crate) use self::node::register;
pub use self::scheduler::Scheduler;
pub use self::script::{Exit, Script, Unready};
