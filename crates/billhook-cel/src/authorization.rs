//! The questions of expressions to an authorizer, and its answers (CE-10).

use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::UserInfo;

/// Decides what users may do.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// Returns whether a user may do something. If the request names a service account, it is about
    /// that account instead.
    fn authorize(&self, user: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision;
}

/// The question whether a user may do something. Texts that were not given are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthorizationRequest {
    /// The service account that the question is about; without it, the user who is given with it.
    pub service_account: Option<ServiceAccount>,
    /// The action, e.g. `get`.
    pub verb: String,
    /// The target of the action.
    pub target: AuthorizationTarget,
}

impl AuthorizationRequest {
    /// Returns the question whether a user may do something with a resource or a path.
    pub fn new(verb: impl Into<String>, target: impl Into<AuthorizationTarget>) -> Self {
        AuthorizationRequest { service_account: None, verb: verb.into(), target: target.into() }
    }
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

impl From<ResourceTarget> for AuthorizationTarget {
    fn from(resource: ResourceTarget) -> Self {
        AuthorizationTarget::Resource(resource)
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

/// An authorizer with the user whose permissions expressions ask for. Authorizers are equal if they are
/// the same one.
#[derive(Clone, Debug)]
pub(crate) struct BoundAuthorizer {
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) user: Arc<UserInfo>,
}

impl PartialEq for BoundAuthorizer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.authorizer, &other.authorizer) && self.user == other.user
    }
}
