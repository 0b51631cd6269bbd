//! The resources that a server serves, and those of definitions among them (WM-49).

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};

use super::attributes::AdmissionAttributes;
use super::equivalence::EquivalentResources;
use crate::crd::{CrdVersion, CustomResourceDefinition, Scope};

/// A resource with its kind and scope: what turns an object into a request.
///
/// ```
/// use billhook::webhook::ApiResource;
/// use billhook::{GroupVersionKind, GroupVersionResource, Scope};
///
/// let deployments = ApiResource::new(
///     GroupVersionResource::new("apps", "v1", "deployments"),
///     GroupVersionKind::new("apps", "v1", "Deployment"),
///     Scope::Namespaced,
/// );
/// let request = deployments.create(serde_json::json!({
///     "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
/// }));
/// assert_eq!(request.resource.to_string(), "apps/v1 deployments");
/// assert_eq!(request.namespace, "default");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiResource {
    /// The resource.
    pub resource: GroupVersionResource,
    /// The kind of its objects.
    pub kind: GroupVersionKind,
    /// Whether its objects live in namespaces.
    pub scope: Scope,
}

impl ApiResource {
    /// A resource with its kind and scope.
    pub fn new(resource: GroupVersionResource, kind: GroupVersionKind, scope: Scope) -> Self {
        ApiResource { resource, kind, scope }
    }

    /// The resource of a version of a definition.
    pub fn of_version(version: &CrdVersion) -> Self {
        let crd = version.definition();
        ApiResource {
            resource: GroupVersionResource::new(crd.group(), version.name(), &crd.names().plural),
            kind: GroupVersionKind::new(crd.group(), version.name(), crd.kind()),
            scope: crd.scope(),
        }
    }

    /// The request that creates an object.
    pub fn create(&self, object: impl Into<DeepValue>) -> AdmissionAttributes {
        let (kind, resource) = self.names();
        self.in_scope(AdmissionAttributes::create(kind, resource, object))
    }

    /// The request that changes an object.
    pub fn update(
        &self,
        object: impl Into<DeepValue>,
        old_object: impl Into<DeepValue>,
    ) -> AdmissionAttributes {
        let (kind, resource) = self.names();
        self.in_scope(AdmissionAttributes::update(kind, resource, object, old_object))
    }

    /// The request that deletes an object.
    pub fn delete(&self, old_object: impl Into<DeepValue>) -> AdmissionAttributes {
        let (kind, resource) = self.names();
        self.in_scope(AdmissionAttributes::delete(kind, resource, old_object))
    }

    fn names(&self) -> (GroupVersionKind, GroupVersionResource) {
        (self.kind.clone(), self.resource.clone())
    }

    /// The namespace of a request follows from the scope; `default` if the object has none.
    fn in_scope(&self, mut request: AdmissionAttributes) -> AdmissionAttributes {
        match self.scope {
            Scope::Namespaced if request.namespace.is_empty() => {
                request.namespace = "default".to_owned();
            }
            Scope::Cluster if !self.resource.is_namespaces() => request.namespace.clear(),
            _ => {}
        }
        request
    }
}

impl EquivalentResources {
    /// Adds the resources of a definition: all its versions, also those that are not served, with
    /// the subresources `status` and `scale` where they are enabled (WM-49).
    pub fn register_definition(&mut self, definition: &CustomResourceDefinition) {
        let is_alike = !definition.is_converted_by_webhook();
        self.set_alike(definition.group(), &definition.names().plural, is_alike);
        for version in definition.versions() {
            let ApiResource { resource, kind, .. } = ApiResource::of_version(&version);
            if version.has_status_subresource() {
                self.register(resource.clone(), "status", kind.clone());
            }
            if version.has_scale_subresource() {
                let scale = GroupVersionKind::new("autoscaling", "v1", "Scale");
                self.register(resource.clone(), "scale", scale);
            }
            self.register(resource, "", kind);
        }
    }
}
