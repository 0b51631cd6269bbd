//! Conversions from and to the types of `kube`, which are those of `kube-core`.

use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};
use kube_core::admission as kube;
use kube_core::discovery::{ApiCapabilities, Scope as KubeScope};

use crate::Scope;
use crate::webhook::{ApiResource, Operation};

impl From<Operation> for kube::Operation {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Create => kube::Operation::Create,
            Operation::Update => kube::Operation::Update,
            Operation::Delete => kube::Operation::Delete,
            Operation::Connect => kube::Operation::Connect,
        }
    }
}

impl From<kube::Operation> for Operation {
    fn from(operation: kube::Operation) -> Self {
        match operation {
            kube::Operation::Create => Operation::Create,
            kube::Operation::Update => Operation::Update,
            kube::Operation::Delete => Operation::Delete,
            kube::Operation::Connect => Operation::Connect,
        }
    }
}

/// A resource as discovery returns it.
///
/// ```
/// use billhook::webhook::ApiResource;
/// use kube_core::discovery;
///
/// let gvk = kube_core::GroupVersionKind::gvk("apps", "v1", "Deployment");
/// let found = discovery::ApiResource::from_gvk(&gvk);
/// # let capabilities = discovery::ApiCapabilities {
/// #     scope: discovery::Scope::Namespaced, subresources: Vec::new(), operations: Vec::new(),
/// # };
/// let resource = ApiResource::from((found, capabilities));
/// assert_eq!(resource.resource.to_string(), "apps/v1 deployments");
/// assert_eq!(resource.kind.to_string(), "apps/v1 Deployment");
/// ```
impl From<(kube_core::ApiResource, ApiCapabilities)> for ApiResource {
    fn from((resource, capabilities): (kube_core::ApiResource, ApiCapabilities)) -> Self {
        let kube_core::ApiResource { group, version, kind, plural, .. } = resource;
        ApiResource::new(
            GroupVersionResource::new(group.as_str(), version.as_str(), plural),
            GroupVersionKind::new(group, version, kind),
            capabilities.scope.into(),
        )
    }
}

impl From<KubeScope> for Scope {
    fn from(scope: KubeScope) -> Self {
        match scope {
            KubeScope::Cluster => Scope::Cluster,
            KubeScope::Namespaced => Scope::Namespaced,
        }
    }
}
