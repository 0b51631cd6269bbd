//! Which kind has which rules.

use crate::behavior::{Behavior, Plain};
use crate::{admissionregistration, coordination, core};

/// Returns the rules of a kind of a group.
pub(crate) fn behavior_of(group: &str, kind: &str) -> &'static dyn Behavior {
    match (group, kind) {
        ("", "ConfigMap") => &core::ConfigMap,
        ("", "Event") => &core::Event,
        ("", "Namespace") => &core::Namespace,
        ("", "Secret") => &core::Secret,
        ("", "ServiceAccount") => &core::ServiceAccount,
        ("admissionregistration.k8s.io", kind) => admissionregistration::behavior_of(kind),
        ("coordination.k8s.io", "Lease") => &coordination::Lease,
        ("events.k8s.io", "Event") => &core::Event,
        _ => &Plain,
    }
}
