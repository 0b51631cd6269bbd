//! The resources that webhooks and policies are matched with.

use billhook::{GroupVersionResource, KubernetesVersion, Scope};
use billhook_kinds::{Kind, equivalent_resources, register_kinds};
use billhook_policy::{Cluster as _, MemoryCluster, ParamKind};

fn equivalents(kubernetes: KubernetesVersion, resource: [&str; 3], subresource: &str) -> String {
    let [group, version, plural] = resource;
    let resource = GroupVersionResource::new(group, version, plural);
    let registry = equivalent_resources(kubernetes);
    let found = registry.equivalents(&resource, subresource).iter();
    found.map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// WM-48: the preferred version comes first, and both resources of events are stored as one.
#[test]
fn equivalent_built_in_resources() {
    for (resource, subresource, expected) in [
        (["apps", "v1", "deployments"], "", "apps/v1 deployments"),
        (["apps", "v1", "deployments"], "scale", "apps/v1 deployments"),
        (["extensions", "v1beta1", "deployments"], "", ""),
        (["events.k8s.io", "v1", "events"], "", "v1 events, events.k8s.io/v1 events"),
        (
            ["autoscaling", "v1", "horizontalpodautoscalers"],
            "status",
            "autoscaling/v2 horizontalpodautoscalers, autoscaling/v1 horizontalpodautoscalers",
        ),
    ] {
        let found = equivalents(KubernetesVersion::V1_36, resource, subresource);
        assert_eq!(found, expected, "{resource:?} {subresource}");
    }
}

/// WM-51.
#[test]
fn kinds_of_subresources() {
    let registry = equivalent_resources(KubernetesVersion::V1_36);
    for (group, plural, subresource, expected) in [
        ("apps", "deployments", "", "apps/v1 Deployment"),
        ("apps", "deployments", "scale", "autoscaling/v1 Scale"),
        ("", "pods", "eviction", "policy/v1 Eviction"),
        ("", "pods", "exec", "v1 PodExecOptions"),
        ("", "namespaces", "finalize", "v1 Namespace"),
        ("", "serviceaccounts", "token", "authentication.k8s.io/v1 TokenRequest"),
    ] {
        let resource = GroupVersionResource::new(group, "v1", plural);
        let found = registry.kind_for(&resource, subresource).map(ToString::to_string);
        assert_eq!(found.as_deref(), Some(expected), "{plural}/{subresource}");
    }
}

/// WM-48: what a server does not serve is not among its resources.
#[test]
fn resources_depend_on_the_version() {
    let classes = ["resource.k8s.io", "v1", "deviceclasses"];
    assert_eq!(equivalents(KubernetesVersion::V1_33, classes, ""), "");
    let served = equivalents(KubernetesVersion::V1_34, classes, "");
    assert_eq!(served, "resource.k8s.io/v1 deviceclasses");
    let class = ParamKind::new("resource.k8s.io/v1", "DeviceClass");
    let limits = ParamKind::new("v1", "LimitRange");
    for (kubernetes, expected) in
        [(KubernetesVersion::V1_33, None), (KubernetesVersion::V1_34, Some(Scope::Cluster))]
    {
        let mut cluster = MemoryCluster::new();
        assert_eq!(cluster.scope(&limits), None);
        register_kinds(&mut cluster, kubernetes);
        assert_eq!(cluster.scope(&class), expected, "{kubernetes}");
        assert_eq!(cluster.scope(&limits), Some(Scope::Namespaced));
    }
}

#[test]
fn resources_of_kinds() {
    for (api_version, kind, resource, scope) in [
        ("apps/v1", "Deployment", "apps/v1 deployments", Scope::Namespaced),
        ("v1", "Node", "v1 nodes", Scope::Cluster),
    ] {
        let found = Kind::named(api_version, kind).unwrap().api_resource();
        assert_eq!(found.resource.to_string(), resource);
        assert_eq!((found.kind.api_version(), found.kind.kind), (api_version.into(), kind.into()));
        assert_eq!(found.scope, scope);
    }
}
