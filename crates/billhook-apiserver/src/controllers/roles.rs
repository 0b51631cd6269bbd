//! Roles and bindings: they count from the write on that stores them.

use std::sync::Arc;

use billhook_admission::Chain;

use super::escalation::Escalation;
use crate::permissions::{AuthorizationMode, KindOfRoles, RBAC_GROUP};
use crate::resources::Resource;
use crate::shared::{Change, Controller, Shared};

/// Hands roles and bindings to the permissions.
#[derive(Debug)]
pub(super) struct Roles;

impl Controller for Roles {
    fn watches(&self, group: &str, _: &str) -> bool {
        group == RBAC_GROUP
    }

    fn guard(&self, server: &Arc<Shared>, _: &Resource, chain: Chain) -> Chain {
        match server.permissions.mode {
            AuthorizationMode::Rbac => chain.plugin(Escalation(Arc::clone(server))),
            _ => chain,
        }
    }

    fn take_over(&self, server: &Shared, change: &Change<'_>) {
        if server.permissions.mode != AuthorizationMode::Rbac {
            return;
        }
        let (_, plural) = change.collection.parts();
        let object = server.read_object(RBAC_GROUP, plural, change.key);
        let (roles, object) = (&server.permissions.roles, object.as_deref());
        match plural {
            "roles" => roles.take_over_role(KindOfRoles::Namespaced, change.key, object),
            "clusterroles" => roles.take_over_role(KindOfRoles::Cluster, change.key, object),
            "rolebindings" => roles.take_over_binding(KindOfRoles::Namespaced, change.key, object),
            _ => roles.take_over_binding(KindOfRoles::Cluster, change.key, object),
        }
    }
}
