//! The built-in resources of Kubernetes 1.36, as a table.

use super::configuration::GROUP;

/// A built-in resource.
#[derive(Debug)]
pub(super) struct BuiltIn {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) resource: &'static str,
    pub(super) kind: &'static str,
    pub(super) namespaced: bool,
    /// With their kinds, as group, version and name; a kind without name is that of the resource.
    pub(super) subresources: &'static [(&'static str, Kind)],
}

type Kind = (&'static str, &'static str, &'static str);
type Subresources = &'static [(&'static str, Kind)];

/// The kind of the resource itself.
const OWN: Kind = ("", "", "");
const NONE: Subresources = &[];
const STATUS: Subresources = &[("status", OWN)];
const SCALE: Subresources = &[("scale", ("autoscaling", "v1", "Scale")), ("status", OWN)];

const fn namespaced(
    (group, version): (&'static str, &'static str),
    resource: &'static str,
    kind: &'static str,
    subresources: Subresources,
) -> BuiltIn {
    BuiltIn { group, version, resource, kind, namespaced: true, subresources }
}

const fn cluster(
    group: (&'static str, &'static str),
    resource: &'static str,
    kind: &'static str,
    subresources: Subresources,
) -> BuiltIn {
    BuiltIn { namespaced: false, ..namespaced(group, resource, kind, subresources) }
}

const CORE: (&str, &str) = ("", "v1");
const ADMISSION: (&str, &str) = (GROUP, "v1");
const APIEXTENSIONS: (&str, &str) = ("apiextensions.k8s.io", "v1");
const APIREGISTRATION: (&str, &str) = ("apiregistration.k8s.io", "v1");
const APPS: (&str, &str) = ("apps", "v1");
const AUTHENTICATION: (&str, &str) = ("authentication.k8s.io", "v1");
const AUTHORIZATION: (&str, &str) = ("authorization.k8s.io", "v1");
const AUTOSCALING_V2: (&str, &str) = ("autoscaling", "v2");
const AUTOSCALING_V1: (&str, &str) = ("autoscaling", "v1");
const BATCH: (&str, &str) = ("batch", "v1");
const CERTIFICATES: (&str, &str) = ("certificates.k8s.io", "v1");
const COORDINATION: (&str, &str) = ("coordination.k8s.io", "v1");
const DISCOVERY: (&str, &str) = ("discovery.k8s.io", "v1");
const EVENTS: (&str, &str) = ("events.k8s.io", "v1");
const FLOWCONTROL: (&str, &str) = ("flowcontrol.apiserver.k8s.io", "v1");
const NETWORKING: (&str, &str) = ("networking.k8s.io", "v1");
const NODE: (&str, &str) = ("node.k8s.io", "v1");
const POLICY: (&str, &str) = ("policy", "v1");
const RBAC: (&str, &str) = ("rbac.authorization.k8s.io", "v1");
const RESOURCE: (&str, &str) = ("resource.k8s.io", "v1");
const SCHEDULING: (&str, &str) = ("scheduling.k8s.io", "v1");
const STORAGE: (&str, &str) = ("storage.k8s.io", "v1");

