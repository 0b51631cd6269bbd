//! The knowledge that the parts of a pod have of the whole.

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::KubernetesVersion;
use serde_json::Value;

use super::checks::{is_set, name_of};
use crate::behavior::WriteContext;
use crate::values::{integer, items, text};

/// The knowledge that the parts of a pod have of the whole.
pub(super) struct Scope<'s> {
    /// The version of the server.
    pub(super) kubernetes: KubernetesVersion,
    /// Whether the server refuses privileged containers.
    pub(super) refuses_privileged: bool,
    /// The pod; none in templates.
    pub(super) pod: Option<&'s Value>,
    /// The volumes without errors, by their names.
    pub(super) volumes: BTreeMap<&'s str, &'s Value>,
    /// The names of the claims of devices.
    pub(super) claims: BTreeSet<&'s str>,
    /// The seconds that containers have to end.
    pub(super) grace: i64,
    /// When containers are restarted.
    pub(super) restart_policy: &'s str,
    /// Whether the users of the pod are those of its node.
    pub(super) has_host_users: bool,
    /// Whether the pod has addresses of its node.
    pub(super) is_on_host_network: bool,
}

impl<'s> Scope<'s> {
    /// Begins with what a spec says.
    pub(super) fn of(spec: &'s Value, pod: Option<&'s Value>, context: &WriteContext<'_>) -> Self {
        Scope {
            kubernetes: context.kubernetes,
            refuses_privileged: context.refuses_privileged,
            pod,
            volumes: BTreeMap::new(),
            claims: items(spec, "/resourceClaims").iter().map(name_of).collect(),
            grace: integer(spec, "/terminationGracePeriodSeconds").unwrap_or_default(),
            restart_policy: text(spec, "/restartPolicy"),
            has_host_users: spec.get("hostUsers") != Some(&Value::Bool(false)),
            is_on_host_network: is_set(spec, "hostNetwork"),
        }
    }
}
