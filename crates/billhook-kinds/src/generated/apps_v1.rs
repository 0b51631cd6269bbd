//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static CONTROLLER_REVISION: Record = Record::new(
    "ControllerRevision",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("data", Type::Any).numbered(&[2]).required(),
        Field::new("revision", Type::Int64).numbered(&[3]).required().needed(),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DAEMON_SET: Record = Record::new(
    "DaemonSet",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::apps_v1::DAEMON_SET_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::apps_v1::DAEMON_SET_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DAEMON_SET_CONDITION: Record = Record::new(
    "DaemonSetCondition",
    &[
        Field::new("type", Type::Named("v1.DaemonSetConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[3]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DAEMON_SET_SPEC: Record = Record::new(
    "DaemonSetSpec",
    &[
        Field::new("selector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[1]).required().needed(),
        Field::new("template", Type::Record(|| &super::core_v1::POD_TEMPLATE_SPEC)).numbered(&[2]).required().needed(),
        Field::new("updateStrategy", Type::Record(|| &super::apps_v1::DAEMON_SET_UPDATE_STRATEGY)).numbered(&[3]).required(),
        Field::new("minReadySeconds", Type::Int32).numbered(&[4]),
        Field::new("revisionHistoryLimit", Type::Optional(&Type::Int32)).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DAEMON_SET_STATUS: Record = Record::new(
    "DaemonSetStatus",
    &[
        Field::new("currentNumberScheduled", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("numberMisscheduled", Type::Int32).numbered(&[2]).required().needed(),
        Field::new("desiredNumberScheduled", Type::Int32).numbered(&[3]).required().needed(),
        Field::new("numberReady", Type::Int32).numbered(&[4]).required().needed(),
        Field::new("observedGeneration", Type::Int64).numbered(&[5]),
        Field::new("updatedNumberScheduled", Type::Int32).numbered(&[6]),
        Field::new("numberAvailable", Type::Int32).numbered(&[7]),
        Field::new("numberUnavailable", Type::Int32).numbered(&[8]),
        Field::new("collisionCount", Type::Optional(&Type::Int32)).numbered(&[9]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::apps_v1::DAEMON_SET_CONDITION))).numbered(&[10]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DAEMON_SET_UPDATE_STRATEGY: Record = Record::new(
    "DaemonSetUpdateStrategy",
    &[
        Field::new("type", Type::Named("v1.DaemonSetUpdateStrategyType", &Type::Text)).numbered(&[1]).one_of(&["OnDelete","RollingUpdate"]),
        Field::new("rollingUpdate", Type::Optional(&Type::Record(|| &super::apps_v1::ROLLING_UPDATE_DAEMON_SET))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DEPLOYMENT: Record = Record::new(
    "Deployment",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::apps_v1::DEPLOYMENT_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::apps_v1::DEPLOYMENT_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DEPLOYMENT_CONDITION: Record = Record::new(
    "DeploymentCondition",
    &[
        Field::new("type", Type::Named("v1.DeploymentConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastUpdateTime", Type::Time).numbered(&[6]).required(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[7]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DEPLOYMENT_SPEC: Record = Record::new(
    "DeploymentSpec",
    &[
        Field::new("replicas", Type::Optional(&Type::Int32)).numbered(&[1]),
        Field::new("selector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[2]).required().needed(),
        Field::new("template", Type::Record(|| &super::core_v1::POD_TEMPLATE_SPEC)).numbered(&[3]).required().needed(),
        Field::new("strategy", Type::Record(|| &super::apps_v1::DEPLOYMENT_STRATEGY)).numbered(&[4]).required().retaining_keys(),
        Field::new("minReadySeconds", Type::Int32).numbered(&[5]),
        Field::new("revisionHistoryLimit", Type::Optional(&Type::Int32)).numbered(&[6]),
        Field::new("paused", Type::Flag).numbered(&[7]),
        Field::new("progressDeadlineSeconds", Type::Optional(&Type::Int32)).numbered(&[9]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DEPLOYMENT_STATUS: Record = Record::new(
    "DeploymentStatus",
    &[
        Field::new("observedGeneration", Type::Int64).numbered(&[1]),
        Field::new("replicas", Type::Int32).numbered(&[2]),
        Field::new("updatedReplicas", Type::Int32).numbered(&[3]),
        Field::new("readyReplicas", Type::Int32).numbered(&[7]),
        Field::new("availableReplicas", Type::Int32).numbered(&[4]),
        Field::new("unavailableReplicas", Type::Int32).numbered(&[5]),
        Field::new("terminatingReplicas", Type::Optional(&Type::Int32)).numbered(&[9]).since(KubernetesVersion::V1_33),
        Field::new("conditions", Type::List(&Type::Record(|| &super::apps_v1::DEPLOYMENT_CONDITION))).numbered(&[6]).list(ListType::Map(&["type"])).patched_by("type"),
        Field::new("collisionCount", Type::Optional(&Type::Int32)).numbered(&[8]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static DEPLOYMENT_STRATEGY: Record = Record::new(
    "DeploymentStrategy",
    &[
        Field::new("type", Type::Named("v1.DeploymentStrategyType", &Type::Text)).numbered(&[1]).one_of(&["Recreate","RollingUpdate"]),
        Field::new("rollingUpdate", Type::Optional(&Type::Record(|| &super::apps_v1::ROLLING_UPDATE_DEPLOYMENT))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static REPLICA_SET: Record = Record::new(
    "ReplicaSet",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::apps_v1::REPLICA_SET_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::apps_v1::REPLICA_SET_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static REPLICA_SET_CONDITION: Record = Record::new(
    "ReplicaSetCondition",
    &[
        Field::new("type", Type::Named("v1.ReplicaSetConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[3]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static REPLICA_SET_SPEC: Record = Record::new(
    "ReplicaSetSpec",
    &[
        Field::new("replicas", Type::Optional(&Type::Int32)).numbered(&[1]),
        Field::new("minReadySeconds", Type::Int32).numbered(&[4]),
        Field::new("selector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[2]).required().needed(),
        Field::new("template", Type::Record(|| &super::core_v1::POD_TEMPLATE_SPEC)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static REPLICA_SET_STATUS: Record = Record::new(
    "ReplicaSetStatus",
    &[
        Field::new("replicas", Type::Int32).numbered(&[1]).required().needed(),
        Field::new("fullyLabeledReplicas", Type::Int32).numbered(&[2]),
        Field::new("readyReplicas", Type::Int32).numbered(&[4]),
        Field::new("availableReplicas", Type::Int32).numbered(&[5]),
        Field::new("terminatingReplicas", Type::Optional(&Type::Int32)).numbered(&[7]).since(KubernetesVersion::V1_33),
        Field::new("observedGeneration", Type::Int64).numbered(&[3]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::apps_v1::REPLICA_SET_CONDITION))).numbered(&[6]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static ROLLING_UPDATE_DAEMON_SET: Record = Record::new(
    "RollingUpdateDaemonSet",
    &[
        Field::new("maxUnavailable", Type::Optional(&Type::IntOrString)).numbered(&[1]),
        Field::new("maxSurge", Type::Optional(&Type::IntOrString)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static ROLLING_UPDATE_DEPLOYMENT: Record = Record::new(
    "RollingUpdateDeployment",
    &[
        Field::new("maxUnavailable", Type::Optional(&Type::IntOrString)).numbered(&[1]),
        Field::new("maxSurge", Type::Optional(&Type::IntOrString)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static ROLLING_UPDATE_STATEFUL_SET_STRATEGY: Record = Record::new(
    "RollingUpdateStatefulSetStrategy",
    &[
        Field::new("partition", Type::Optional(&Type::Int32)).numbered(&[1]),
        Field::new("maxUnavailable", Type::Optional(&Type::IntOrString)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static STATEFUL_SET: Record = Record::new(
    "StatefulSet",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::apps_v1::STATEFUL_SET_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::apps_v1::STATEFUL_SET_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static STATEFUL_SET_CONDITION: Record = Record::new(
    "StatefulSetCondition",
    &[
        Field::new("type", Type::Named("v1.StatefulSetConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[3]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static STATEFUL_SET_ORDINALS: Record = Record::new(
    "StatefulSetOrdinals",
    &[
        Field::new("start", Type::Int32).numbered(&[1]).required(),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY: Record = Record::new(
    "StatefulSetPersistentVolumeClaimRetentionPolicy",
    &[
        Field::new("whenDeleted", Type::Named("v1.PersistentVolumeClaimRetentionPolicyType", &Type::Text)).numbered(&[1]),
        Field::new("whenScaled", Type::Named("v1.PersistentVolumeClaimRetentionPolicyType", &Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static STATEFUL_SET_SPEC: Record = Record::new(
    "StatefulSetSpec",
    &[
        Field::new("replicas", Type::Optional(&Type::Int32)).numbered(&[1]),
        Field::new("selector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[2]).required().needed(),
        Field::new("template", Type::Record(|| &super::core_v1::POD_TEMPLATE_SPEC)).numbered(&[3]).required().needed(),
        Field::new("volumeClaimTemplates", Type::List(&Type::Record(|| &super::core_v1::PERSISTENT_VOLUME_CLAIM))).numbered(&[4]),
        Field::new("serviceName", Type::Text).numbered(&[5]).required(),
        Field::new("podManagementPolicy", Type::Named("v1.PodManagementPolicyType", &Type::Text)).numbered(&[6]).one_of(&["OrderedReady","Parallel"]),
        Field::new("updateStrategy", Type::Record(|| &super::apps_v1::STATEFUL_SET_UPDATE_STRATEGY)).numbered(&[7]).required(),
        Field::new("revisionHistoryLimit", Type::Optional(&Type::Int32)).numbered(&[8]),
        Field::new("minReadySeconds", Type::Int32).numbered(&[9]),
        Field::new("persistentVolumeClaimRetentionPolicy", Type::Optional(&Type::Record(|| &super::apps_v1::STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY))).numbered(&[10]),
        Field::new("ordinals", Type::Optional(&Type::Record(|| &super::apps_v1::STATEFUL_SET_ORDINALS))).numbered(&[11]),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static STATEFUL_SET_STATUS: Record = Record::new(
    "StatefulSetStatus",
    &[
        Field::new("observedGeneration", Type::Int64).numbered(&[1]),
        Field::new("replicas", Type::Int32).numbered(&[2]).required().needed(),
        Field::new("readyReplicas", Type::Int32).numbered(&[3]),
        Field::new("currentReplicas", Type::Int32).numbered(&[4]),
        Field::new("updatedReplicas", Type::Int32).numbered(&[5]),
        Field::new("currentRevision", Type::Text).numbered(&[6]),
        Field::new("updateRevision", Type::Text).numbered(&[7]),
        Field::new("collisionCount", Type::Optional(&Type::Int32)).numbered(&[9]),
        Field::new("conditions", Type::List(&Type::Record(|| &super::apps_v1::STATEFUL_SET_CONDITION))).numbered(&[10]).list(ListType::Map(&["type"])).patched_by("type"),
        Field::new("availableReplicas", Type::Int32).numbered(&[11]).required(),
    ],
)
.at_home("io.k8s.api.apps.v1");

pub(crate) static STATEFUL_SET_UPDATE_STRATEGY: Record = Record::new(
    "StatefulSetUpdateStrategy",
    &[
        Field::new("type", Type::Named("v1.StatefulSetUpdateStrategyType", &Type::Text)).numbered(&[1]).one_of(&["OnDelete","RollingUpdate"]),
        Field::new("rollingUpdate", Type::Optional(&Type::Record(|| &super::apps_v1::ROLLING_UPDATE_STATEFUL_SET_STRATEGY))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.apps.v1");
