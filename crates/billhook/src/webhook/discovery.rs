//! The resources that a server serves: those of definitions, and the built-in ones of Kubernetes
//! 1.36 (WM-48, WM-49).

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, split_api_version};

use super::attributes::AdmissionAttributes;
use super::built_in::{BUILT_IN, BuiltIn};
use super::equivalence::EquivalentResources;
use crate::crd::{CrdVersion, CustomResourceDefinition, Scope};

/// A resource with its kind and scope: what turns an object into a request.
///
/// ```
/// use billhook::webhook::ApiResource;
/// let deployments = ApiResource::built_in("apps/v1", "Deployment").unwrap();
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

    /// The built-in resource whose objects have this `apiVersion` and `kind`.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        let (group, version) = split_api_version(api_version);
        let is_wanted =
            |known: &&BuiltIn| (known.group, known.version, known.kind) == (group, version, kind);
        BUILT_IN.iter().find(is_wanted).map(BuiltIn::api_resource)
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

impl BuiltIn {
    fn api_resource(&self) -> ApiResource {
        let scope = if self.namespaced { Scope::Namespaced } else { Scope::Cluster };
        ApiResource {
            resource: GroupVersionResource::new(self.group, self.version, self.resource),
            kind: GroupVersionKind::new(self.group, self.version, self.kind),
            scope,
        }
    }
}

impl EquivalentResources {
    /// The built-in resources that a server of Kubernetes 1.36 serves by default
    /// (WM-48). The two resources for events share their storage.
    pub fn built_in() -> Self {
        let mut registry = EquivalentResources::new();
        registry.share_storage(("events.k8s.io", "events"), ("", "events"));
        for known in BUILT_IN {
            let ApiResource { resource, kind, .. } = known.api_resource();
            for (subresource, (group, version, name)) in known.subresources {
                let kind = match *name {
                    "" => kind.clone(),
                    name => GroupVersionKind::new(*group, *version, name),
                };
                registry.register(resource.clone(), subresource, kind);
            }
            registry.register(resource, "", kind);
        }
        registry
    }

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
