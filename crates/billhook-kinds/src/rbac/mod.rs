//! The group `rbac.authorization.k8s.io`.

mod binding;
mod role;

use self::binding::Binding;
use self::role::Role;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "Role" => &Role::Namespaced,
        "ClusterRole" => &Role::Cluster,
        "RoleBinding" => &Binding::Namespaced,
        "ClusterRoleBinding" => &Binding::Cluster,
        _ => &Plain,
    }
}
