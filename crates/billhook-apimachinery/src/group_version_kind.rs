//! The names of kinds and resources, with group and version.

use std::fmt;

use crate::{namespace, record};

record! {
    /// Group, version and name of a resource, e.g. `apps`, `v1`, `deployments`. The core group is
    /// empty.
    #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct GroupVersionResource = "GroupVersionResource" {
        /// The API group.
        pub group: String = "group" @required,
        /// The version.
        pub version: String = "version" @required,
        /// The name in URLs, without subresource.
        pub resource: String = "resource" @required,
    }

    /// Group, version and name of a kind, e.g. `apps`, `v1`, `Deployment`. The core group is empty.
    #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct GroupVersionKind = "GroupVersionKind" {
        /// The API group.
        pub group: String = "group" @required,
        /// The version.
        pub version: String = "version" @required,
        /// The kind.
        pub kind: String = "kind" @required,
    }
}

impl GroupVersionResource {
    /// Creates a resource from its three names.
    pub fn new(
        group: impl Into<String>,
        version: impl Into<String>,
        resource: impl Into<String>,
    ) -> Self {
        let (group, version, resource) = (group.into(), version.into(), resource.into());
        GroupVersionResource { group, version, resource }
    }

    /// Returns the resource as errors name it: `deployments.apps`, or `pods` in the core group
    /// (WM-04).
    pub fn qualified(&self) -> String {
        match self.group.as_str() {
            "" => self.resource.clone(),
            group => format!("{}.{group}", self.resource),
        }
    }

    /// Returns the resource with a subresource that may be empty: `apps/v1 deployments/scale`.
    pub fn with_subresource(&self, subresource: &str) -> String {
        if subresource.is_empty() { self.to_string() } else { format!("{self}/{subresource}") }
    }

    /// Returns the resource of Namespace objects.
    pub fn namespaces() -> Self {
        Self::new("", namespace::API_VERSION, namespace::RESOURCE)
    }

    /// Returns whether this is the resource of Namespace objects (WM-37).
    pub fn is_namespaces(&self) -> bool {
        self.version == namespace::API_VERSION
            && namespace::is_resource(&self.group, &self.resource)
    }
}

/// `apps/v1 deployments`, in the core group `v1 pods`.
impl fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", api_version(&self.group, &self.version), self.resource)
    }
}

impl GroupVersionKind {
    /// Creates a kind from its three names.
    pub fn new(
        group: impl Into<String>,
        version: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        let (group, version, kind) = (group.into(), version.into(), kind.into());
        GroupVersionKind { group, version, kind }
    }

    /// Group and version as objects have them in `apiVersion`.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Returns the kind as errors of a server name it: `apps/v1, Kind=Deployment`, in the core group
    /// `/v1, Kind=Pod`.
    pub fn in_errors(&self) -> String {
        format!("{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

/// `apps/v1 Deployment`, in the core group `v1 Pod`.
impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version(), self.kind)
    }
}

/// Splits an `apiVersion` into its group, which is empty in the core group, and its version.
///
/// A text with several slashes, which no API version has, is split at the first one.
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
