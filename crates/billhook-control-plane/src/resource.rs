//! The resources that controllers read and write.

use billhook_apimachinery::split_api_version;
use billhook_apiserver::storage::Collection;

/// A resource of the API, in the version that is stored.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// Its group; empty for the core group.
    pub group: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its name in paths.
    pub plural: &'static str,
    /// The kind of its objects.
    pub kind: &'static str,
    /// Whether its objects are in namespaces.
    pub is_namespaced: bool,
    /// The name of its collection.
    collection: &'static str,
}

/// Declares resources: name, group, version, plural, kind, and whether they are in namespaces.
macro_rules! declare {
    ($($name:ident: $group:literal $version:literal $plural:literal $kind:literal $is_namespaced:literal;)*) => {
        $(
            #[doc = concat!("The resource `", $plural, "`.")]
            pub static $name: Resource = Resource {
                group: $group,
                version: $version,
                plural: $plural,
                kind: $kind,
                is_namespaced: $is_namespaced,
                collection: concat!($group, "/", $plural),
            };
        )*
    };
}

declare! {
    CERTIFICATE_REQUESTS: "certificates.k8s.io" "v1" "certificatesigningrequests" "CertificateSigningRequest" false;
    CLAIMS: "" "v1" "persistentvolumeclaims" "PersistentVolumeClaim" true;
    CLUSTER_ROLES: "rbac.authorization.k8s.io" "v1" "clusterroles" "ClusterRole" false;
    CLUSTER_ROLE_BINDINGS: "rbac.authorization.k8s.io" "v1" "clusterrolebindings" "ClusterRoleBinding" false;
    CONFIG_MAPS: "" "v1" "configmaps" "ConfigMap" true;
    CONTROLLER_REVISIONS: "apps" "v1" "controllerrevisions" "ControllerRevision" true;
    CRON_JOBS: "batch" "v1" "cronjobs" "CronJob" true;
    DAEMON_SETS: "apps" "v1" "daemonsets" "DaemonSet" true;
    DEFINITIONS: "apiextensions.k8s.io" "v1" "customresourcedefinitions" "CustomResourceDefinition" false;
    DEPLOYMENTS: "apps" "v1" "deployments" "Deployment" true;
    DISRUPTION_BUDGETS: "policy" "v1" "poddisruptionbudgets" "PodDisruptionBudget" true;
    ENDPOINTS: "" "v1" "endpoints" "Endpoints" true;
    ENDPOINT_SLICES: "discovery.k8s.io" "v1" "endpointslices" "EndpointSlice" true;
    EVENTS: "" "v1" "events" "Event" true;
    JOBS: "batch" "v1" "jobs" "Job" true;
    LEASES: "coordination.k8s.io" "v1" "leases" "Lease" true;
    NAMESPACES: "" "v1" "namespaces" "Namespace" false;
    NODES: "" "v1" "nodes" "Node" false;
    PODS: "" "v1" "pods" "Pod" true;
    POD_AUTOSCALERS: "autoscaling" "v2" "horizontalpodautoscalers" "HorizontalPodAutoscaler" true;
    QUOTAS: "" "v1" "resourcequotas" "ResourceQuota" true;
    REPLICATION_CONTROLLERS: "" "v1" "replicationcontrollers" "ReplicationController" true;
    REPLICA_SETS: "apps" "v1" "replicasets" "ReplicaSet" true;
    SECRETS: "" "v1" "secrets" "Secret" true;
    SELF_SUBJECT_ACCESS_REVIEWS: "authorization.k8s.io" "v1" "selfsubjectaccessreviews" "SelfSubjectAccessReview" false;
    SERVICES: "" "v1" "services" "Service" true;
    SERVICE_ACCOUNTS: "" "v1" "serviceaccounts" "ServiceAccount" true;
    STATEFUL_SETS: "apps" "v1" "statefulsets" "StatefulSet" true;
    STORAGE_CLASSES: "storage.k8s.io" "v1" "storageclasses" "StorageClass" false;
    SUBJECT_ACCESS_REVIEWS: "authorization.k8s.io" "v1" "subjectaccessreviews" "SubjectAccessReview" false;
    VOLUMES: "" "v1" "persistentvolumes" "PersistentVolume" false;
}

impl Resource {
    /// Returns the `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Returns whether a text is the `apiVersion` of its objects.
    pub(crate) fn is_api_version(&self, text: &str) -> bool {
        split_api_version(text) == (self.group, self.version)
    }

    /// Returns the path of its objects in a namespace, which does not count for a resource of the
    /// cluster.
    pub fn path(&self, namespace: &str) -> String {
        let root = match self.group {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        match self.is_namespaced {
            true => format!("{root}/namespaces/{namespace}/{}", self.plural),
            false => format!("{root}/{}", self.plural),
        }
    }

    /// Returns the path of an object, by its key.
    pub fn path_of(&self, key: &str) -> String {
        let (namespace, name) = split_key(key);
        format!("{}/{name}", self.path(namespace))
    }

    /// Returns the name of its collection.
    pub(crate) fn collection(&self) -> &'static str {
        self.collection
    }

    /// Returns whether a collection is that of its objects.
    pub fn is_in(&self, collection: &Collection) -> bool {
        collection.as_str() == self.collection
    }
}

/// Returns the namespace and the name of a key: `<namespace>/<name>`, or the name of an object of the
/// cluster.
pub fn split_key(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or(("", key))
}
