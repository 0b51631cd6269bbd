//! The permissions of users, for expressions that ask an authorizer: `--allow`.

use std::sync::Arc;

use billhook::webhook::{Authorizer, CelConditions};
use billhook::{KubernetesVersion, UserInfo};
use billhook_cel::{AuthorizationDecision, AuthorizationRequest, AuthorizationTarget};
use billhook_kinds::register_kinds;
use billhook_policy::MemoryCluster;

/// The verb that stands for all.
const ALL: &str = "*";

/// A verb that is allowed, on a resource or on everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allow {
    verb: String,
    /// A resource and its group.
    resource: Option<(String, String)>,
}

/// Reads `VERB`, `VERB:RESOURCE` or `VERB:RESOURCE.GROUP`.
pub(crate) fn allow(text: &str) -> Result<Allow, String> {
    let (verb, resource) = match text.split_once(':') {
        Some((verb, resource)) => (verb, Some(resource)),
        None => (text, None),
    };
    if verb.is_empty() || resource == Some("") {
        return Err("expected VERB, VERB:RESOURCE or VERB:RESOURCE.GROUP".to_owned());
    }
    let resource = resource.map(|resource| {
        let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
        (resource.to_owned(), group.to_owned())
    });
    Ok(Allow { verb: verb.to_owned(), resource })
}

/// Returns the authorizer, which denies what is not allowed; none if nothing is said.
pub(crate) fn authorizer(allowed: &[Allow]) -> Option<Arc<dyn Authorizer>> {
    match allowed {
        [] => None,
        allowed => Some(Arc::new(Allowed(allowed.to_vec()))),
    }
}

/// Returns a cluster with these permissions and the built-in kinds of a server of a version, in which
/// any namespace exists.
pub(crate) fn world(allowed: &[Allow], kubernetes: KubernetesVersion) -> MemoryCluster {
    let cluster = MemoryCluster::new().assume_namespaces();
    let mut cluster = cluster.with_authorizer(authorizer(allowed));
    register_kinds(&mut cluster, kubernetes);
    cluster
}

/// Evaluates match conditions.
pub(crate) fn conditions(allowed: &[Allow]) -> CelConditions {
    match authorizer(allowed) {
        None => CelConditions::new(),
        Some(authorizer) => CelConditions::new().authorizer(authorizer),
    }
}

#[derive(Debug)]
struct Allowed(Vec<Allow>);

impl Authorizer for Allowed {
    fn authorize(&self, _: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision {
        let is_it = |allow: &Allow| {
            [ALL, &request.verb].contains(&allow.verb.as_str())
                && match (&allow.resource, &request.target) {
                    (None, _) => true,
                    (Some((resource, group)), AuthorizationTarget::Resource(target)) => {
                        *resource == target.resource && *group == target.group
                    }
                    (Some(_), _) => false,
                }
        };
        AuthorizationDecision::new(self.0.iter().any(is_it))
    }
}
