//! An authorizer that allows what a suite says.

use std::sync::Arc;

use billhook::UserInfo;
use billhook::webhook::Authorizer;
use billhook_cel::{AuthorizationDecision, AuthorizationRequest, AuthorizationTarget};

use crate::object_case::Allowed;

/// All that is allowed.
#[derive(Debug)]
struct Permissions(Vec<Allowed>);

/// Returns the authorizer; none if nothing is allowed.
pub(crate) fn authorizer(allowed: &[Allowed]) -> Option<Arc<dyn Authorizer>> {
    match allowed {
        [] => None,
        allowed => Some(Arc::new(Permissions(allowed.to_vec()))),
    }
}

impl Authorizer for Permissions {
    fn authorize(&self, user: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision {
        let name = match &request.service_account {
            Some(account) => {
                format!("system:serviceaccount:{}:{}", account.namespace, account.name)
            }
            None => user.username.clone(),
        };
        let is_it = |allowed: &Allowed| {
            let is_target = match &request.target {
                _ if allowed.resource.is_empty() => true,
                AuthorizationTarget::Resource(target) => {
                    target.resource == allowed.resource && target.group == allowed.api_group
                }
                _ => false,
            };
            is_target
                && ["*", &request.verb].contains(&allowed.verb.as_str())
                && (allowed.user.is_empty() || allowed.user == name)
        };
        AuthorizationDecision::new(self.0.iter().any(is_it))
    }
}
