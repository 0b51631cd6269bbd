//! All kinds, and the rules of each.

use billhook_apimachinery::{KubernetesVersion, split_api_version};

use crate::behavior::{Behavior, Plain};
use crate::generated::initial::OBJECTS;
use crate::generated::resources::KINDS;
use crate::initial_object::InitialObject;
use crate::kind::{BodyKind, Kind};
use crate::{
    admissionregistration, apiregistration, apps, autoscaling, batch, certificates, coordination,
    core, discovery, flowcontrol, networking, node, policy, rbac, resource, scheduling, storage,
};

impl BodyKind {
    /// Returns the rules of such bodies beside their fields.
    pub fn behavior(&self) -> &'static dyn Behavior {
        behavior_of(self.group, self.kind)
    }
}

impl Kind {
    /// Returns all kinds, in the order of their groups.
    pub fn all() -> &'static [Kind] {
        KINDS
    }

    /// Returns the kind of an API version, such as `apps/v1`, and a name.
    pub fn named(api_version: &str, kind: &str) -> Option<&'static Kind> {
        let (group, version) = split_api_version(api_version);
        let is_it = |it: &&Kind| it.kind == kind && it.group == group && it.version == version;
        KINDS.iter().find(is_it)
    }

    /// Returns its rules beside its fields.
    pub fn behavior(&self) -> &'static dyn Behavior {
        behavior_of(self.group, self.kind)
    }
}

impl InitialObject {
    /// Returns the objects that a server of a version begins with.
    pub fn all(kubernetes: KubernetesVersion) -> impl Iterator<Item = &'static InitialObject> {
        OBJECTS.iter().filter(move |object| match object.plural {
            "apiservices" => serves(kubernetes, object.key),
            _ => true,
        })
    }
}

/// Whether a server of a version has the group and version of a service of the API.
fn serves(kubernetes: KubernetesVersion, name: &str) -> bool {
    let (version, group) = name.split_once('.').unwrap_or_default();
    let is_of = |kind: &&Kind| kind.group == group && kind.version == version;
    KINDS.iter().filter(is_of).any(|kind| kind.is_served(kubernetes))
}

/// Returns the rules of a kind of a group.
fn behavior_of(group: &str, kind: &str) -> &'static dyn Behavior {
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
