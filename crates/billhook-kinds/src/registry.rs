//! Which kind has which rules.

use crate::behavior::{Behavior, Plain};
use crate::{
    admissionregistration, apiregistration, apps, autoscaling, batch, certificates, coordination,
    core, discovery, flowcontrol, networking, node, policy, rbac, resource, scheduling, storage,
};

/// Returns the rules of a kind of a group.
pub(crate) fn behavior_of(group: &str, kind: &str) -> &'static dyn Behavior {
    match group {
        "" => core::behavior_of(kind),
        "admissionregistration.k8s.io" => admissionregistration::behavior_of(kind),
        "apiregistration.k8s.io" => apiregistration::behavior_of(kind),
        "apps" => apps::behavior_of(kind),
        "autoscaling" => autoscaling::behavior_of(kind),
        "batch" => batch::behavior_of(kind),
        "certificates.k8s.io" => certificates::behavior_of(kind),
        "coordination.k8s.io" => coordination::behavior_of(kind),
        "discovery.k8s.io" => discovery::behavior_of(kind),
        "flowcontrol.apiserver.k8s.io" => flowcontrol::behavior_of(kind),
        "networking.k8s.io" => networking::behavior_of(kind),
        "node.k8s.io" => node::behavior_of(kind),
        "policy" => policy::behavior_of(kind),
        "rbac.authorization.k8s.io" => rbac::behavior_of(kind),
        "resource.k8s.io" => resource::behavior_of(kind),
        "scheduling.k8s.io" => scheduling::behavior_of(kind),
        "storage.k8s.io" => storage::behavior_of(kind),
        // Events of both groups are the same objects.
        "events.k8s.io" => &core::Event,
        _ => &Plain,
    }
}
