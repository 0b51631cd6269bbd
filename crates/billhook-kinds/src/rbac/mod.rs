//! The group `rbac.authorization.k8s.io`.

mod binding;
mod policy_rule;
mod role;
mod subject;

use self::binding::Binding;
pub use self::policy_rule::{PolicyRule, has_path};
use self::role::Role;
pub use self::subject::RoleBinding;
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