/// The resources that are served unless a server is configured otherwise and that can be written,
/// groups in the order of their names, versions in the order of preference.
pub(super) const BUILT_IN: &[BuiltIn] = &[
    namespaced(CORE, "bindings", "Binding", NONE),
    namespaced(CORE, "configmaps", "ConfigMap", NONE),
    namespaced(CORE, "endpoints", "Endpoints", NONE),
    namespaced(CORE, "events", "Event", NONE),
    namespaced(CORE, "limitranges", "LimitRange", NONE),
    cluster(CORE, "namespaces", "Namespace", &[("finalize", OWN), ("status", OWN)]),
    cluster(CORE, "nodes", "Node", &[("proxy", ("", "v1", "NodeProxyOptions")), ("status", OWN)]),
    namespaced(CORE, "persistentvolumeclaims", "PersistentVolumeClaim", STATUS),
    cluster(CORE, "persistentvolumes", "PersistentVolume", STATUS),
    namespaced(
        CORE,
        "pods",
        "Pod",
        &[
            ("attach", ("", "v1", "PodAttachOptions")),
            ("binding", ("", "v1", "Binding")),
            ("ephemeralcontainers", OWN),
            ("eviction", ("policy", "v1", "Eviction")),
            ("exec", ("", "v1", "PodExecOptions")),
            ("portforward", ("", "v1", "PodPortForwardOptions")),
            ("proxy", ("", "v1", "PodProxyOptions")),
            ("resize", OWN),
            ("status", OWN),
        ],
    ),
    namespaced(CORE, "podtemplates", "PodTemplate", NONE),
    namespaced(CORE, "replicationcontrollers", "ReplicationController", SCALE),
    namespaced(CORE, "resourcequotas", "ResourceQuota", STATUS),
    namespaced(CORE, "secrets", "Secret", NONE),
    namespaced(
        CORE,
        "serviceaccounts",
        "ServiceAccount",
        &[("token", ("authentication.k8s.io", "v1", "TokenRequest"))],
    ),
    namespaced(
        CORE,
        "services",
        "Service",
        &[("proxy", ("", "v1", "ServiceProxyOptions")), ("status", OWN)],
    ),
    cluster(ADMISSION, "mutatingadmissionpolicies", "MutatingAdmissionPolicy", NONE),
    cluster(ADMISSION, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", NONE),
    cluster(ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", NONE),
    cluster(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy", STATUS),
    cluster(
        ADMISSION,
        "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding",
        NONE,
    ),
    cluster(ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", NONE),
    cluster(APIEXTENSIONS, "customresourcedefinitions", "CustomResourceDefinition", STATUS),
    cluster(APIREGISTRATION, "apiservices", "APIService", STATUS),
    namespaced(APPS, "controllerrevisions", "ControllerRevision", NONE),
    namespaced(APPS, "daemonsets", "DaemonSet", STATUS),
    namespaced(APPS, "deployments", "Deployment", SCALE),
    namespaced(APPS, "replicasets", "ReplicaSet", SCALE),
    namespaced(APPS, "statefulsets", "StatefulSet", SCALE),
    cluster(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview", NONE),
    cluster(AUTHENTICATION, "tokenreviews", "TokenReview", NONE),
    namespaced(AUTHORIZATION, "localsubjectaccessreviews", "LocalSubjectAccessReview", NONE),
    cluster(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview", NONE),
    cluster(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview", NONE),
    cluster(AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview", NONE),
    namespaced(AUTOSCALING_V2, "horizontalpodautoscalers", "HorizontalPodAutoscaler", STATUS),
    namespaced(AUTOSCALING_V1, "horizontalpodautoscalers", "HorizontalPodAutoscaler", STATUS),
    namespaced(BATCH, "cronjobs", "CronJob", STATUS),
    namespaced(BATCH, "jobs", "Job", STATUS),
    cluster(
        CERTIFICATES,
        "certificatesigningrequests",
        "CertificateSigningRequest",
        &[("approval", OWN), ("status", OWN)],
    ),
    namespaced(COORDINATION, "leases", "Lease", NONE),
    namespaced(DISCOVERY, "endpointslices", "EndpointSlice", NONE),
    namespaced(EVENTS, "events", "Event", NONE),
    cluster(FLOWCONTROL, "flowschemas", "FlowSchema", STATUS),
    cluster(FLOWCONTROL, "prioritylevelconfigurations", "PriorityLevelConfiguration", STATUS),
    cluster(NETWORKING, "ingressclasses", "IngressClass", NONE),
    namespaced(NETWORKING, "ingresses", "Ingress", STATUS),
    cluster(NETWORKING, "ipaddresses", "IPAddress", NONE),
    namespaced(NETWORKING, "networkpolicies", "NetworkPolicy", NONE),
    cluster(NETWORKING, "servicecidrs", "ServiceCIDR", STATUS),
    cluster(NODE, "runtimeclasses", "RuntimeClass", NONE),
    namespaced(POLICY, "poddisruptionbudgets", "PodDisruptionBudget", STATUS),
    cluster(RBAC, "clusterrolebindings", "ClusterRoleBinding", NONE),
    cluster(RBAC, "clusterroles", "ClusterRole", NONE),
    namespaced(RBAC, "rolebindings", "RoleBinding", NONE),
    namespaced(RBAC, "roles", "Role", NONE),
    cluster(RESOURCE, "deviceclasses", "DeviceClass", NONE),
    namespaced(RESOURCE, "resourceclaims", "ResourceClaim", STATUS),
    namespaced(RESOURCE, "resourceclaimtemplates", "ResourceClaimTemplate", NONE),
    cluster(RESOURCE, "resourceslices", "ResourceSlice", NONE),
    cluster(SCHEDULING, "priorityclasses", "PriorityClass", NONE),
    cluster(STORAGE, "csidrivers", "CSIDriver", NONE),
    cluster(STORAGE, "csinodes", "CSINode", NONE),
    namespaced(STORAGE, "csistoragecapacities", "CSIStorageCapacity", NONE),
    cluster(STORAGE, "storageclasses", "StorageClass", NONE),
    cluster(STORAGE, "volumeattachments", "VolumeAttachment", STATUS),
    cluster(STORAGE, "volumeattributesclasses", "VolumeAttributesClass", NONE),
];

/// The kinds of admission configuration, which no webhook sees (WM-03).
pub(super) fn exempt() -> impl Iterator<Item = &'static BuiltIn> {
    BUILT_IN.iter().filter(|known| known.group == GROUP)
}
