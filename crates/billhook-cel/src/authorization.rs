//! The questions of expressions to an authorizer, and its answers (CE-10).

use std::fmt;
use std::sync::Arc;

/// Decides whether something is allowed.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// Whether a request is allowed.
    fn authorize(&self, request: &AuthorizationRequest) -> AuthorizationDecision;
}

/// The question of an expression: whether someone may do something. Texts that were not given are
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthorizationRequest {
    /// Who; without it the user of the request that is admitted.
    pub service_account: Option<ServiceAccount>,
    /// The action, e.g. `get`.
    pub verb: String,
    /// The target of the action.
    pub target: AuthorizationTarget,
}

/// A service account.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceAccount {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The target of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthorizationTarget {
    /// A path of the server that is not a resource.
    Path(String),
    /// A resource.
    Resource(ResourceTarget),
}

impl Default for AuthorizationTarget {
    fn default() -> Self {
        AuthorizationTarget::Resource(ResourceTarget::default())
    }
}

/// A resource of any version; texts that were not given are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceTarget {
    /// Its group.
    pub group: String,
    /// The resource, e.g. `deployments`.
    pub resource: String,
    /// Its subresource, e.g. `scale`.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name of an object.
    pub name: String,
    /// The selector of fields as it was written.
    pub field_selector: String,
    /// The selector of labels as it was written.
    pub label_selector: String,
}

impl ResourceTarget {
    /// Returns a resource of a group.
    pub fn new(group: impl Into<String>, resource: impl Into<String>) -> Self {
        ResourceTarget { group: group.into(), resource: resource.into(), ..Default::default() }
    }
}

/// The answer of an authorizer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthorizationDecision {
    /// Whether it is allowed.
    pub allowed: bool,
    /// The reason; may be empty.
    pub reason: String,
    /// The reason why nothing could be decided.
    pub error: Option<String>,
}

impl AuthorizationDecision {
    /// Allowed or not, without a reason.
    pub fn new(allowed: bool) -> Self {
        AuthorizationDecision { allowed, ..Default::default() }
    }
}

/// An authorizer that is compared as the same or another.
#[derive(Clone, Debug)]
pub(crate) struct SharedAuthorizer(pub(crate) Arc<dyn Authorizer>);

impl PartialEq for SharedAuthorizer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
