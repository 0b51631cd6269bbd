//! Texts that a request leaves for others: annotations of the audit log and warnings for the
//! client.

mod annotations;
mod warnings;

pub use annotations::{AuditAnnotation, AuditAnnotations, AuditLevel};
pub use warnings::Warnings;
