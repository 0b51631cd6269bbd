//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE: Record = Record::new(
    "AWSElasticBlockStoreVolumeSource",
    &[
        Field::new("volumeID", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
        Field::new("partition", Type::Int32).numbered(&[3]),
        Field::new("readOnly", Type::Flag).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static AFFINITY: Record = Record::new(
    "Affinity",
    &[
        Field::new("nodeAffinity", Type::Optional(&Type::Record(|| &super::core_v1::NODE_AFFINITY))).numbered(&[1]),
        Field::new("podAffinity", Type::Optional(&Type::Record(|| &super::core_v1::POD_AFFINITY))).numbered(&[2]),
        Field::new("podAntiAffinity", Type::Optional(&Type::Record(|| &super::core_v1::POD_ANTI_AFFINITY))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static APP_ARMOR_PROFILE: Record = Record::new(
    "AppArmorProfile",
    &[
        Field::new("type", Type::Named("v1.AppArmorProfileType", &Type::Text)).numbered(&[1]).required().needed().one_of(&["Localhost","RuntimeDefault","Unconfined"]),
        Field::new("localhostProfile", Type::Optional(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static ATTACHED_VOLUME: Record = Record::new(
    "AttachedVolume",
    &[
        Field::new("name", Type::Named("v1.UniqueVolumeName", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("devicePath", Type::Text).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static AZURE_DISK_VOLUME_SOURCE: Record = Record::new(
    "AzureDiskVolumeSource",
    &[
        Field::new("diskName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("diskURI", Type::Text).numbered(&[2]).required().needed(),
        Field::new("cachingMode", Type::Optional(&Type::Named("v1.AzureDataDiskCachingMode", &Type::Text))).numbered(&[3]).one_of(&["None","ReadOnly","ReadWrite"]).default("\"ReadWrite\""),
        Field::new("fsType", Type::Optional(&Type::Text)).numbered(&[4]).default("\"ext4\""),
        Field::new("readOnly", Type::Optional(&Type::Flag)).numbered(&[5]).default("false"),
        Field::new("kind", Type::Optional(&Type::Named("v1.AzureDataDiskKind", &Type::Text))).numbered(&[6]).one_of(&["Dedicated","Managed","Shared"]).default("\"Shared\""),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static AZURE_FILE_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "AzureFilePersistentVolumeSource",
    &[
        Field::new("secretName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("shareName", Type::Text).numbered(&[2]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
        Field::new("secretNamespace", Type::Optional(&Type::Text)).numbered(&[4]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static AZURE_FILE_VOLUME_SOURCE: Record = Record::new(
    "AzureFileVolumeSource",
    &[
        Field::new("secretName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("shareName", Type::Text).numbered(&[2]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static BINDING: Record = Record::new(
    "Binding",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("target", Type::Record(|| &super::core_v1::OBJECT_REFERENCE)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CSI_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "CSIPersistentVolumeSource",
    &[
        Field::new("driver", Type::Text).numbered(&[1]).required().needed(),
        Field::new("volumeHandle", Type::Text).numbered(&[2]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
        Field::new("fsType", Type::Text).numbered(&[4]),
        Field::new("volumeAttributes", Type::Map(&Type::Text)).numbered(&[5]),
        Field::new("controllerPublishSecretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[6]),
        Field::new("nodeStageSecretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[7]),
        Field::new("nodePublishSecretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[8]),
        Field::new("controllerExpandSecretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[9]),
        Field::new("nodeExpandSecretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[10]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CSI_VOLUME_SOURCE: Record = Record::new(
    "CSIVolumeSource",
    &[
        Field::new("driver", Type::Text).numbered(&[1]).required().needed(),
        Field::new("readOnly", Type::Optional(&Type::Flag)).numbered(&[2]),
        Field::new("fsType", Type::Optional(&Type::Text)).numbered(&[3]),
        Field::new("volumeAttributes", Type::Map(&Type::Text)).numbered(&[4]),
        Field::new("nodePublishSecretRef", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CAPABILITIES: Record = Record::new(
    "Capabilities",
    &[
        Field::new("add", Type::List(&Type::Named("v1.Capability", &Type::Text))).numbered(&[1]),
        Field::new("drop", Type::List(&Type::Named("v1.Capability", &Type::Text))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CEPH_FS_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "CephFSPersistentVolumeSource",
    &[
        Field::new("monitors", Type::List(&Type::Text)).numbered(&[1]).required().needed(),
        Field::new("path", Type::Text).numbered(&[2]),
        Field::new("user", Type::Text).numbered(&[3]),
        Field::new("secretFile", Type::Text).numbered(&[4]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[5]),
        Field::new("readOnly", Type::Flag).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CEPH_FS_VOLUME_SOURCE: Record = Record::new(
    "CephFSVolumeSource",
    &[
        Field::new("monitors", Type::List(&Type::Text)).numbered(&[1]).required().needed(),
        Field::new("path", Type::Text).numbered(&[2]),
        Field::new("user", Type::Text).numbered(&[3]),
        Field::new("secretFile", Type::Text).numbered(&[4]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[5]),
        Field::new("readOnly", Type::Flag).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CINDER_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "CinderPersistentVolumeSource",
    &[
        Field::new("volumeID", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CINDER_VOLUME_SOURCE: Record = Record::new(
    "CinderVolumeSource",
    &[
        Field::new("volumeID", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CLIENT_IP_CONFIG: Record = Record::new(
    "ClientIPConfig",
    &[
        Field::new("timeoutSeconds", Type::Optional(&Type::Int32)).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CLUSTER_TRUST_BUNDLE_PROJECTION: Record = Record::new(
    "ClusterTrustBundleProjection",
    &[
        Field::new("name", Type::Optional(&Type::Text)).numbered(&[1]),
        Field::new("signerName", Type::Optional(&Type::Text)).numbered(&[2]),
        Field::new("labelSelector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[3]),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[5]),
        Field::new("path", Type::Text).numbered(&[4]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static COMPONENT_CONDITION: Record = Record::new(
    "ComponentCondition",
    &[
        Field::new("type", Type::Named("v1.ComponentConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("message", Type::Text).numbered(&[3]),
        Field::new("error", Type::Text).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static COMPONENT_STATUS: Record = Record::new(
    "ComponentStatus",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("conditions", Type::List(&Type::Record(|| &super::core_v1::COMPONENT_CONDITION))).numbered(&[2]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONFIG_MAP: Record = Record::new(
    "ConfigMap",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("immutable", Type::Optional(&Type::Flag)).numbered(&[4]),
        Field::new("data", Type::Map(&Type::Text)).numbered(&[2]),
        Field::new("binaryData", Type::Map(&Type::Bytes)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONFIG_MAP_ENV_SOURCE: Record = Record::new(
    "ConfigMapEnvSource",
    &[
        Field::new("name", Type::Text).numbered(&[1, 1]).embedded("LocalObjectReference").default("\"\""),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONFIG_MAP_KEY_SELECTOR: Record = Record::new(
    "ConfigMapKeySelector",
    &[
        Field::new("name", Type::Text).numbered(&[1, 1]).embedded("LocalObjectReference").default("\"\""),
        Field::new("key", Type::Text).numbered(&[2]).required().needed(),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[3]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static CONFIG_MAP_NODE_CONFIG_SOURCE: Record = Record::new(
    "ConfigMapNodeConfigSource",
    &[
        Field::new("namespace", Type::Text).numbered(&[1]).required().needed(),
        Field::new("name", Type::Text).numbered(&[2]).required().needed(),
        Field::new("uid", Type::Named("types.UID", &Type::Text)).numbered(&[3]),
        Field::new("resourceVersion", Type::Text).numbered(&[4]),
        Field::new("kubeletConfigKey", Type::Text).numbered(&[5]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONFIG_MAP_PROJECTION: Record = Record::new(
    "ConfigMapProjection",
    &[
        Field::new("name", Type::Text).numbered(&[1, 1]).embedded("LocalObjectReference").default("\"\""),
        Field::new("items", Type::List(&Type::Record(|| &super::core_v1::KEY_TO_PATH))).numbered(&[2]),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONFIG_MAP_VOLUME_SOURCE: Record = Record::new(
    "ConfigMapVolumeSource",
    &[
        Field::new("name", Type::Text).numbered(&[1, 1]).embedded("LocalObjectReference").default("\"\""),
        Field::new("items", Type::List(&Type::Record(|| &super::core_v1::KEY_TO_PATH))).numbered(&[2]),
        Field::new("defaultMode", Type::Optional(&Type::Int32)).numbered(&[3]),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER: Record = Record::new(
    "Container",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("image", Type::Text).numbered(&[2]),
        Field::new("command", Type::List(&Type::Text)).numbered(&[3]),
        Field::new("args", Type::List(&Type::Text)).numbered(&[4]),
        Field::new("workingDir", Type::Text).numbered(&[5]),
        Field::new("ports", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_PORT))).numbered(&[6]).list(ListType::Map(&["containerPort","protocol"])).patched_by("containerPort"),
        Field::new("envFrom", Type::List(&Type::Record(|| &super::core_v1::ENV_FROM_SOURCE))).numbered(&[19]),
        Field::new("env", Type::List(&Type::Record(|| &super::core_v1::ENV_VAR))).numbered(&[7]).list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("resources", Type::Record(|| &super::core_v1::RESOURCE_REQUIREMENTS)).numbered(&[8]).required(),
        Field::new("resizePolicy", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_RESIZE_POLICY))).numbered(&[23]),
        Field::new("restartPolicy", Type::Optional(&Type::Named("v1.ContainerRestartPolicy", &Type::Text))).numbered(&[24]),
        Field::new("restartPolicyRules", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_RESTART_RULE))).numbered(&[25]).since(KubernetesVersion::V1_34),
        Field::new("volumeMounts", Type::List(&Type::Record(|| &super::core_v1::VOLUME_MOUNT))).numbered(&[9]).list(ListType::Map(&["mountPath"])).patched_by("mountPath"),
        Field::new("volumeDevices", Type::List(&Type::Record(|| &super::core_v1::VOLUME_DEVICE))).numbered(&[21]).list(ListType::Map(&["devicePath"])).patched_by("devicePath"),
        Field::new("livenessProbe", Type::Optional(&Type::Record(|| &super::core_v1::PROBE))).numbered(&[10]),
        Field::new("readinessProbe", Type::Optional(&Type::Record(|| &super::core_v1::PROBE))).numbered(&[11]),
        Field::new("startupProbe", Type::Optional(&Type::Record(|| &super::core_v1::PROBE))).numbered(&[22]),
        Field::new("lifecycle", Type::Optional(&Type::Record(|| &super::core_v1::LIFECYCLE))).numbered(&[12]),
        Field::new("terminationMessagePath", Type::Text).numbered(&[13]),
        Field::new("terminationMessagePolicy", Type::Named("v1.TerminationMessagePolicy", &Type::Text)).numbered(&[20]).one_of(&["FallbackToLogsOnError","File"]),
        Field::new("imagePullPolicy", Type::Named("v1.PullPolicy", &Type::Text)).numbered(&[14]).one_of(&["Always","IfNotPresent","Never"]),
        Field::new("securityContext", Type::Optional(&Type::Record(|| &super::core_v1::SECURITY_CONTEXT))).numbered(&[15]),
        Field::new("stdin", Type::Flag).numbered(&[16]),
        Field::new("stdinOnce", Type::Flag).numbered(&[17]),
        Field::new("tty", Type::Flag).numbered(&[18]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_EXTENDED_RESOURCE_REQUEST: Record = Record::new(
    "ContainerExtendedResourceRequest",
    &[
        Field::new("containerName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("resourceName", Type::Text).numbered(&[2]).required().needed(),
        Field::new("requestName", Type::Text).numbered(&[3]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_IMAGE: Record = Record::new(
    "ContainerImage",
    &[
        Field::new("names", Type::List(&Type::Text)).numbered(&[1]).required(),
        Field::new("sizeBytes", Type::Int64).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_PORT: Record = Record::new(
    "ContainerPort",
    &[
        Field::new("name", Type::Text).numbered(&[1]),
        Field::new("hostPort", Type::Int32).numbered(&[2]),
        Field::new("containerPort", Type::Int32).numbered(&[3]).required().needed(),
        Field::new("protocol", Type::Named("v1.Protocol", &Type::Text)).numbered(&[4]).one_of(&["SCTP","TCP","UDP"]).default("\"TCP\""),
        Field::new("hostIP", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_RESIZE_POLICY: Record = Record::new(
    "ContainerResizePolicy",
    &[
        Field::new("resourceName", Type::Named("v1.ResourceName", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("restartPolicy", Type::Named("v1.ResourceResizeRestartPolicy", &Type::Text)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_RESTART_RULE: Record = Record::new(
    "ContainerRestartRule",
    &[
        Field::new("action", Type::Named("v1.ContainerRestartRuleAction", &Type::Text)).numbered(&[1]).needed(),
        Field::new("exitCodes", Type::Optional(&Type::Record(|| &super::core_v1::CONTAINER_RESTART_RULE_ON_EXIT_CODES))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_RESTART_RULE_ON_EXIT_CODES: Record = Record::new(
    "ContainerRestartRuleOnExitCodes",
    &[
        Field::new("operator", Type::Named("v1.ContainerRestartRuleOnExitCodesOperator", &Type::Text)).numbered(&[1]).needed(),
        Field::new("values", Type::List(&Type::Int32)).numbered(&[2]).list(ListType::Set),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_STATE: Record = Record::new(
    "ContainerState",
    &[
        Field::new("waiting", Type::Optional(&Type::Record(|| &super::core_v1::CONTAINER_STATE_WAITING))).numbered(&[1]),
        Field::new("running", Type::Optional(&Type::Record(|| &super::core_v1::CONTAINER_STATE_RUNNING))).numbered(&[2]),
        Field::new("terminated", Type::Optional(&Type::Record(|| &super::core_v1::CONTAINER_STATE_TERMINATED))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_STATE_RUNNING: Record = Record::new(
    "ContainerStateRunning",
    &[
        Field::new("startedAt", Type::Time).numbered(&[1]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_STATE_TERMINATED: Record = Record::new(
    "ContainerStateTerminated",
    &[
        Field::new("exitCode", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("signal", Type::Int32).numbered(&[2]),
        Field::new("reason", Type::Text).numbered(&[3]),
        Field::new("message", Type::Text).numbered(&[4]),
        Field::new("startedAt", Type::Time).numbered(&[5]).required(),
        Field::new("finishedAt", Type::Time).numbered(&[6]).required(),
        Field::new("containerID", Type::Text).numbered(&[7]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_STATE_WAITING: Record = Record::new(
    "ContainerStateWaiting",
    &[
        Field::new("reason", Type::Text).numbered(&[1]),
        Field::new("message", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_STATUS: Record = Record::new(
    "ContainerStatus",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("state", Type::Record(|| &super::core_v1::CONTAINER_STATE)).numbered(&[2]).required(),
        Field::new("lastState", Type::Record(|| &super::core_v1::CONTAINER_STATE)).numbered(&[3]).required(),
        Field::new("ready", Type::Flag).numbered(&[4]).required().needed(),
        Field::new("restartCount", Type::Int32).numbered(&[5]).required().needed(),
        Field::new("image", Type::Text).numbered(&[6]).required().needed(),
        Field::new("imageID", Type::Text).numbered(&[7]).required().needed(),
        Field::new("containerID", Type::Text).numbered(&[8]),
        Field::new("started", Type::Optional(&Type::Flag)).numbered(&[9]),
        Field::new("allocatedResources", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[10]),
        Field::new("resources", Type::Optional(&Type::Record(|| &super::core_v1::RESOURCE_REQUIREMENTS))).numbered(&[11]),
        Field::new("volumeMounts", Type::List(&Type::Record(|| &super::core_v1::VOLUME_MOUNT_STATUS))).numbered(&[12]).list(ListType::Map(&["mountPath"])).patched_by("mountPath"),
        Field::new("user", Type::Optional(&Type::Record(|| &super::core_v1::CONTAINER_USER))).numbered(&[13]),
        Field::new("allocatedResourcesStatus", Type::List(&Type::Record(|| &super::core_v1::RESOURCE_STATUS))).numbered(&[14]).list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("stopSignal", Type::Optional(&Type::Named("v1.Signal", &Type::Text))).numbered(&[15]).one_of(&["SIGABRT","SIGALRM","SIGBUS","SIGCHLD","SIGCLD","SIGCONT","SIGFPE","SIGHUP","SIGILL","SIGINT","SIGIO","SIGIOT","SIGKILL","SIGPIPE","SIGPOLL","SIGPROF","SIGPWR","SIGQUIT","SIGRTMAX","SIGRTMAX-1","SIGRTMAX-10","SIGRTMAX-11","SIGRTMAX-12","SIGRTMAX-13","SIGRTMAX-14","SIGRTMAX-2","SIGRTMAX-3","SIGRTMAX-4","SIGRTMAX-5","SIGRTMAX-6","SIGRTMAX-7","SIGRTMAX-8","SIGRTMAX-9","SIGRTMIN","SIGRTMIN+1","SIGRTMIN+10","SIGRTMIN+11","SIGRTMIN+12","SIGRTMIN+13","SIGRTMIN+14","SIGRTMIN+15","SIGRTMIN+2","SIGRTMIN+3","SIGRTMIN+4","SIGRTMIN+5","SIGRTMIN+6","SIGRTMIN+7","SIGRTMIN+8","SIGRTMIN+9","SIGSEGV","SIGSTKFLT","SIGSTOP","SIGSYS","SIGTERM","SIGTRAP","SIGTSTP","SIGTTIN","SIGTTOU","SIGURG","SIGUSR1","SIGUSR2","SIGVTALRM","SIGWINCH","SIGXCPU","SIGXFSZ"]).since(KubernetesVersion::V1_33),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static CONTAINER_USER: Record = Record::new(
    "ContainerUser",
    &[
        Field::new("linux", Type::Optional(&Type::Record(|| &super::core_v1::LINUX_CONTAINER_USER))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static DAEMON_ENDPOINT: Record = Record::new(
    "DaemonEndpoint",
    &[
        Field::new("Port", Type::Int32).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static DOWNWARD_API_PROJECTION: Record = Record::new(
    "DownwardAPIProjection",
    &[
        Field::new("items", Type::List(&Type::Record(|| &super::core_v1::DOWNWARD_API_VOLUME_FILE))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static DOWNWARD_API_VOLUME_FILE: Record = Record::new(
    "DownwardAPIVolumeFile",
    &[
        Field::new("path", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fieldRef", Type::Optional(&Type::Record(|| &super::core_v1::OBJECT_FIELD_SELECTOR))).numbered(&[2]),
        Field::new("resourceFieldRef", Type::Optional(&Type::Record(|| &super::core_v1::RESOURCE_FIELD_SELECTOR))).numbered(&[3]),
        Field::new("mode", Type::Optional(&Type::Int32)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static DOWNWARD_API_VOLUME_SOURCE: Record = Record::new(
    "DownwardAPIVolumeSource",
    &[
        Field::new("items", Type::List(&Type::Record(|| &super::core_v1::DOWNWARD_API_VOLUME_FILE))).numbered(&[1]),
        Field::new("defaultMode", Type::Optional(&Type::Int32)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static EMPTY_DIR_VOLUME_SOURCE: Record = Record::new(
    "EmptyDirVolumeSource",
    &[
        Field::new("medium", Type::Named("v1.StorageMedium", &Type::Text)).numbered(&[1]),
        Field::new("sizeLimit", Type::Optional(&Type::Quantity)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static ENDPOINT_ADDRESS: Record = Record::new(
    "EndpointAddress",
    &[
        Field::new("ip", Type::Text).numbered(&[1]).required().needed(),
        Field::new("hostname", Type::Text).numbered(&[3]),
        Field::new("nodeName", Type::Optional(&Type::Text)).numbered(&[4]),
        Field::new("targetRef", Type::Optional(&Type::Record(|| &super::core_v1::OBJECT_REFERENCE))).numbered(&[2]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static ENDPOINT_PORT: Record = Record::new(
    "EndpointPort",
    &[
        Field::new("name", Type::Text).numbered(&[1]),
        Field::new("port", Type::Int32).numbered(&[2]).required().needed(),
        Field::new("protocol", Type::Named("v1.Protocol", &Type::Text)).numbered(&[3]).one_of(&["SCTP","TCP","UDP"]),
        Field::new("appProtocol", Type::Optional(&Type::Text)).numbered(&[4]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static ENDPOINT_SUBSET: Record = Record::new(
    "EndpointSubset",
    &[
        Field::new("addresses", Type::List(&Type::Record(|| &super::core_v1::ENDPOINT_ADDRESS))).numbered(&[1]),
        Field::new("notReadyAddresses", Type::List(&Type::Record(|| &super::core_v1::ENDPOINT_ADDRESS))).numbered(&[2]),
        Field::new("ports", Type::List(&Type::Record(|| &super::core_v1::ENDPOINT_PORT))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static ENDPOINTS: Record = Record::new(
    "Endpoints",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("subsets", Type::List(&Type::Record(|| &super::core_v1::ENDPOINT_SUBSET))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static ENV_FROM_SOURCE: Record = Record::new(
    "EnvFromSource",
    &[
        Field::new("prefix", Type::Text).numbered(&[1]),
        Field::new("configMapRef", Type::Optional(&Type::Record(|| &super::core_v1::CONFIG_MAP_ENV_SOURCE))).numbered(&[2]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_ENV_SOURCE))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static ENV_VAR: Record = Record::new(
    "EnvVar",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("value", Type::Text).numbered(&[2]),
        Field::new("valueFrom", Type::Optional(&Type::Record(|| &super::core_v1::ENV_VAR_SOURCE))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static ENV_VAR_SOURCE: Record = Record::new(
    "EnvVarSource",
    &[
        Field::new("fieldRef", Type::Optional(&Type::Record(|| &super::core_v1::OBJECT_FIELD_SELECTOR))).numbered(&[1]),
        Field::new("resourceFieldRef", Type::Optional(&Type::Record(|| &super::core_v1::RESOURCE_FIELD_SELECTOR))).numbered(&[2]),
        Field::new("configMapKeyRef", Type::Optional(&Type::Record(|| &super::core_v1::CONFIG_MAP_KEY_SELECTOR))).numbered(&[3]),
        Field::new("secretKeyRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_KEY_SELECTOR))).numbered(&[4]),
        Field::new("fileKeyRef", Type::Optional(&Type::Record(|| &super::core_v1::FILE_KEY_SELECTOR))).numbered(&[5]).since(KubernetesVersion::V1_34),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static EPHEMERAL_CONTAINER: Record = Record::new(
    "EphemeralContainer",
    &[
        Field::new("name", Type::Text).numbered(&[1, 1]).required().needed().embedded("EphemeralContainerCommon"),
        Field::new("image", Type::Text).numbered(&[1, 2]).embedded("EphemeralContainerCommon"),
        Field::new("command", Type::List(&Type::Text)).numbered(&[1, 3]).embedded("EphemeralContainerCommon"),
        Field::new("args", Type::List(&Type::Text)).numbered(&[1, 4]).embedded("EphemeralContainerCommon"),
        Field::new("workingDir", Type::Text).numbered(&[1, 5]).embedded("EphemeralContainerCommon"),
        Field::new("ports", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_PORT))).numbered(&[1, 6]).embedded("EphemeralContainerCommon").list(ListType::Map(&["containerPort","protocol"])).patched_by("containerPort"),
        Field::new("envFrom", Type::List(&Type::Record(|| &super::core_v1::ENV_FROM_SOURCE))).numbered(&[1, 19]).embedded("EphemeralContainerCommon"),
        Field::new("env", Type::List(&Type::Record(|| &super::core_v1::ENV_VAR))).numbered(&[1, 7]).embedded("EphemeralContainerCommon").list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("resources", Type::Record(|| &super::core_v1::RESOURCE_REQUIREMENTS)).numbered(&[1, 8]).required().embedded("EphemeralContainerCommon"),
        Field::new("resizePolicy", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_RESIZE_POLICY))).numbered(&[1, 23]).embedded("EphemeralContainerCommon"),
        Field::new("restartPolicy", Type::Optional(&Type::Named("v1.ContainerRestartPolicy", &Type::Text))).numbered(&[1, 24]).embedded("EphemeralContainerCommon"),
        Field::new("restartPolicyRules", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_RESTART_RULE))).numbered(&[1, 25]).embedded("EphemeralContainerCommon").since(KubernetesVersion::V1_34),
        Field::new("volumeMounts", Type::List(&Type::Record(|| &super::core_v1::VOLUME_MOUNT))).numbered(&[1, 9]).embedded("EphemeralContainerCommon").list(ListType::Map(&["mountPath"])).patched_by("mountPath"),
        Field::new("volumeDevices", Type::List(&Type::Record(|| &super::core_v1::VOLUME_DEVICE))).numbered(&[1, 21]).embedded("EphemeralContainerCommon").list(ListType::Map(&["devicePath"])).patched_by("devicePath"),
        Field::new("livenessProbe", Type::Optional(&Type::Record(|| &super::core_v1::PROBE))).numbered(&[1, 10]).embedded("EphemeralContainerCommon"),
        Field::new("readinessProbe", Type::Optional(&Type::Record(|| &super::core_v1::PROBE))).numbered(&[1, 11]).embedded("EphemeralContainerCommon"),
        Field::new("startupProbe", Type::Optional(&Type::Record(|| &super::core_v1::PROBE))).numbered(&[1, 22]).embedded("EphemeralContainerCommon"),
        Field::new("lifecycle", Type::Optional(&Type::Record(|| &super::core_v1::LIFECYCLE))).numbered(&[1, 12]).embedded("EphemeralContainerCommon"),
        Field::new("terminationMessagePath", Type::Text).numbered(&[1, 13]).embedded("EphemeralContainerCommon"),
        Field::new("terminationMessagePolicy", Type::Named("v1.TerminationMessagePolicy", &Type::Text)).numbered(&[1, 20]).one_of(&["FallbackToLogsOnError","File"]).embedded("EphemeralContainerCommon"),
        Field::new("imagePullPolicy", Type::Named("v1.PullPolicy", &Type::Text)).numbered(&[1, 14]).one_of(&["Always","IfNotPresent","Never"]).embedded("EphemeralContainerCommon"),
        Field::new("securityContext", Type::Optional(&Type::Record(|| &super::core_v1::SECURITY_CONTEXT))).numbered(&[1, 15]).embedded("EphemeralContainerCommon"),
        Field::new("stdin", Type::Flag).numbered(&[1, 16]).embedded("EphemeralContainerCommon"),
        Field::new("stdinOnce", Type::Flag).numbered(&[1, 17]).embedded("EphemeralContainerCommon"),
        Field::new("tty", Type::Flag).numbered(&[1, 18]).embedded("EphemeralContainerCommon"),
        Field::new("targetContainerName", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static EPHEMERAL_VOLUME_SOURCE: Record = Record::new(
    "EphemeralVolumeSource",
    &[
        Field::new("volumeClaimTemplate", Type::Optional(&Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_CLAIM_TEMPLATE))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static EVENT: Record = Record::new(
    "Event",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required().needed(),
        Field::new("involvedObject", Type::Record(|| &super::core_v1::OBJECT_REFERENCE)).numbered(&[2]).required().needed(),
        Field::new("reason", Type::Text).numbered(&[3]),
        Field::new("message", Type::Text).numbered(&[4]),
        Field::new("source", Type::Record(|| &super::core_v1::EVENT_SOURCE)).numbered(&[5]).required(),
        Field::new("firstTimestamp", Type::Time).numbered(&[6]).required(),
        Field::new("lastTimestamp", Type::Time).numbered(&[7]).required(),
        Field::new("count", Type::Int32).numbered(&[8]),
        Field::new("type", Type::Text).numbered(&[9]),
        Field::new("eventTime", Type::MicroTime).numbered(&[10]).required(),
        Field::new("series", Type::Optional(&Type::Record(|| &super::core_v1::EVENT_SERIES))).numbered(&[11]),
        Field::new("action", Type::Text).numbered(&[12]),
        Field::new("related", Type::Optional(&Type::Record(|| &super::core_v1::OBJECT_REFERENCE))).numbered(&[13]),
        Field::new("reportingComponent", Type::Text).numbered(&[14]).required(),
        Field::new("reportingInstance", Type::Text).numbered(&[15]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static EVENT_SERIES: Record = Record::new(
    "EventSeries",
    &[
        Field::new("count", Type::Int32).numbered(&[1]),
        Field::new("lastObservedTime", Type::MicroTime).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static EVENT_SOURCE: Record = Record::new(
    "EventSource",
    &[
        Field::new("component", Type::Text).numbered(&[1]),
        Field::new("host", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static EXEC_ACTION: Record = Record::new(
    "ExecAction",
    &[
        Field::new("command", Type::List(&Type::Text)).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static FC_VOLUME_SOURCE: Record = Record::new(
    "FCVolumeSource",
    &[
        Field::new("targetWWNs", Type::List(&Type::Text)).numbered(&[1]),
        Field::new("lun", Type::Optional(&Type::Int32)).numbered(&[2]),
        Field::new("fsType", Type::Text).numbered(&[3]),
        Field::new("readOnly", Type::Flag).numbered(&[4]),
        Field::new("wwids", Type::List(&Type::Text)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static FILE_KEY_SELECTOR: Record = Record::new(
    "FileKeySelector",
    &[
        Field::new("volumeName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("path", Type::Text).numbered(&[2]).required().needed(),
        Field::new("key", Type::Text).numbered(&[3]).required().needed(),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[4]).default("false"),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static FLEX_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "FlexPersistentVolumeSource",
    &[
        Field::new("driver", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[3]),
        Field::new("readOnly", Type::Flag).numbered(&[4]),
        Field::new("options", Type::Map(&Type::Text)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static FLEX_VOLUME_SOURCE: Record = Record::new(
    "FlexVolumeSource",
    &[
        Field::new("driver", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[3]),
        Field::new("readOnly", Type::Flag).numbered(&[4]),
        Field::new("options", Type::Map(&Type::Text)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static FLOCKER_VOLUME_SOURCE: Record = Record::new(
    "FlockerVolumeSource",
    &[
        Field::new("datasetName", Type::Text).numbered(&[1]),
        Field::new("datasetUUID", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static GCE_PERSISTENT_DISK_VOLUME_SOURCE: Record = Record::new(
    "GCEPersistentDiskVolumeSource",
    &[
        Field::new("pdName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
        Field::new("partition", Type::Int32).numbered(&[3]),
        Field::new("readOnly", Type::Flag).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static GRPC_ACTION: Record = Record::new(
    "GRPCAction",
    &[
        Field::new("port", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("service", Type::Optional(&Type::Text)).numbered(&[2]).required().default("\"\""),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static GIT_REPO_VOLUME_SOURCE: Record = Record::new(
    "GitRepoVolumeSource",
    &[
        Field::new("repository", Type::Text).numbered(&[1]).required().needed(),
        Field::new("revision", Type::Text).numbered(&[2]),
        Field::new("directory", Type::Text).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static GLUSTERFS_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "GlusterfsPersistentVolumeSource",
    &[
        Field::new("endpoints", Type::Text).numbered(&[1]).required().needed(),
        Field::new("path", Type::Text).numbered(&[2]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
        Field::new("endpointsNamespace", Type::Optional(&Type::Text)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static GLUSTERFS_VOLUME_SOURCE: Record = Record::new(
    "GlusterfsVolumeSource",
    &[
        Field::new("endpoints", Type::Text).numbered(&[1]).required().needed(),
        Field::new("path", Type::Text).numbered(&[2]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static HTTP_GET_ACTION: Record = Record::new(
    "HTTPGetAction",
    &[
        Field::new("path", Type::Text).numbered(&[1]),
        Field::new("port", Type::IntOrString).numbered(&[2]).required().needed(),
        Field::new("host", Type::Text).numbered(&[3]),
        Field::new("scheme", Type::Named("v1.URIScheme", &Type::Text)).numbered(&[4]).one_of(&["HTTP","HTTPS"]),
        Field::new("httpHeaders", Type::List(&Type::Record(|| &super::core_v1::HTTP_HEADER))).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static HTTP_HEADER: Record = Record::new(
    "HTTPHeader",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("value", Type::Text).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static HOST_ALIAS: Record = Record::new(
    "HostAlias",
    &[
        Field::new("ip", Type::Text).numbered(&[1]).required().needed(),
        Field::new("hostnames", Type::List(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static HOST_IP: Record = Record::new(
    "HostIP",
    &[
        Field::new("ip", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static HOST_PATH_VOLUME_SOURCE: Record = Record::new(
    "HostPathVolumeSource",
    &[
        Field::new("path", Type::Text).numbered(&[1]).required().needed(),
        Field::new("type", Type::Optional(&Type::Named("v1.HostPathType", &Type::Text))).numbered(&[2]).one_of(&["","BlockDevice","CharDevice","Directory","DirectoryOrCreate","File","FileOrCreate","Socket"]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static ISCSI_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "ISCSIPersistentVolumeSource",
    &[
        Field::new("targetPortal", Type::Text).numbered(&[1]).required().needed(),
        Field::new("iqn", Type::Text).numbered(&[2]).required().needed(),
        Field::new("lun", Type::Int32).numbered(&[3]).required().needed(),
        Field::new("iscsiInterface", Type::Text).numbered(&[4]).default("\"default\""),
        Field::new("fsType", Type::Text).numbered(&[5]),
        Field::new("readOnly", Type::Flag).numbered(&[6]),
        Field::new("portals", Type::List(&Type::Text)).numbered(&[7]),
        Field::new("chapAuthDiscovery", Type::Flag).numbered(&[8]),
        Field::new("chapAuthSession", Type::Flag).numbered(&[11]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[10]),
        Field::new("initiatorName", Type::Optional(&Type::Text)).numbered(&[12]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static ISCSI_VOLUME_SOURCE: Record = Record::new(
    "ISCSIVolumeSource",
    &[
        Field::new("targetPortal", Type::Text).numbered(&[1]).required().needed(),
        Field::new("iqn", Type::Text).numbered(&[2]).required().needed(),
        Field::new("lun", Type::Int32).numbered(&[3]).required().needed(),
        Field::new("iscsiInterface", Type::Text).numbered(&[4]).default("\"default\""),
        Field::new("fsType", Type::Text).numbered(&[5]),
        Field::new("readOnly", Type::Flag).numbered(&[6]),
        Field::new("portals", Type::List(&Type::Text)).numbered(&[7]),
        Field::new("chapAuthDiscovery", Type::Flag).numbered(&[8]),
        Field::new("chapAuthSession", Type::Flag).numbered(&[11]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[10]),
        Field::new("initiatorName", Type::Optional(&Type::Text)).numbered(&[12]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static IMAGE_VOLUME_SOURCE: Record = Record::new(
    "ImageVolumeSource",
    &[
        Field::new("reference", Type::Text).numbered(&[1]),
        Field::new("pullPolicy", Type::Named("v1.PullPolicy", &Type::Text)).numbered(&[2]).one_of(&["Always","IfNotPresent","Never"]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static IMAGE_VOLUME_STATUS: Record = Record::new(
    "ImageVolumeStatus",
    &[
        Field::new("imageRef", Type::Text).numbered(&[1]).needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static KEY_TO_PATH: Record = Record::new(
    "KeyToPath",
    &[
        Field::new("key", Type::Text).numbered(&[1]).required().needed(),
        Field::new("path", Type::Text).numbered(&[2]).required().needed(),
        Field::new("mode", Type::Optional(&Type::Int32)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LIFECYCLE: Record = Record::new(
    "Lifecycle",
    &[
        Field::new("postStart", Type::Optional(&Type::Record(|| &super::core_v1::LIFECYCLE_HANDLER))).numbered(&[1]),
        Field::new("preStop", Type::Optional(&Type::Record(|| &super::core_v1::LIFECYCLE_HANDLER))).numbered(&[2]),
        Field::new("stopSignal", Type::Optional(&Type::Named("v1.Signal", &Type::Text))).numbered(&[3]).one_of(&["SIGABRT","SIGALRM","SIGBUS","SIGCHLD","SIGCLD","SIGCONT","SIGFPE","SIGHUP","SIGILL","SIGINT","SIGIO","SIGIOT","SIGKILL","SIGPIPE","SIGPOLL","SIGPROF","SIGPWR","SIGQUIT","SIGRTMAX","SIGRTMAX-1","SIGRTMAX-10","SIGRTMAX-11","SIGRTMAX-12","SIGRTMAX-13","SIGRTMAX-14","SIGRTMAX-2","SIGRTMAX-3","SIGRTMAX-4","SIGRTMAX-5","SIGRTMAX-6","SIGRTMAX-7","SIGRTMAX-8","SIGRTMAX-9","SIGRTMIN","SIGRTMIN+1","SIGRTMIN+10","SIGRTMIN+11","SIGRTMIN+12","SIGRTMIN+13","SIGRTMIN+14","SIGRTMIN+15","SIGRTMIN+2","SIGRTMIN+3","SIGRTMIN+4","SIGRTMIN+5","SIGRTMIN+6","SIGRTMIN+7","SIGRTMIN+8","SIGRTMIN+9","SIGSEGV","SIGSTKFLT","SIGSTOP","SIGSYS","SIGTERM","SIGTRAP","SIGTSTP","SIGTTIN","SIGTTOU","SIGURG","SIGUSR1","SIGUSR2","SIGVTALRM","SIGWINCH","SIGXCPU","SIGXFSZ"]).since(KubernetesVersion::V1_33),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LIFECYCLE_HANDLER: Record = Record::new(
    "LifecycleHandler",
    &[
        Field::new("exec", Type::Optional(&Type::Record(|| &super::core_v1::EXEC_ACTION))).numbered(&[1]),
        Field::new("httpGet", Type::Optional(&Type::Record(|| &super::core_v1::HTTP_GET_ACTION))).numbered(&[2]),
        Field::new("tcpSocket", Type::Optional(&Type::Record(|| &super::core_v1::TCP_SOCKET_ACTION))).numbered(&[3]),
        Field::new("sleep", Type::Optional(&Type::Record(|| &super::core_v1::SLEEP_ACTION))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LIMIT_RANGE: Record = Record::new(
    "LimitRange",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::LIMIT_RANGE_SPEC)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LIMIT_RANGE_ITEM: Record = Record::new(
    "LimitRangeItem",
    &[
        Field::new("type", Type::Named("v1.LimitType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("max", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[2]),
        Field::new("min", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[3]),
        Field::new("default", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[4]),
        Field::new("defaultRequest", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[5]),
        Field::new("maxLimitRequestRatio", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LIMIT_RANGE_SPEC: Record = Record::new(
    "LimitRangeSpec",
    &[
        Field::new("limits", Type::List(&Type::Record(|| &super::core_v1::LIMIT_RANGE_ITEM))).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LINUX_CONTAINER_USER: Record = Record::new(
    "LinuxContainerUser",
    &[
        Field::new("uid", Type::Int64).numbered(&[1]).required().needed(),
        Field::new("gid", Type::Int64).numbered(&[2]).required().needed(),
        Field::new("supplementalGroups", Type::List(&Type::Int64)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LOAD_BALANCER_INGRESS: Record = Record::new(
    "LoadBalancerIngress",
    &[
        Field::new("ip", Type::Text).numbered(&[1]),
        Field::new("hostname", Type::Text).numbered(&[2]),
        Field::new("ipMode", Type::Optional(&Type::Named("v1.LoadBalancerIPMode", &Type::Text))).numbered(&[3]),
        Field::new("ports", Type::List(&Type::Record(|| &super::core_v1::PORT_STATUS))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LOAD_BALANCER_STATUS: Record = Record::new(
    "LoadBalancerStatus",
    &[
        Field::new("ingress", Type::List(&Type::Record(|| &super::core_v1::LOAD_BALANCER_INGRESS))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static LOCAL_OBJECT_REFERENCE: Record = Record::new(
    "LocalObjectReference",
    &[
        Field::new("name", Type::Text).numbered(&[1]).default("\"\""),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static LOCAL_VOLUME_SOURCE: Record = Record::new(
    "LocalVolumeSource",
    &[
        Field::new("path", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Optional(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static MODIFY_VOLUME_STATUS: Record = Record::new(
    "ModifyVolumeStatus",
    &[
        Field::new("targetVolumeAttributesClassName", Type::Text).numbered(&[1]),
        Field::new("status", Type::Named("v1.PersistentVolumeClaimModifyVolumeStatus", &Type::Text)).numbered(&[2]).required().needed().one_of(&["InProgress","Infeasible","Pending"]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NFS_VOLUME_SOURCE: Record = Record::new(
    "NFSVolumeSource",
    &[
        Field::new("server", Type::Text).numbered(&[1]).required().needed(),
        Field::new("path", Type::Text).numbered(&[2]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NAMESPACE: Record = Record::new(
    "Namespace",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::NAMESPACE_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::core_v1::NAMESPACE_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NAMESPACE_CONDITION: Record = Record::new(
    "NamespaceCondition",
    &[
        Field::new("type", Type::Named("v1.NamespaceConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[4]).required(),
        Field::new("reason", Type::Text).numbered(&[5]),
        Field::new("message", Type::Text).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NAMESPACE_SPEC: Record = Record::new(
    "NamespaceSpec",
    &[
        Field::new("finalizers", Type::List(&Type::Named("v1.FinalizerName", &Type::Text))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NAMESPACE_STATUS: Record = Record::new(
    "NamespaceStatus",
    &[
        Field::new("phase", Type::Named("v1.NamespacePhase", &Type::Text)).numbered(&[1]).one_of(&["Active","Terminating"]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::core_v1::NAMESPACE_CONDITION))).numbered(&[2]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE: Record = Record::new(
    "Node",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::NODE_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::core_v1::NODE_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_ADDRESS: Record = Record::new(
    "NodeAddress",
    &[
        Field::new("type", Type::Named("v1.NodeAddressType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("address", Type::Text).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_AFFINITY: Record = Record::new(
    "NodeAffinity",
    &[
        Field::new("requiredDuringSchedulingIgnoredDuringExecution", Type::Optional(&Type::Record(|| &super::core_v1::NODE_SELECTOR))).numbered(&[1]),
        Field::new("preferredDuringSchedulingIgnoredDuringExecution", Type::List(&Type::Record(|| &super::core_v1::PREFERRED_SCHEDULING_TERM))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS: Record = Record::new(
    "NodeAllocatableResourceClaimStatus",
    &[
        Field::new("resourceClaimName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("containers", Type::List(&Type::Text)).numbered(&[2]).list(ListType::Set),
        Field::new("resources", Type::Map(&Type::Quantity)).numbered(&[3]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_CONDITION: Record = Record::new(
    "NodeCondition",
    &[
        Field::new("type", Type::Named("v1.NodeConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastHeartbeatTime", Type::Time).numbered(&[3]).required(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[4]).required(),
        Field::new("reason", Type::Text).numbered(&[5]),
        Field::new("message", Type::Text).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_CONFIG_SOURCE: Record = Record::new(
    "NodeConfigSource",
    &[
        Field::new("configMap", Type::Optional(&Type::Record(|| &super::core_v1::CONFIG_MAP_NODE_CONFIG_SOURCE))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_CONFIG_STATUS: Record = Record::new(
    "NodeConfigStatus",
    &[
        Field::new("assigned", Type::Optional(&Type::Record(|| &super::core_v1::NODE_CONFIG_SOURCE))).numbered(&[1]),
        Field::new("active", Type::Optional(&Type::Record(|| &super::core_v1::NODE_CONFIG_SOURCE))).numbered(&[2]),
        Field::new("lastKnownGood", Type::Optional(&Type::Record(|| &super::core_v1::NODE_CONFIG_SOURCE))).numbered(&[3]),
        Field::new("error", Type::Text).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_DAEMON_ENDPOINTS: Record = Record::new(
    "NodeDaemonEndpoints",
    &[
        Field::new("kubeletEndpoint", Type::Record(|| &super::core_v1::DAEMON_ENDPOINT)).numbered(&[1]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_FEATURES: Record = Record::new(
    "NodeFeatures",
    &[
        Field::new("supplementalGroupsPolicy", Type::Optional(&Type::Flag)).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_RUNTIME_HANDLER: Record = Record::new(
    "NodeRuntimeHandler",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required(),
        Field::new("features", Type::Optional(&Type::Record(|| &super::core_v1::NODE_RUNTIME_HANDLER_FEATURES))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_RUNTIME_HANDLER_FEATURES: Record = Record::new(
    "NodeRuntimeHandlerFeatures",
    &[
        Field::new("recursiveReadOnlyMounts", Type::Optional(&Type::Flag)).numbered(&[1]),
        Field::new("userNamespaces", Type::Optional(&Type::Flag)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_SELECTOR: Record = Record::new(
    "NodeSelector",
    &[
        Field::new("nodeSelectorTerms", Type::List(&Type::Record(|| &super::core_v1::NODE_SELECTOR_TERM))).numbered(&[1]).required().needed(),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_SELECTOR_REQUIREMENT: Record = Record::new(
    "NodeSelectorRequirement",
    &[
        Field::new("key", Type::Text).numbered(&[1]).required().needed(),
        Field::new("operator", Type::Named("v1.NodeSelectorOperator", &Type::Text)).numbered(&[2]).required().needed().one_of(&["DoesNotExist","Exists","Gt","In","Lt","NotIn"]),
        Field::new("values", Type::List(&Type::Text)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_SELECTOR_TERM: Record = Record::new(
    "NodeSelectorTerm",
    &[
        Field::new("matchExpressions", Type::List(&Type::Record(|| &super::core_v1::NODE_SELECTOR_REQUIREMENT))).numbered(&[1]),
        Field::new("matchFields", Type::List(&Type::Record(|| &super::core_v1::NODE_SELECTOR_REQUIREMENT))).numbered(&[2]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_SPEC: Record = Record::new(
    "NodeSpec",
    &[
        Field::new("podCIDR", Type::Text).numbered(&[1]),
        Field::new("podCIDRs", Type::List(&Type::Text)).numbered(&[7]).list(ListType::Set).patched_by(""),
        Field::new("providerID", Type::Text).numbered(&[3]),
        Field::new("unschedulable", Type::Flag).numbered(&[4]),
        Field::new("taints", Type::List(&Type::Record(|| &super::core_v1::TAINT))).numbered(&[5]),
        Field::new("configSource", Type::Optional(&Type::Record(|| &super::core_v1::NODE_CONFIG_SOURCE))).numbered(&[6]),
        Field::new("externalID", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_STATUS: Record = Record::new(
    "NodeStatus",
    &[
        Field::new("capacity", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[1]),
        Field::new("allocatable", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[2]),
        Field::new("phase", Type::Named("v1.NodePhase", &Type::Text)).numbered(&[3]).one_of(&["Pending","Running","Terminated"]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::core_v1::NODE_CONDITION))).numbered(&[4]).list(ListType::Map(&["type"])).patched_by("type"),
        Field::new("addresses", Type::List(&Type::Record(|| &super::core_v1::NODE_ADDRESS))).numbered(&[5]).list(ListType::Map(&["type"])).patched_by("type"),
        Field::new("daemonEndpoints", Type::Record(|| &super::core_v1::NODE_DAEMON_ENDPOINTS)).numbered(&[6]).required(),
        Field::new("nodeInfo", Type::Record(|| &super::core_v1::NODE_SYSTEM_INFO)).numbered(&[7]).required(),
        Field::new("images", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_IMAGE))).numbered(&[8]),
        Field::new("volumesInUse", Type::List(&Type::Named("v1.UniqueVolumeName", &Type::Text))).numbered(&[9]),
        Field::new("volumesAttached", Type::List(&Type::Record(|| &super::core_v1::ATTACHED_VOLUME))).numbered(&[10]),
        Field::new("config", Type::Optional(&Type::Record(|| &super::core_v1::NODE_CONFIG_STATUS))).numbered(&[11]),
        Field::new("runtimeHandlers", Type::List(&Type::Record(|| &super::core_v1::NODE_RUNTIME_HANDLER))).numbered(&[12]),
        Field::new("features", Type::Optional(&Type::Record(|| &super::core_v1::NODE_FEATURES))).numbered(&[13]),
        Field::new("declaredFeatures", Type::List(&Type::Text)).numbered(&[14]).since(KubernetesVersion::V1_35),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_SWAP_STATUS: Record = Record::new(
    "NodeSwapStatus",
    &[
        Field::new("capacity", Type::Optional(&Type::Int64)).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static NODE_SYSTEM_INFO: Record = Record::new(
    "NodeSystemInfo",
    &[
        Field::new("machineID", Type::Text).numbered(&[1]).required().needed(),
        Field::new("systemUUID", Type::Text).numbered(&[2]).required().needed(),
        Field::new("bootID", Type::Text).numbered(&[3]).required().needed(),
        Field::new("kernelVersion", Type::Text).numbered(&[4]).required().needed(),
        Field::new("osImage", Type::Text).numbered(&[5]).required().needed(),
        Field::new("containerRuntimeVersion", Type::Text).numbered(&[6]).required().needed(),
        Field::new("kubeletVersion", Type::Text).numbered(&[7]).required().needed(),
        Field::new("kubeProxyVersion", Type::Text).numbered(&[8]).required().needed(),
        Field::new("operatingSystem", Type::Text).numbered(&[9]).required().needed(),
        Field::new("architecture", Type::Text).numbered(&[10]).required().needed(),
        Field::new("swap", Type::Optional(&Type::Record(|| &super::core_v1::NODE_SWAP_STATUS))).numbered(&[11]).since(KubernetesVersion::V1_33),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static OBJECT_FIELD_SELECTOR: Record = Record::new(
    "ObjectFieldSelector",
    &[
        Field::new("apiVersion", Type::Text).numbered(&[1]),
        Field::new("fieldPath", Type::Text).numbered(&[2]).required().needed(),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static OBJECT_REFERENCE: Record = Record::new(
    "ObjectReference",
    &[
        Field::new("kind", Type::Text).numbered(&[1]),
        Field::new("namespace", Type::Text).numbered(&[2]),
        Field::new("name", Type::Text).numbered(&[3]),
        Field::new("uid", Type::Named("types.UID", &Type::Text)).numbered(&[4]),
        Field::new("apiVersion", Type::Text).numbered(&[5]),
        Field::new("resourceVersion", Type::Text).numbered(&[6]),
        Field::new("fieldPath", Type::Text).numbered(&[7]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME: Record = Record::new(
    "PersistentVolume",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME_CLAIM: Record = Record::new(
    "PersistentVolumeClaim",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_CLAIM_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_CLAIM_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME_CLAIM_CONDITION: Record = Record::new(
    "PersistentVolumeClaimCondition",
    &[
        Field::new("type", Type::Named("v1.PersistentVolumeClaimConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastProbeTime", Type::Time).numbered(&[3]).required(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[4]).required(),
        Field::new("reason", Type::Text).numbered(&[5]),
        Field::new("message", Type::Text).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME_CLAIM_SPEC: Record = Record::new(
    "PersistentVolumeClaimSpec",
    &[
        Field::new("accessModes", Type::List(&Type::Named("v1.PersistentVolumeAccessMode", &Type::Text))).numbered(&[1]),
        Field::new("selector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[4]),
        Field::new("resources", Type::Record(|| &super::core_v1::VOLUME_RESOURCE_REQUIREMENTS)).numbered(&[2]).required(),
        Field::new("volumeName", Type::Text).numbered(&[3]),
        Field::new("storageClassName", Type::Optional(&Type::Text)).numbered(&[5]),
        Field::new("volumeMode", Type::Optional(&Type::Named("v1.PersistentVolumeMode", &Type::Text))).numbered(&[6]).one_of(&["Block","Filesystem"]),
        Field::new("dataSource", Type::Optional(&Type::Record(|| &super::core_v1::TYPED_LOCAL_OBJECT_REFERENCE))).numbered(&[7]),
        Field::new("dataSourceRef", Type::Optional(&Type::Record(|| &super::core_v1::TYPED_OBJECT_REFERENCE))).numbered(&[8]),
        Field::new("volumeAttributesClassName", Type::Optional(&Type::Text)).numbered(&[9]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME_CLAIM_STATUS: Record = Record::new(
    "PersistentVolumeClaimStatus",
    &[
        Field::new("phase", Type::Named("v1.PersistentVolumeClaimPhase", &Type::Text)).numbered(&[1]).one_of(&["Bound","Lost","Pending"]),
        Field::new("accessModes", Type::List(&Type::Named("v1.PersistentVolumeAccessMode", &Type::Text))).numbered(&[2]),
        Field::new("capacity", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[3]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_CLAIM_CONDITION))).numbered(&[4]).list(ListType::Map(&["type"])).patched_by("type"),
        Field::new("allocatedResources", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[5]),
        Field::new("allocatedResourceStatuses", Type::Map(&Type::Named("v1.ClaimResourceStatus", &Type::Text))).numbered(&[7]),
        Field::new("currentVolumeAttributesClassName", Type::Optional(&Type::Text)).numbered(&[8]),
        Field::new("modifyVolumeStatus", Type::Optional(&Type::Record(|| &super::core_v1::MODIFY_VOLUME_STATUS))).numbered(&[9]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME_CLAIM_TEMPLATE: Record = Record::new(
    "PersistentVolumeClaimTemplate",
    &[
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_CLAIM_SPEC)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE: Record = Record::new(
    "PersistentVolumeClaimVolumeSource",
    &[
        Field::new("claimName", Type::Text).numbered(&[1]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME_SPEC: Record = Record::new(
    "PersistentVolumeSpec",
    &[
        Field::new("capacity", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[1]),
        Field::new("gcePersistentDisk", Type::Optional(&Type::Record(|| &super::core_v1::GCE_PERSISTENT_DISK_VOLUME_SOURCE))).numbered(&[2, 1]).embedded("PersistentVolumeSource"),
        Field::new("awsElasticBlockStore", Type::Optional(&Type::Record(|| &super::core_v1::AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE))).numbered(&[2, 2]).embedded("PersistentVolumeSource"),
        Field::new("hostPath", Type::Optional(&Type::Record(|| &super::core_v1::HOST_PATH_VOLUME_SOURCE))).numbered(&[2, 3]).embedded("PersistentVolumeSource"),
        Field::new("glusterfs", Type::Optional(&Type::Record(|| &super::core_v1::GLUSTERFS_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 4]).embedded("PersistentVolumeSource"),
        Field::new("nfs", Type::Optional(&Type::Record(|| &super::core_v1::NFS_VOLUME_SOURCE))).numbered(&[2, 5]).embedded("PersistentVolumeSource"),
        Field::new("rbd", Type::Optional(&Type::Record(|| &super::core_v1::RBD_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 6]).embedded("PersistentVolumeSource"),
        Field::new("iscsi", Type::Optional(&Type::Record(|| &super::core_v1::ISCSI_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 7]).embedded("PersistentVolumeSource"),
        Field::new("cinder", Type::Optional(&Type::Record(|| &super::core_v1::CINDER_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 8]).embedded("PersistentVolumeSource"),
        Field::new("cephfs", Type::Optional(&Type::Record(|| &super::core_v1::CEPH_FS_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 9]).embedded("PersistentVolumeSource"),
        Field::new("fc", Type::Optional(&Type::Record(|| &super::core_v1::FC_VOLUME_SOURCE))).numbered(&[2, 10]).embedded("PersistentVolumeSource"),
        Field::new("flocker", Type::Optional(&Type::Record(|| &super::core_v1::FLOCKER_VOLUME_SOURCE))).numbered(&[2, 11]).embedded("PersistentVolumeSource"),
        Field::new("flexVolume", Type::Optional(&Type::Record(|| &super::core_v1::FLEX_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 12]).embedded("PersistentVolumeSource"),
        Field::new("azureFile", Type::Optional(&Type::Record(|| &super::core_v1::AZURE_FILE_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 13]).embedded("PersistentVolumeSource"),
        Field::new("vsphereVolume", Type::Optional(&Type::Record(|| &super::core_v1::VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE))).numbered(&[2, 14]).embedded("PersistentVolumeSource"),
        Field::new("quobyte", Type::Optional(&Type::Record(|| &super::core_v1::QUOBYTE_VOLUME_SOURCE))).numbered(&[2, 15]).embedded("PersistentVolumeSource"),
        Field::new("azureDisk", Type::Optional(&Type::Record(|| &super::core_v1::AZURE_DISK_VOLUME_SOURCE))).numbered(&[2, 16]).embedded("PersistentVolumeSource"),
        Field::new("photonPersistentDisk", Type::Optional(&Type::Record(|| &super::core_v1::PHOTON_PERSISTENT_DISK_VOLUME_SOURCE))).numbered(&[2, 17]).embedded("PersistentVolumeSource"),
        Field::new("portworxVolume", Type::Optional(&Type::Record(|| &super::core_v1::PORTWORX_VOLUME_SOURCE))).numbered(&[2, 18]).embedded("PersistentVolumeSource"),
        Field::new("scaleIO", Type::Optional(&Type::Record(|| &super::core_v1::SCALE_IO_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 19]).embedded("PersistentVolumeSource"),
        Field::new("local", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_VOLUME_SOURCE))).numbered(&[2, 20]).embedded("PersistentVolumeSource"),
        Field::new("storageos", Type::Optional(&Type::Record(|| &super::core_v1::STORAGE_OS_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 21]).embedded("PersistentVolumeSource"),
        Field::new("csi", Type::Optional(&Type::Record(|| &super::core_v1::CSI_PERSISTENT_VOLUME_SOURCE))).numbered(&[2, 22]).embedded("PersistentVolumeSource"),
        Field::new("accessModes", Type::List(&Type::Named("v1.PersistentVolumeAccessMode", &Type::Text))).numbered(&[3]),
        Field::new("claimRef", Type::Optional(&Type::Record(|| &super::core_v1::OBJECT_REFERENCE))).numbered(&[4]).granular(),
        Field::new("persistentVolumeReclaimPolicy", Type::Named("v1.PersistentVolumeReclaimPolicy", &Type::Text)).numbered(&[5]).one_of(&["Delete","Recycle","Retain"]),
        Field::new("storageClassName", Type::Text).numbered(&[6]),
        Field::new("mountOptions", Type::List(&Type::Text)).numbered(&[7]),
        Field::new("volumeMode", Type::Optional(&Type::Named("v1.PersistentVolumeMode", &Type::Text))).numbered(&[8]).one_of(&["Block","Filesystem"]),
        Field::new("nodeAffinity", Type::Optional(&Type::Record(|| &super::core_v1::VOLUME_NODE_AFFINITY))).numbered(&[9]),
        Field::new("volumeAttributesClassName", Type::Optional(&Type::Text)).numbered(&[10]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PERSISTENT_VOLUME_STATUS: Record = Record::new(
    "PersistentVolumeStatus",
    &[
        Field::new("phase", Type::Named("v1.PersistentVolumePhase", &Type::Text)).numbered(&[1]).one_of(&["Available","Bound","Failed","Pending","Released"]),
        Field::new("message", Type::Text).numbered(&[2]),
        Field::new("reason", Type::Text).numbered(&[3]),
        Field::new("lastPhaseTransitionTime", Type::Optional(&Type::Time)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PHOTON_PERSISTENT_DISK_VOLUME_SOURCE: Record = Record::new(
    "PhotonPersistentDiskVolumeSource",
    &[
        Field::new("pdID", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD: Record = Record::new(
    "Pod",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::POD_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::core_v1::POD_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_AFFINITY: Record = Record::new(
    "PodAffinity",
    &[
        Field::new("requiredDuringSchedulingIgnoredDuringExecution", Type::List(&Type::Record(|| &super::core_v1::POD_AFFINITY_TERM))).numbered(&[1]),
        Field::new("preferredDuringSchedulingIgnoredDuringExecution", Type::List(&Type::Record(|| &super::core_v1::WEIGHTED_POD_AFFINITY_TERM))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_AFFINITY_TERM: Record = Record::new(
    "PodAffinityTerm",
    &[
        Field::new("labelSelector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[1]),
        Field::new("namespaces", Type::List(&Type::Text)).numbered(&[2]),
        Field::new("topologyKey", Type::Text).numbered(&[3]).required().needed(),
        Field::new("namespaceSelector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[4]),
        Field::new("matchLabelKeys", Type::List(&Type::Text)).numbered(&[5]),
        Field::new("mismatchLabelKeys", Type::List(&Type::Text)).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_ANTI_AFFINITY: Record = Record::new(
    "PodAntiAffinity",
    &[
        Field::new("requiredDuringSchedulingIgnoredDuringExecution", Type::List(&Type::Record(|| &super::core_v1::POD_AFFINITY_TERM))).numbered(&[1]),
        Field::new("preferredDuringSchedulingIgnoredDuringExecution", Type::List(&Type::Record(|| &super::core_v1::WEIGHTED_POD_AFFINITY_TERM))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_CERTIFICATE_PROJECTION: Record = Record::new(
    "PodCertificateProjection",
    &[
        Field::new("signerName", Type::Text).numbered(&[1]).needed(),
        Field::new("keyType", Type::Text).numbered(&[2]).needed(),
        Field::new("maxExpirationSeconds", Type::Optional(&Type::Int32)).numbered(&[3]),
        Field::new("credentialBundlePath", Type::Text).numbered(&[4]),
        Field::new("keyPath", Type::Text).numbered(&[5]),
        Field::new("certificateChainPath", Type::Text).numbered(&[6]),
        Field::new("userAnnotations", Type::Map(&Type::Text)).numbered(&[7]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_CONDITION: Record = Record::new(
    "PodCondition",
    &[
        Field::new("type", Type::Named("v1.PodConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("observedGeneration", Type::Int64).numbered(&[7]).since(KubernetesVersion::V1_33),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastProbeTime", Type::Time).numbered(&[3]).required(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[4]).required(),
        Field::new("reason", Type::Text).numbered(&[5]),
        Field::new("message", Type::Text).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_DNS_CONFIG: Record = Record::new(
    "PodDNSConfig",
    &[
        Field::new("nameservers", Type::List(&Type::Text)).numbered(&[1]),
        Field::new("searches", Type::List(&Type::Text)).numbered(&[2]),
        Field::new("options", Type::List(&Type::Record(|| &super::core_v1::POD_DNS_CONFIG_OPTION))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_DNS_CONFIG_OPTION: Record = Record::new(
    "PodDNSConfigOption",
    &[
        Field::new("name", Type::Text).numbered(&[1]),
        Field::new("value", Type::Optional(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_EXTENDED_RESOURCE_CLAIM_STATUS: Record = Record::new(
    "PodExtendedResourceClaimStatus",
    &[
        Field::new("requestMappings", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_EXTENDED_RESOURCE_REQUEST))).numbered(&[1]).required().needed(),
        Field::new("resourceClaimName", Type::Text).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_IP: Record = Record::new(
    "PodIP",
    &[
        Field::new("ip", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_OS: Record = Record::new(
    "PodOS",
    &[
        Field::new("name", Type::Named("v1.OSName", &Type::Text)).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_READINESS_GATE: Record = Record::new(
    "PodReadinessGate",
    &[
        Field::new("conditionType", Type::Named("v1.PodConditionType", &Type::Text)).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_RESOURCE_CLAIM: Record = Record::new(
    "PodResourceClaim",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("resourceClaimName", Type::Optional(&Type::Text)).numbered(&[3]),
        Field::new("resourceClaimTemplateName", Type::Optional(&Type::Text)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_RESOURCE_CLAIM_STATUS: Record = Record::new(
    "PodResourceClaimStatus",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("resourceClaimName", Type::Optional(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_SCHEDULING_GATE: Record = Record::new(
    "PodSchedulingGate",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_SCHEDULING_GROUP: Record = Record::new(
    "PodSchedulingGroup",
    &[
        Field::new("podGroupName", Type::Optional(&Type::Text)).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_SECURITY_CONTEXT: Record = Record::new(
    "PodSecurityContext",
    &[
        Field::new("seLinuxOptions", Type::Optional(&Type::Record(|| &super::core_v1::SE_LINUX_OPTIONS))).numbered(&[1]),
        Field::new("windowsOptions", Type::Optional(&Type::Record(|| &super::core_v1::WINDOWS_SECURITY_CONTEXT_OPTIONS))).numbered(&[8]),
        Field::new("runAsUser", Type::Optional(&Type::Int64)).numbered(&[2]),
        Field::new("runAsGroup", Type::Optional(&Type::Int64)).numbered(&[6]),
        Field::new("runAsNonRoot", Type::Optional(&Type::Flag)).numbered(&[3]),
        Field::new("supplementalGroups", Type::List(&Type::Int64)).numbered(&[4]),
        Field::new("supplementalGroupsPolicy", Type::Optional(&Type::Named("v1.SupplementalGroupsPolicy", &Type::Text))).numbered(&[12]).one_of(&["Merge","Strict"]),
        Field::new("fsGroup", Type::Optional(&Type::Int64)).numbered(&[5]),
        Field::new("sysctls", Type::List(&Type::Record(|| &super::core_v1::SYSCTL))).numbered(&[7]),
        Field::new("fsGroupChangePolicy", Type::Optional(&Type::Named("v1.PodFSGroupChangePolicy", &Type::Text))).numbered(&[9]).one_of(&["Always","OnRootMismatch"]),
        Field::new("seccompProfile", Type::Optional(&Type::Record(|| &super::core_v1::SECCOMP_PROFILE))).numbered(&[10]),
        Field::new("appArmorProfile", Type::Optional(&Type::Record(|| &super::core_v1::APP_ARMOR_PROFILE))).numbered(&[11]),
        Field::new("seLinuxChangePolicy", Type::Optional(&Type::Named("v1.PodSELinuxChangePolicy", &Type::Text))).numbered(&[13]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_SPEC: Record = Record::new(
    "PodSpec",
    &[
        Field::new("volumes", Type::List(&Type::Record(|| &super::core_v1::VOLUME))).numbered(&[1]).list(ListType::Map(&["name"])).patched_by("name").retaining_keys(),
        Field::new("initContainers", Type::List(&Type::Record(|| &super::core_v1::CONTAINER))).numbered(&[20]).list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("containers", Type::List(&Type::Record(|| &super::core_v1::CONTAINER))).numbered(&[2]).required().needed().list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("ephemeralContainers", Type::List(&Type::Record(|| &super::core_v1::EPHEMERAL_CONTAINER))).numbered(&[34]).list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("restartPolicy", Type::Named("v1.RestartPolicy", &Type::Text)).numbered(&[3]).one_of(&["Always","Never","OnFailure"]),
        Field::new("terminationGracePeriodSeconds", Type::Optional(&Type::Int64)).numbered(&[4]),
        Field::new("activeDeadlineSeconds", Type::Optional(&Type::Int64)).numbered(&[5]),
        Field::new("dnsPolicy", Type::Named("v1.DNSPolicy", &Type::Text)).numbered(&[6]).one_of(&["ClusterFirst","ClusterFirstWithHostNet","Default","None"]),
        Field::new("nodeSelector", Type::Map(&Type::Text)).numbered(&[7]).atomic(),
        Field::new("serviceAccountName", Type::Text).numbered(&[8]),
        Field::new("serviceAccount", Type::Text).numbered(&[9]),
        Field::new("automountServiceAccountToken", Type::Optional(&Type::Flag)).numbered(&[21]),
        Field::new("nodeName", Type::Text).numbered(&[10]),
        Field::new("hostNetwork", Type::Flag).numbered(&[11]),
        Field::new("hostPID", Type::Flag).numbered(&[12]),
        Field::new("hostIPC", Type::Flag).numbered(&[13]),
        Field::new("shareProcessNamespace", Type::Optional(&Type::Flag)).numbered(&[27]),
        Field::new("securityContext", Type::Optional(&Type::Record(|| &super::core_v1::POD_SECURITY_CONTEXT))).numbered(&[14]),
        Field::new("imagePullSecrets", Type::List(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[15]).list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("hostname", Type::Text).numbered(&[16]),
        Field::new("subdomain", Type::Text).numbered(&[17]),
        Field::new("affinity", Type::Optional(&Type::Record(|| &super::core_v1::AFFINITY))).numbered(&[18]),
        Field::new("schedulerName", Type::Text).numbered(&[19]),
        Field::new("tolerations", Type::List(&Type::Record(|| &super::core_v1::TOLERATION))).numbered(&[22]),
        Field::new("hostAliases", Type::List(&Type::Record(|| &super::core_v1::HOST_ALIAS))).numbered(&[23]).list(ListType::Map(&["ip"])).patched_by("ip"),
        Field::new("priorityClassName", Type::Text).numbered(&[24]),
        Field::new("priority", Type::Optional(&Type::Int32)).numbered(&[25]),
        Field::new("dnsConfig", Type::Optional(&Type::Record(|| &super::core_v1::POD_DNS_CONFIG))).numbered(&[26]),
        Field::new("readinessGates", Type::List(&Type::Record(|| &super::core_v1::POD_READINESS_GATE))).numbered(&[28]),
        Field::new("runtimeClassName", Type::Optional(&Type::Text)).numbered(&[29]),
        Field::new("enableServiceLinks", Type::Optional(&Type::Flag)).numbered(&[30]),
        Field::new("preemptionPolicy", Type::Optional(&Type::Named("v1.PreemptionPolicy", &Type::Text))).numbered(&[31]).one_of(&["Never","PreemptLowerPriority"]),
        Field::new("overhead", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[32]),
        Field::new("topologySpreadConstraints", Type::List(&Type::Record(|| &super::core_v1::TOPOLOGY_SPREAD_CONSTRAINT))).numbered(&[33]).list(ListType::Map(&["topologyKey","whenUnsatisfiable"])).patched_by("topologyKey"),
        Field::new("setHostnameAsFQDN", Type::Optional(&Type::Flag)).numbered(&[35]),
        Field::new("os", Type::Optional(&Type::Record(|| &super::core_v1::POD_OS))).numbered(&[36]),
        Field::new("hostUsers", Type::Optional(&Type::Flag)).numbered(&[37]),
        Field::new("schedulingGates", Type::List(&Type::Record(|| &super::core_v1::POD_SCHEDULING_GATE))).numbered(&[38]).list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("resourceClaims", Type::List(&Type::Record(|| &super::core_v1::POD_RESOURCE_CLAIM))).numbered(&[39]).list(ListType::Map(&["name"])).patched_by("name").retaining_keys(),
        Field::new("resources", Type::Optional(&Type::Record(|| &super::core_v1::RESOURCE_REQUIREMENTS))).numbered(&[40]),
        Field::new("hostnameOverride", Type::Optional(&Type::Text)).numbered(&[41]).since(KubernetesVersion::V1_34),
        Field::new("schedulingGroup", Type::Optional(&Type::Record(|| &super::core_v1::POD_SCHEDULING_GROUP))).numbered(&[43]).since(KubernetesVersion::V1_36),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_STATUS: Record = Record::new(
    "PodStatus",
    &[
        Field::new("observedGeneration", Type::Int64).numbered(&[17]).since(KubernetesVersion::V1_33),
        Field::new("phase", Type::Named("v1.PodPhase", &Type::Text)).numbered(&[1]).one_of(&["Failed","Pending","Running","Succeeded","Unknown"]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::core_v1::POD_CONDITION))).numbered(&[2]).list(ListType::Map(&["type"])).patched_by("type"),
        Field::new("message", Type::Text).numbered(&[3]),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("nominatedNodeName", Type::Text).numbered(&[11]),
        Field::new("hostIP", Type::Text).numbered(&[5]),
        Field::new("hostIPs", Type::List(&Type::Record(|| &super::core_v1::HOST_IP))).numbered(&[16]).patched_by("ip"),
        Field::new("podIP", Type::Text).numbered(&[6]),
        Field::new("podIPs", Type::List(&Type::Record(|| &super::core_v1::POD_IP))).numbered(&[12]).list(ListType::Map(&["ip"])).patched_by("ip"),
        Field::new("startTime", Type::Optional(&Type::Time)).numbered(&[7]),
        Field::new("initContainerStatuses", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_STATUS))).numbered(&[10]),
        Field::new("containerStatuses", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_STATUS))).numbered(&[8]),
        Field::new("qosClass", Type::Named("v1.PodQOSClass", &Type::Text)).numbered(&[9]).one_of(&["BestEffort","Burstable","Guaranteed"]),
        Field::new("ephemeralContainerStatuses", Type::List(&Type::Record(|| &super::core_v1::CONTAINER_STATUS))).numbered(&[13]),
        Field::new("resize", Type::Named("v1.PodResizeStatus", &Type::Text)).numbered(&[14]),
        Field::new("resourceClaimStatuses", Type::List(&Type::Record(|| &super::core_v1::POD_RESOURCE_CLAIM_STATUS))).numbered(&[15]).list(ListType::Map(&["name"])).patched_by("name").retaining_keys(),
        Field::new("extendedResourceClaimStatus", Type::Optional(&Type::Record(|| &super::core_v1::POD_EXTENDED_RESOURCE_CLAIM_STATUS))).numbered(&[18]).since(KubernetesVersion::V1_34),
        Field::new("allocatedResources", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[19]).since(KubernetesVersion::V1_35),
        Field::new("resources", Type::Optional(&Type::Record(|| &super::core_v1::RESOURCE_REQUIREMENTS))).numbered(&[20]).since(KubernetesVersion::V1_35),
        Field::new("nodeAllocatableResourceClaimStatuses", Type::List(&Type::Record(|| &super::core_v1::NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS))).numbered(&[21]).since(KubernetesVersion::V1_36),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_TEMPLATE: Record = Record::new(
    "PodTemplate",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("template", Type::Record(|| &super::core_v1::POD_TEMPLATE_SPEC)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static POD_TEMPLATE_SPEC: Record = Record::new(
    "PodTemplateSpec",
    &[
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::POD_SPEC)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PORT_STATUS: Record = Record::new(
    "PortStatus",
    &[
        Field::new("port", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("protocol", Type::Named("v1.Protocol", &Type::Text)).numbered(&[2]).required().needed().one_of(&["SCTP","TCP","UDP"]),
        Field::new("error", Type::Optional(&Type::Text)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PORTWORX_VOLUME_SOURCE: Record = Record::new(
    "PortworxVolumeSource",
    &[
        Field::new("volumeID", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PREFERRED_SCHEDULING_TERM: Record = Record::new(
    "PreferredSchedulingTerm",
    &[
        Field::new("weight", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("preference", Type::Record(|| &super::core_v1::NODE_SELECTOR_TERM)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PROBE: Record = Record::new(
    "Probe",
    &[
        Field::new("exec", Type::Optional(&Type::Record(|| &super::core_v1::EXEC_ACTION))).numbered(&[1, 1]).embedded("ProbeHandler"),
        Field::new("httpGet", Type::Optional(&Type::Record(|| &super::core_v1::HTTP_GET_ACTION))).numbered(&[1, 2]).embedded("ProbeHandler"),
        Field::new("tcpSocket", Type::Optional(&Type::Record(|| &super::core_v1::TCP_SOCKET_ACTION))).numbered(&[1, 3]).embedded("ProbeHandler"),
        Field::new("grpc", Type::Optional(&Type::Record(|| &super::core_v1::GRPC_ACTION))).numbered(&[1, 4]).embedded("ProbeHandler"),
        Field::new("initialDelaySeconds", Type::Int32).numbered(&[2]),
        Field::new("timeoutSeconds", Type::Int32).numbered(&[3]),
        Field::new("periodSeconds", Type::Int32).numbered(&[4]),
        Field::new("successThreshold", Type::Int32).numbered(&[5]),
        Field::new("failureThreshold", Type::Int32).numbered(&[6]),
        Field::new("terminationGracePeriodSeconds", Type::Optional(&Type::Int64)).numbered(&[7]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static PROJECTED_VOLUME_SOURCE: Record = Record::new(
    "ProjectedVolumeSource",
    &[
        Field::new("sources", Type::List(&Type::Record(|| &super::core_v1::VOLUME_PROJECTION))).numbered(&[1]).required(),
        Field::new("defaultMode", Type::Optional(&Type::Int32)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static QUOBYTE_VOLUME_SOURCE: Record = Record::new(
    "QuobyteVolumeSource",
    &[
        Field::new("registry", Type::Text).numbered(&[1]).required().needed(),
        Field::new("volume", Type::Text).numbered(&[2]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
        Field::new("user", Type::Text).numbered(&[4]),
        Field::new("group", Type::Text).numbered(&[5]),
        Field::new("tenant", Type::Text).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RBD_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "RBDPersistentVolumeSource",
    &[
        Field::new("monitors", Type::List(&Type::Text)).numbered(&[1]).required().needed(),
        Field::new("image", Type::Text).numbered(&[2]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[3]),
        Field::new("pool", Type::Text).numbered(&[4]).default("\"rbd\""),
        Field::new("user", Type::Text).numbered(&[5]).default("\"admin\""),
        Field::new("keyring", Type::Text).numbered(&[6]).default("\"/etc/ceph/keyring\""),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[7]),
        Field::new("readOnly", Type::Flag).numbered(&[8]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RBD_VOLUME_SOURCE: Record = Record::new(
    "RBDVolumeSource",
    &[
        Field::new("monitors", Type::List(&Type::Text)).numbered(&[1]).required().needed(),
        Field::new("image", Type::Text).numbered(&[2]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[3]),
        Field::new("pool", Type::Text).numbered(&[4]).default("\"rbd\""),
        Field::new("user", Type::Text).numbered(&[5]).default("\"admin\""),
        Field::new("keyring", Type::Text).numbered(&[6]).default("\"/etc/ceph/keyring\""),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[7]),
        Field::new("readOnly", Type::Flag).numbered(&[8]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static REPLICATION_CONTROLLER: Record = Record::new(
    "ReplicationController",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::REPLICATION_CONTROLLER_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::core_v1::REPLICATION_CONTROLLER_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static REPLICATION_CONTROLLER_CONDITION: Record = Record::new(
    "ReplicationControllerCondition",
    &[
        Field::new("type", Type::Named("v1.ReplicationControllerConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[3]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static REPLICATION_CONTROLLER_SPEC: Record = Record::new(
    "ReplicationControllerSpec",
    &[
        Field::new("replicas", Type::Optional(&Type::Int32)).numbered(&[1]).default("1"),
        Field::new("minReadySeconds", Type::Int32).numbered(&[4]).default("0"),
        Field::new("selector", Type::Map(&Type::Text)).numbered(&[2]).atomic(),
        Field::new("template", Type::Optional(&Type::Record(|| &super::core_v1::POD_TEMPLATE_SPEC))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static REPLICATION_CONTROLLER_STATUS: Record = Record::new(
    "ReplicationControllerStatus",
    &[
        Field::new("replicas", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("fullyLabeledReplicas", Type::Int32).numbered(&[2]),
        Field::new("readyReplicas", Type::Int32).numbered(&[4]),
        Field::new("availableReplicas", Type::Int32).numbered(&[5]),
        Field::new("observedGeneration", Type::Int64).numbered(&[3]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::core_v1::REPLICATION_CONTROLLER_CONDITION))).numbered(&[6]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RESOURCE_CLAIM: Record = Record::new(
    "ResourceClaim",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("request", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RESOURCE_FIELD_SELECTOR: Record = Record::new(
    "ResourceFieldSelector",
    &[
        Field::new("containerName", Type::Text).numbered(&[1]),
        Field::new("resource", Type::Text).numbered(&[2]).required().needed(),
        Field::new("divisor", Type::Quantity).numbered(&[3]).required(),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static RESOURCE_HEALTH: Record = Record::new(
    "ResourceHealth",
    &[
        Field::new("resourceID", Type::Named("v1.ResourceID", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("health", Type::Named("v1.ResourceHealthStatus", &Type::Text)).numbered(&[2]),
        Field::new("message", Type::Optional(&Type::Text)).numbered(&[6]).since(KubernetesVersion::V1_36),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RESOURCE_QUOTA: Record = Record::new(
    "ResourceQuota",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::RESOURCE_QUOTA_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::core_v1::RESOURCE_QUOTA_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RESOURCE_QUOTA_SPEC: Record = Record::new(
    "ResourceQuotaSpec",
    &[
        Field::new("hard", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[1]),
        Field::new("scopes", Type::List(&Type::Named("v1.ResourceQuotaScope", &Type::Text))).numbered(&[2]),
        Field::new("scopeSelector", Type::Optional(&Type::Record(|| &super::core_v1::SCOPE_SELECTOR))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RESOURCE_QUOTA_STATUS: Record = Record::new(
    "ResourceQuotaStatus",
    &[
        Field::new("hard", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[1]),
        Field::new("used", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RESOURCE_REQUIREMENTS: Record = Record::new(
    "ResourceRequirements",
    &[
        Field::new("limits", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[1]),
        Field::new("requests", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[2]),
        Field::new("claims", Type::List(&Type::Record(|| &super::core_v1::RESOURCE_CLAIM))).numbered(&[3]).list(ListType::Map(&["name"])),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static RESOURCE_STATUS: Record = Record::new(
    "ResourceStatus",
    &[
        Field::new("name", Type::Named("v1.ResourceName", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("resources", Type::List(&Type::Record(|| &super::core_v1::RESOURCE_HEALTH))).numbered(&[2]).list(ListType::Map(&["resourceID"])),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SE_LINUX_OPTIONS: Record = Record::new(
    "SELinuxOptions",
    &[
        Field::new("user", Type::Text).numbered(&[1]),
        Field::new("role", Type::Text).numbered(&[2]),
        Field::new("type", Type::Text).numbered(&[3]),
        Field::new("level", Type::Text).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SCALE_IO_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "ScaleIOPersistentVolumeSource",
    &[
        Field::new("gateway", Type::Text).numbered(&[1]).required().needed(),
        Field::new("system", Type::Text).numbered(&[2]).required().needed(),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_REFERENCE))).numbered(&[3]).required().needed(),
        Field::new("sslEnabled", Type::Flag).numbered(&[4]),
        Field::new("protectionDomain", Type::Text).numbered(&[5]),
        Field::new("storagePool", Type::Text).numbered(&[6]),
        Field::new("storageMode", Type::Text).numbered(&[7]).default("\"ThinProvisioned\""),
        Field::new("volumeName", Type::Text).numbered(&[8]),
        Field::new("fsType", Type::Text).numbered(&[9]).default("\"xfs\""),
        Field::new("readOnly", Type::Flag).numbered(&[10]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SCALE_IO_VOLUME_SOURCE: Record = Record::new(
    "ScaleIOVolumeSource",
    &[
        Field::new("gateway", Type::Text).numbered(&[1]).required().needed(),
        Field::new("system", Type::Text).numbered(&[2]).required().needed(),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[3]).required().needed(),
        Field::new("sslEnabled", Type::Flag).numbered(&[4]),
        Field::new("protectionDomain", Type::Text).numbered(&[5]),
        Field::new("storagePool", Type::Text).numbered(&[6]),
        Field::new("storageMode", Type::Text).numbered(&[7]).default("\"ThinProvisioned\""),
        Field::new("volumeName", Type::Text).numbered(&[8]),
        Field::new("fsType", Type::Text).numbered(&[9]).default("\"xfs\""),
        Field::new("readOnly", Type::Flag).numbered(&[10]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SCOPE_SELECTOR: Record = Record::new(
    "ScopeSelector",
    &[
        Field::new("matchExpressions", Type::List(&Type::Record(|| &super::core_v1::SCOPED_RESOURCE_SELECTOR_REQUIREMENT))).numbered(&[1]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static SCOPED_RESOURCE_SELECTOR_REQUIREMENT: Record = Record::new(
    "ScopedResourceSelectorRequirement",
    &[
        Field::new("scopeName", Type::Named("v1.ResourceQuotaScope", &Type::Text)).numbered(&[1]).required().needed().one_of(&["BestEffort","CrossNamespacePodAffinity","NotBestEffort","NotTerminating","PriorityClass","Terminating","VolumeAttributesClass"]),
        Field::new("operator", Type::Named("v1.ScopeSelectorOperator", &Type::Text)).numbered(&[2]).required().needed().one_of(&["DoesNotExist","Exists","In","NotIn"]),
        Field::new("values", Type::List(&Type::Text)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SECCOMP_PROFILE: Record = Record::new(
    "SeccompProfile",
    &[
        Field::new("type", Type::Named("v1.SeccompProfileType", &Type::Text)).numbered(&[1]).required().needed().one_of(&["Localhost","RuntimeDefault","Unconfined"]),
        Field::new("localhostProfile", Type::Optional(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SECRET: Record = Record::new(
    "Secret",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("immutable", Type::Optional(&Type::Flag)).numbered(&[5]),
        Field::new("data", Type::Map(&Type::Bytes)).numbered(&[2]),
        Field::new("stringData", Type::Map(&Type::Text)).numbered(&[4]),
        Field::new("type", Type::Named("v1.SecretType", &Type::Text)).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SECRET_ENV_SOURCE: Record = Record::new(
    "SecretEnvSource",
    &[
        Field::new("name", Type::Text).numbered(&[1, 1]).embedded("LocalObjectReference").default("\"\""),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SECRET_KEY_SELECTOR: Record = Record::new(
    "SecretKeySelector",
    &[
        Field::new("name", Type::Text).numbered(&[1, 1]).embedded("LocalObjectReference").default("\"\""),
        Field::new("key", Type::Text).numbered(&[2]).required().needed(),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[3]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static SECRET_PROJECTION: Record = Record::new(
    "SecretProjection",
    &[
        Field::new("name", Type::Text).numbered(&[1, 1]).embedded("LocalObjectReference").default("\"\""),
        Field::new("items", Type::List(&Type::Record(|| &super::core_v1::KEY_TO_PATH))).numbered(&[2]),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SECRET_REFERENCE: Record = Record::new(
    "SecretReference",
    &[
        Field::new("name", Type::Text).numbered(&[1]),
        Field::new("namespace", Type::Text).numbered(&[2]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static SECRET_VOLUME_SOURCE: Record = Record::new(
    "SecretVolumeSource",
    &[
        Field::new("secretName", Type::Text).numbered(&[1]),
        Field::new("items", Type::List(&Type::Record(|| &super::core_v1::KEY_TO_PATH))).numbered(&[2]),
        Field::new("defaultMode", Type::Optional(&Type::Int32)).numbered(&[3]),
        Field::new("optional", Type::Optional(&Type::Flag)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SECURITY_CONTEXT: Record = Record::new(
    "SecurityContext",
    &[
        Field::new("capabilities", Type::Optional(&Type::Record(|| &super::core_v1::CAPABILITIES))).numbered(&[1]),
        Field::new("privileged", Type::Optional(&Type::Flag)).numbered(&[2]),
        Field::new("seLinuxOptions", Type::Optional(&Type::Record(|| &super::core_v1::SE_LINUX_OPTIONS))).numbered(&[3]),
        Field::new("windowsOptions", Type::Optional(&Type::Record(|| &super::core_v1::WINDOWS_SECURITY_CONTEXT_OPTIONS))).numbered(&[10]),
        Field::new("runAsUser", Type::Optional(&Type::Int64)).numbered(&[4]),
        Field::new("runAsGroup", Type::Optional(&Type::Int64)).numbered(&[8]),
        Field::new("runAsNonRoot", Type::Optional(&Type::Flag)).numbered(&[5]),
        Field::new("readOnlyRootFilesystem", Type::Optional(&Type::Flag)).numbered(&[6]),
        Field::new("allowPrivilegeEscalation", Type::Optional(&Type::Flag)).numbered(&[7]),
        Field::new("procMount", Type::Optional(&Type::Named("v1.ProcMountType", &Type::Text))).numbered(&[9]).one_of(&["Default","Unmasked"]),
        Field::new("seccompProfile", Type::Optional(&Type::Record(|| &super::core_v1::SECCOMP_PROFILE))).numbered(&[11]),
        Field::new("appArmorProfile", Type::Optional(&Type::Record(|| &super::core_v1::APP_ARMOR_PROFILE))).numbered(&[12]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SERVICE: Record = Record::new(
    "Service",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::core_v1::SERVICE_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::core_v1::SERVICE_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SERVICE_ACCOUNT: Record = Record::new(
    "ServiceAccount",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("secrets", Type::List(&Type::Record(|| &super::core_v1::OBJECT_REFERENCE))).numbered(&[2]).list(ListType::Map(&["name"])).patched_by("name"),
        Field::new("imagePullSecrets", Type::List(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[3]),
        Field::new("automountServiceAccountToken", Type::Optional(&Type::Flag)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SERVICE_ACCOUNT_TOKEN_PROJECTION: Record = Record::new(
    "ServiceAccountTokenProjection",
    &[
        Field::new("audience", Type::Text).numbered(&[1]),
        Field::new("expirationSeconds", Type::Optional(&Type::Int64)).numbered(&[2]),
        Field::new("path", Type::Text).numbered(&[3]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SERVICE_PORT: Record = Record::new(
    "ServicePort",
    &[
        Field::new("name", Type::Text).numbered(&[1]),
        Field::new("protocol", Type::Named("v1.Protocol", &Type::Text)).numbered(&[2]).one_of(&["SCTP","TCP","UDP"]).default("\"TCP\""),
        Field::new("appProtocol", Type::Optional(&Type::Text)).numbered(&[6]),
        Field::new("port", Type::Int32).numbered(&[3]).required().needed(),
        Field::new("targetPort", Type::IntOrString).numbered(&[4]).required(),
        Field::new("nodePort", Type::Int32).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SERVICE_SPEC: Record = Record::new(
    "ServiceSpec",
    &[
        Field::new("ports", Type::List(&Type::Record(|| &super::core_v1::SERVICE_PORT))).numbered(&[1]).list(ListType::Map(&["port","protocol"])).patched_by("port"),
        Field::new("selector", Type::Map(&Type::Text)).numbered(&[2]).atomic(),
        Field::new("clusterIP", Type::Text).numbered(&[3]),
        Field::new("clusterIPs", Type::List(&Type::Text)).numbered(&[18]),
        Field::new("type", Type::Named("v1.ServiceType", &Type::Text)).numbered(&[4]).one_of(&["ClusterIP","ExternalName","LoadBalancer","NodePort"]),
        Field::new("externalIPs", Type::List(&Type::Text)).numbered(&[5]),
        Field::new("sessionAffinity", Type::Named("v1.ServiceAffinity", &Type::Text)).numbered(&[7]).one_of(&["ClientIP","None"]),
        Field::new("loadBalancerIP", Type::Text).numbered(&[8]),
        Field::new("loadBalancerSourceRanges", Type::List(&Type::Text)).numbered(&[9]),
        Field::new("externalName", Type::Text).numbered(&[10]),
        Field::new("externalTrafficPolicy", Type::Named("v1.ServiceExternalTrafficPolicy", &Type::Text)).numbered(&[11]).one_of(&["Cluster","Local"]),
        Field::new("healthCheckNodePort", Type::Int32).numbered(&[12]),
        Field::new("publishNotReadyAddresses", Type::Flag).numbered(&[13]),
        Field::new("sessionAffinityConfig", Type::Optional(&Type::Record(|| &super::core_v1::SESSION_AFFINITY_CONFIG))).numbered(&[14]),
        Field::new("ipFamilies", Type::List(&Type::Named("v1.IPFamily", &Type::Text))).numbered(&[19]),
        Field::new("ipFamilyPolicy", Type::Optional(&Type::Named("v1.IPFamilyPolicy", &Type::Text))).numbered(&[17]).one_of(&["PreferDualStack","RequireDualStack","SingleStack"]),
        Field::new("allocateLoadBalancerNodePorts", Type::Optional(&Type::Flag)).numbered(&[20]),
        Field::new("loadBalancerClass", Type::Optional(&Type::Text)).numbered(&[21]),
        Field::new("internalTrafficPolicy", Type::Optional(&Type::Named("v1.ServiceInternalTrafficPolicy", &Type::Text))).numbered(&[22]).one_of(&["Cluster","Local"]),
        Field::new("trafficDistribution", Type::Optional(&Type::Text)).numbered(&[23]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SERVICE_STATUS: Record = Record::new(
    "ServiceStatus",
    &[
        Field::new("loadBalancer", Type::Record(|| &super::core_v1::LOAD_BALANCER_STATUS)).numbered(&[1]).required(),
        Field::new("conditions", Type::List(&Type::Record(|| &super::meta_v1::CONDITION))).numbered(&[2]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SESSION_AFFINITY_CONFIG: Record = Record::new(
    "SessionAffinityConfig",
    &[
        Field::new("clientIP", Type::Optional(&Type::Record(|| &super::core_v1::CLIENT_IP_CONFIG))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SLEEP_ACTION: Record = Record::new(
    "SleepAction",
    &[
        Field::new("seconds", Type::Int64).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static STORAGE_OS_PERSISTENT_VOLUME_SOURCE: Record = Record::new(
    "StorageOSPersistentVolumeSource",
    &[
        Field::new("volumeName", Type::Text).numbered(&[1]),
        Field::new("volumeNamespace", Type::Text).numbered(&[2]),
        Field::new("fsType", Type::Text).numbered(&[3]),
        Field::new("readOnly", Type::Flag).numbered(&[4]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::OBJECT_REFERENCE))).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static STORAGE_OS_VOLUME_SOURCE: Record = Record::new(
    "StorageOSVolumeSource",
    &[
        Field::new("volumeName", Type::Text).numbered(&[1]),
        Field::new("volumeNamespace", Type::Text).numbered(&[2]),
        Field::new("fsType", Type::Text).numbered(&[3]),
        Field::new("readOnly", Type::Flag).numbered(&[4]),
        Field::new("secretRef", Type::Optional(&Type::Record(|| &super::core_v1::LOCAL_OBJECT_REFERENCE))).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static SYSCTL: Record = Record::new(
    "Sysctl",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("value", Type::Text).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static TCP_SOCKET_ACTION: Record = Record::new(
    "TCPSocketAction",
    &[
        Field::new("port", Type::IntOrString).numbered(&[1]).required().needed(),
        Field::new("host", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static TAINT: Record = Record::new(
    "Taint",
    &[
        Field::new("key", Type::Text).numbered(&[1]).required().needed(),
        Field::new("value", Type::Text).numbered(&[2]),
        Field::new("effect", Type::Named("v1.TaintEffect", &Type::Text)).numbered(&[3]).required().needed().one_of(&["NoExecute","NoSchedule","PreferNoSchedule"]),
        Field::new("timeAdded", Type::Optional(&Type::Time)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static TOLERATION: Record = Record::new(
    "Toleration",
    &[
        Field::new("key", Type::Text).numbered(&[1]),
        Field::new("operator", Type::Named("v1.TolerationOperator", &Type::Text)).numbered(&[2]).one_of(&["Equal","Exists","Gt","Lt"]),
        Field::new("value", Type::Text).numbered(&[3]),
        Field::new("effect", Type::Named("v1.TaintEffect", &Type::Text)).numbered(&[4]).one_of(&["NoExecute","NoSchedule","PreferNoSchedule"]),
        Field::new("tolerationSeconds", Type::Optional(&Type::Int64)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static TOPOLOGY_SELECTOR_LABEL_REQUIREMENT: Record = Record::new(
    "TopologySelectorLabelRequirement",
    &[
        Field::new("key", Type::Text).numbered(&[1]).required().needed(),
        Field::new("values", Type::List(&Type::Text)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static TOPOLOGY_SELECTOR_TERM: Record = Record::new(
    "TopologySelectorTerm",
    &[
        Field::new("matchLabelExpressions", Type::List(&Type::Record(|| &super::core_v1::TOPOLOGY_SELECTOR_LABEL_REQUIREMENT))).numbered(&[1]),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static TOPOLOGY_SPREAD_CONSTRAINT: Record = Record::new(
    "TopologySpreadConstraint",
    &[
        Field::new("maxSkew", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("topologyKey", Type::Text).numbered(&[2]).required().needed(),
        Field::new("whenUnsatisfiable", Type::Named("v1.UnsatisfiableConstraintAction", &Type::Text)).numbered(&[3]).required().needed().one_of(&["DoNotSchedule","ScheduleAnyway"]),
        Field::new("labelSelector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[4]),
        Field::new("minDomains", Type::Optional(&Type::Int32)).numbered(&[5]),
        Field::new("nodeAffinityPolicy", Type::Optional(&Type::Named("v1.NodeInclusionPolicy", &Type::Text))).numbered(&[6]).one_of(&["Honor","Ignore"]),
        Field::new("nodeTaintsPolicy", Type::Optional(&Type::Named("v1.NodeInclusionPolicy", &Type::Text))).numbered(&[7]).one_of(&["Honor","Ignore"]),
        Field::new("matchLabelKeys", Type::List(&Type::Text)).numbered(&[8]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static TYPED_LOCAL_OBJECT_REFERENCE: Record = Record::new(
    "TypedLocalObjectReference",
    &[
        Field::new("apiGroup", Type::Optional(&Type::Text)).numbered(&[1]).required(),
        Field::new("kind", Type::Text).numbered(&[2]).required().needed(),
        Field::new("name", Type::Text).numbered(&[3]).required().needed(),
    ],
).atomic()
.at_home("io.k8s.api.core.v1");

pub(crate) static TYPED_OBJECT_REFERENCE: Record = Record::new(
    "TypedObjectReference",
    &[
        Field::new("apiGroup", Type::Optional(&Type::Text)).numbered(&[1]).required(),
        Field::new("kind", Type::Text).numbered(&[2]).required().needed(),
        Field::new("name", Type::Text).numbered(&[3]).required().needed(),
        Field::new("namespace", Type::Optional(&Type::Text)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VOLUME: Record = Record::new(
    "Volume",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("hostPath", Type::Optional(&Type::Record(|| &super::core_v1::HOST_PATH_VOLUME_SOURCE))).numbered(&[2, 1]).embedded("VolumeSource"),
        Field::new("emptyDir", Type::Optional(&Type::Record(|| &super::core_v1::EMPTY_DIR_VOLUME_SOURCE))).numbered(&[2, 2]).embedded("VolumeSource"),
        Field::new("gcePersistentDisk", Type::Optional(&Type::Record(|| &super::core_v1::GCE_PERSISTENT_DISK_VOLUME_SOURCE))).numbered(&[2, 3]).embedded("VolumeSource"),
        Field::new("awsElasticBlockStore", Type::Optional(&Type::Record(|| &super::core_v1::AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE))).numbered(&[2, 4]).embedded("VolumeSource"),
        Field::new("gitRepo", Type::Optional(&Type::Record(|| &super::core_v1::GIT_REPO_VOLUME_SOURCE))).numbered(&[2, 5]).embedded("VolumeSource"),
        Field::new("secret", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_VOLUME_SOURCE))).numbered(&[2, 6]).embedded("VolumeSource"),
        Field::new("nfs", Type::Optional(&Type::Record(|| &super::core_v1::NFS_VOLUME_SOURCE))).numbered(&[2, 7]).embedded("VolumeSource"),
        Field::new("iscsi", Type::Optional(&Type::Record(|| &super::core_v1::ISCSI_VOLUME_SOURCE))).numbered(&[2, 8]).embedded("VolumeSource"),
        Field::new("glusterfs", Type::Optional(&Type::Record(|| &super::core_v1::GLUSTERFS_VOLUME_SOURCE))).numbered(&[2, 9]).embedded("VolumeSource"),
        Field::new("persistentVolumeClaim", Type::Optional(&Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE))).numbered(&[2, 10]).embedded("VolumeSource"),
        Field::new("rbd", Type::Optional(&Type::Record(|| &super::core_v1::RBD_VOLUME_SOURCE))).numbered(&[2, 11]).embedded("VolumeSource"),
        Field::new("flexVolume", Type::Optional(&Type::Record(|| &super::core_v1::FLEX_VOLUME_SOURCE))).numbered(&[2, 12]).embedded("VolumeSource"),
        Field::new("cinder", Type::Optional(&Type::Record(|| &super::core_v1::CINDER_VOLUME_SOURCE))).numbered(&[2, 13]).embedded("VolumeSource"),
        Field::new("cephfs", Type::Optional(&Type::Record(|| &super::core_v1::CEPH_FS_VOLUME_SOURCE))).numbered(&[2, 14]).embedded("VolumeSource"),
        Field::new("flocker", Type::Optional(&Type::Record(|| &super::core_v1::FLOCKER_VOLUME_SOURCE))).numbered(&[2, 15]).embedded("VolumeSource"),
        Field::new("downwardAPI", Type::Optional(&Type::Record(|| &super::core_v1::DOWNWARD_API_VOLUME_SOURCE))).numbered(&[2, 16]).embedded("VolumeSource"),
        Field::new("fc", Type::Optional(&Type::Record(|| &super::core_v1::FC_VOLUME_SOURCE))).numbered(&[2, 17]).embedded("VolumeSource"),
        Field::new("azureFile", Type::Optional(&Type::Record(|| &super::core_v1::AZURE_FILE_VOLUME_SOURCE))).numbered(&[2, 18]).embedded("VolumeSource"),
        Field::new("configMap", Type::Optional(&Type::Record(|| &super::core_v1::CONFIG_MAP_VOLUME_SOURCE))).numbered(&[2, 19]).embedded("VolumeSource"),
        Field::new("vsphereVolume", Type::Optional(&Type::Record(|| &super::core_v1::VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE))).numbered(&[2, 20]).embedded("VolumeSource"),
        Field::new("quobyte", Type::Optional(&Type::Record(|| &super::core_v1::QUOBYTE_VOLUME_SOURCE))).numbered(&[2, 21]).embedded("VolumeSource"),
        Field::new("azureDisk", Type::Optional(&Type::Record(|| &super::core_v1::AZURE_DISK_VOLUME_SOURCE))).numbered(&[2, 22]).embedded("VolumeSource"),
        Field::new("photonPersistentDisk", Type::Optional(&Type::Record(|| &super::core_v1::PHOTON_PERSISTENT_DISK_VOLUME_SOURCE))).numbered(&[2, 23]).embedded("VolumeSource"),
        Field::new("projected", Type::Optional(&Type::Record(|| &super::core_v1::PROJECTED_VOLUME_SOURCE))).numbered(&[2, 26]).embedded("VolumeSource"),
        Field::new("portworxVolume", Type::Optional(&Type::Record(|| &super::core_v1::PORTWORX_VOLUME_SOURCE))).numbered(&[2, 24]).embedded("VolumeSource"),
        Field::new("scaleIO", Type::Optional(&Type::Record(|| &super::core_v1::SCALE_IO_VOLUME_SOURCE))).numbered(&[2, 25]).embedded("VolumeSource"),
        Field::new("storageos", Type::Optional(&Type::Record(|| &super::core_v1::STORAGE_OS_VOLUME_SOURCE))).numbered(&[2, 27]).embedded("VolumeSource"),
        Field::new("csi", Type::Optional(&Type::Record(|| &super::core_v1::CSI_VOLUME_SOURCE))).numbered(&[2, 28]).embedded("VolumeSource"),
        Field::new("ephemeral", Type::Optional(&Type::Record(|| &super::core_v1::EPHEMERAL_VOLUME_SOURCE))).numbered(&[2, 29]).embedded("VolumeSource"),
        Field::new("image", Type::Optional(&Type::Record(|| &super::core_v1::IMAGE_VOLUME_SOURCE))).numbered(&[2, 30]).embedded("VolumeSource"),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VOLUME_DEVICE: Record = Record::new(
    "VolumeDevice",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("devicePath", Type::Text).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VOLUME_MOUNT: Record = Record::new(
    "VolumeMount",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[2]),
        Field::new("recursiveReadOnly", Type::Optional(&Type::Named("v1.RecursiveReadOnlyMode", &Type::Text))).numbered(&[7]),
        Field::new("mountPath", Type::Text).numbered(&[3]).required().needed(),
        Field::new("subPath", Type::Text).numbered(&[4]),
        Field::new("mountPropagation", Type::Optional(&Type::Named("v1.MountPropagationMode", &Type::Text))).numbered(&[5]).one_of(&["Bidirectional","HostToContainer","None"]),
        Field::new("subPathExpr", Type::Text).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VOLUME_MOUNT_STATUS: Record = Record::new(
    "VolumeMountStatus",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
        Field::new("mountPath", Type::Text).numbered(&[2]).required().needed(),
        Field::new("readOnly", Type::Flag).numbered(&[3]),
        Field::new("recursiveReadOnly", Type::Optional(&Type::Named("v1.RecursiveReadOnlyMode", &Type::Text))).numbered(&[4]),
        Field::new("volumeStatus", Type::Optional(&Type::Record(|| &super::core_v1::VOLUME_STATUS))).numbered(&[5]).since(KubernetesVersion::V1_36),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VOLUME_NODE_AFFINITY: Record = Record::new(
    "VolumeNodeAffinity",
    &[
        Field::new("required", Type::Optional(&Type::Record(|| &super::core_v1::NODE_SELECTOR))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VOLUME_PROJECTION: Record = Record::new(
    "VolumeProjection",
    &[
        Field::new("secret", Type::Optional(&Type::Record(|| &super::core_v1::SECRET_PROJECTION))).numbered(&[1]),
        Field::new("downwardAPI", Type::Optional(&Type::Record(|| &super::core_v1::DOWNWARD_API_PROJECTION))).numbered(&[2]),
        Field::new("configMap", Type::Optional(&Type::Record(|| &super::core_v1::CONFIG_MAP_PROJECTION))).numbered(&[3]),
        Field::new("serviceAccountToken", Type::Optional(&Type::Record(|| &super::core_v1::SERVICE_ACCOUNT_TOKEN_PROJECTION))).numbered(&[4]),
        Field::new("clusterTrustBundle", Type::Optional(&Type::Record(|| &super::core_v1::CLUSTER_TRUST_BUNDLE_PROJECTION))).numbered(&[5]),
        Field::new("podCertificate", Type::Optional(&Type::Record(|| &super::core_v1::POD_CERTIFICATE_PROJECTION))).numbered(&[6]).since(KubernetesVersion::V1_34),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VOLUME_RESOURCE_REQUIREMENTS: Record = Record::new(
    "VolumeResourceRequirements",
    &[
        Field::new("limits", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[1]),
        Field::new("requests", Type::Named("v1.ResourceList", &Type::Map(&Type::Quantity))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VOLUME_STATUS: Record = Record::new(
    "VolumeStatus",
    &[
        Field::new("image", Type::Optional(&Type::Record(|| &super::core_v1::IMAGE_VOLUME_STATUS))).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE: Record = Record::new(
    "VsphereVirtualDiskVolumeSource",
    &[
        Field::new("volumePath", Type::Text).numbered(&[1]).required().needed(),
        Field::new("fsType", Type::Text).numbered(&[2]),
        Field::new("storagePolicyName", Type::Text).numbered(&[3]),
        Field::new("storagePolicyID", Type::Text).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static WEIGHTED_POD_AFFINITY_TERM: Record = Record::new(
    "WeightedPodAffinityTerm",
    &[
        Field::new("weight", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("podAffinityTerm", Type::Record(|| &super::core_v1::POD_AFFINITY_TERM)).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.core.v1");

pub(crate) static WINDOWS_SECURITY_CONTEXT_OPTIONS: Record = Record::new(
    "WindowsSecurityContextOptions",
    &[
        Field::new("gmsaCredentialSpecName", Type::Optional(&Type::Text)).numbered(&[1]),
        Field::new("gmsaCredentialSpec", Type::Optional(&Type::Text)).numbered(&[2]),
        Field::new("runAsUserName", Type::Optional(&Type::Text)).numbered(&[3]),
        Field::new("hostProcess", Type::Optional(&Type::Flag)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.core.v1");
