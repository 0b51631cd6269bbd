//! The audit log: an event for each stage of a request that a policy asks for (ET-61).

mod event;
mod policy;
mod trail;

use std::fmt;

pub use self::event::{AuditEvent, AuditedObject, AuditedStatus};
pub use self::policy::{AuditPolicy, AuditPolicyError};
pub(crate) use self::trail::{Origin, Trail};

/// Writes events down.
type Write = dyn Fn(&AuditEvent) + Send + Sync;

/// An audit log: what is written down, and how.
pub(crate) struct AuditLog {
    policy: AuditPolicy,
    write: Box<Write>,
}

impl AuditLog {
    pub(crate) fn new(
        policy: AuditPolicy,
        write: impl Fn(&AuditEvent) + Send + Sync + 'static,
    ) -> Self {
        AuditLog { policy, write: Box::new(write) }
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").field("policy", &self.policy).finish_non_exhaustive()
    }
}
