//! The permissions that requests used, by user.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use billhook::webhook::{AuthorizationRequest, AuthorizationTarget};
use billhook_apimachinery::{UserInfo, namespace};
use billhook_kinds::PolicyRule;

/// How many permissions are remembered at most: requests may name any resource.
const MAX: usize = 100_000;

/// The permissions that the requests of a user needed ([`Server::used_permissions`](crate::Server::used_permissions)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedPermissions {
    /// The name of the user.
    pub user: String,
    /// The rules that allow the requests to the whole cluster, to objects without a namespace and to
    /// paths.
    pub cluster: Vec<PolicyRule>,
    /// The rules that allow the requests to one namespace, beside those of the cluster.
    pub namespaces: BTreeMap<String, Vec<PolicyRule>>,
}

/// Remembers the permissions that requests use.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Used>);

#[derive(Clone, Debug, Default)]
struct Used {
    /// By user and namespace.
    rights: BTreeMap<String, BTreeMap<String, BTreeSet<PolicyRule>>>,
    count: usize,
}

impl Recorder {
    /// Remembers that a user was allowed something.
    pub(crate) fn add(&self, user: &UserInfo, question: &AuthorizationRequest) {
        let Some((namespace, right)) = right_of(question) else { return };
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used.count >= MAX {
            return;
        }
        let of_user = used.rights.entry(user.username.clone()).or_default();
        let is_new = of_user.entry(namespace).or_default().insert(right);
        used.count += usize::from(is_new);
    }

    /// Returns what was used, by the names of the users.
    pub(crate) fn used(&self) -> Vec<UsedPermissions> {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let users = used.rights.into_iter().map(|(user, mut rights)| {
            let cluster = rights.remove("").unwrap_or_default();
            let namespaces = rights.into_iter().filter_map(|(namespace, rights)| {
                let rest: Vec<_> = rights.difference(&cluster).cloned().collect();
                (!rest.is_empty()).then(|| (namespace, PolicyRule::join(rest)))
            });
            let namespaces = namespaces.collect();
            UsedPermissions { user, cluster: PolicyRule::join(cluster), namespaces }
        });
        users.collect()
    }
}

/// Returns the permission for a request, and the namespace that it is needed in; empty for the cluster.
fn right_of(question: &AuthorizationRequest) -> Option<(String, PolicyRule)> {
    let verbs = vec![question.verb.clone()];
    match &question.target {
        AuthorizationTarget::Resource(target) => {
            let resource = match target.subresource.as_str() {
                "" => target.resource.clone(),
                subresource => format!("{}/{subresource}", target.resource),
            };
            // A role of a namespace allows nothing to the namespace itself.
            let is_namespace = namespace::is_resource(&target.group, &target.resource);
            let namespace = if is_namespace { "" } else { &target.namespace };
            let right = PolicyRule {
                verbs,
                api_groups: vec![target.group.clone()],
                resources: vec![resource],
                ..PolicyRule::default()
            };
            Some((namespace.to_owned(), right))
        }
        AuthorizationTarget::Path(path) => {
            let non_resource_urls = vec![path.clone()];
            Some((String::new(), PolicyRule { verbs, non_resource_urls, ..PolicyRule::default() }))
        }
        _ => None,
    }
}
