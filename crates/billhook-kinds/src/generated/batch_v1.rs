//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static CRON_JOB: Record = Record::new(
    "CronJob",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::batch_v1::CRON_JOB_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::batch_v1::CRON_JOB_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static CRON_JOB_SPEC: Record = Record::new(
    "CronJobSpec",
    &[
        Field::new("schedule", Type::Text).numbered(&[1]).required().needed(),
        Field::new("timeZone", Type::Optional(&Type::Text)).numbered(&[8]),
        Field::new("startingDeadlineSeconds", Type::Optional(&Type::Int64)).numbered(&[2]),
        Field::new("concurrencyPolicy", Type::Named("v1.ConcurrencyPolicy", &Type::Text)).numbered(&[3]).one_of(&["Allow","Forbid","Replace"]),
        Field::new("suspend", Type::Optional(&Type::Flag)).numbered(&[4]),
        Field::new("jobTemplate", Type::Record(|| &super::batch_v1::JOB_TEMPLATE_SPEC)).numbered(&[5]).required().needed(),
        Field::new("successfulJobsHistoryLimit", Type::Optional(&Type::Int32)).numbered(&[6]),
        Field::new("failedJobsHistoryLimit", Type::Optional(&Type::Int32)).numbered(&[7]),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static CRON_JOB_STATUS: Record = Record::new(
    "CronJobStatus",
    &[
        Field::new("active", Type::List(&Type::Record(|| &super::core_v1::OBJECT_REFERENCE))).numbered(&[1]),
        Field::new("lastScheduleTime", Type::Optional(&Type::Time)).numbered(&[4]),
        Field::new("lastSuccessfulTime", Type::Optional(&Type::Time)).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static JOB: Record = Record::new(
    "Job",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::batch_v1::JOB_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::batch_v1::JOB_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static JOB_CONDITION: Record = Record::new(
    "JobCondition",
    &[
        Field::new("type", Type::Named("v1.JobConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required().needed(),
        Field::new("lastProbeTime", Type::Time).numbered(&[3]).required(),
        Field::new("lastTransitionTime", Type::Time).numbered(&[4]).required(),
        Field::new("reason", Type::Text).numbered(&[5]),
        Field::new("message", Type::Text).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static JOB_SPEC: Record = Record::new(
    "JobSpec",
    &[
        Field::new("parallelism", Type::Optional(&Type::Int32)).numbered(&[1]),
        Field::new("completions", Type::Optional(&Type::Int32)).numbered(&[2]),
        Field::new("activeDeadlineSeconds", Type::Optional(&Type::Int64)).numbered(&[3]),
        Field::new("podFailurePolicy", Type::Optional(&Type::Record(|| &super::batch_v1::POD_FAILURE_POLICY))).numbered(&[11]),
        Field::new("successPolicy", Type::Optional(&Type::Record(|| &super::batch_v1::SUCCESS_POLICY))).numbered(&[16]),
        Field::new("backoffLimit", Type::Optional(&Type::Int32)).numbered(&[7]),
        Field::new("backoffLimitPerIndex", Type::Optional(&Type::Int32)).numbered(&[12]),
        Field::new("maxFailedIndexes", Type::Optional(&Type::Int32)).numbered(&[13]),
        Field::new("selector", Type::Optional(&Type::Record(LabelSelector::record))).numbered(&[4]),
        Field::new("manualSelector", Type::Optional(&Type::Flag)).numbered(&[5]),
        Field::new("template", Type::Record(|| &super::core_v1::POD_TEMPLATE_SPEC)).numbered(&[6]).required().needed(),
        Field::new("ttlSecondsAfterFinished", Type::Optional(&Type::Int32)).numbered(&[8]),
        Field::new("completionMode", Type::Optional(&Type::Named("v1.CompletionMode", &Type::Text))).numbered(&[9]).one_of(&["Indexed","NonIndexed"]),
        Field::new("suspend", Type::Optional(&Type::Flag)).numbered(&[10]),
        Field::new("podReplacementPolicy", Type::Optional(&Type::Named("v1.PodReplacementPolicy", &Type::Text))).numbered(&[14]).one_of(&["Failed","TerminatingOrFailed"]),
        Field::new("managedBy", Type::Optional(&Type::Text)).numbered(&[15]),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static JOB_STATUS: Record = Record::new(
    "JobStatus",
    &[
        Field::new("conditions", Type::List(&Type::Record(|| &super::batch_v1::JOB_CONDITION))).numbered(&[1]).patched_by("type"),
        Field::new("startTime", Type::Optional(&Type::Time)).numbered(&[2]),
        Field::new("completionTime", Type::Optional(&Type::Time)).numbered(&[3]),
        Field::new("active", Type::Int32).numbered(&[4]),
        Field::new("succeeded", Type::Int32).numbered(&[5]),
        Field::new("failed", Type::Int32).numbered(&[6]),
        Field::new("terminating", Type::Optional(&Type::Int32)).numbered(&[11]),
        Field::new("completedIndexes", Type::Text).numbered(&[7]),
        Field::new("failedIndexes", Type::Optional(&Type::Text)).numbered(&[10]),
        Field::new("uncountedTerminatedPods", Type::Optional(&Type::Record(|| &super::batch_v1::UNCOUNTED_TERMINATED_PODS))).numbered(&[8]),
        Field::new("ready", Type::Optional(&Type::Int32)).numbered(&[9]),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static JOB_TEMPLATE_SPEC: Record = Record::new(
    "JobTemplateSpec",
    &[
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::batch_v1::JOB_SPEC)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static POD_FAILURE_POLICY: Record = Record::new(
    "PodFailurePolicy",
    &[
        Field::new("rules", Type::List(&Type::Record(|| &super::batch_v1::POD_FAILURE_POLICY_RULE))).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT: Record = Record::new(
    "PodFailurePolicyOnExitCodesRequirement",
    &[
        Field::new("containerName", Type::Optional(&Type::Text)).numbered(&[1]),
        Field::new("operator", Type::Named("v1.PodFailurePolicyOnExitCodesOperator", &Type::Text)).numbered(&[2]).required().needed().one_of(&["In","NotIn"]),
        Field::new("values", Type::List(&Type::Int32)).numbered(&[3]).required().needed().list(ListType::Set),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN: Record = Record::new(
    "PodFailurePolicyOnPodConditionsPattern",
    &[
        Field::new("type", Type::Named("v1.PodConditionType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]).required(),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static POD_FAILURE_POLICY_RULE: Record = Record::new(
    "PodFailurePolicyRule",
    &[
        Field::new("action", Type::Named("v1.PodFailurePolicyAction", &Type::Text)).numbered(&[1]).required().needed().one_of(&["Count","FailIndex","FailJob","Ignore"]),
        Field::new("onExitCodes", Type::Optional(&Type::Record(|| &super::batch_v1::POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT))).numbered(&[2]),
        Field::new("onPodConditions", Type::List(&Type::Record(|| &super::batch_v1::POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static SUCCESS_POLICY: Record = Record::new(
    "SuccessPolicy",
    &[
        Field::new("rules", Type::List(&Type::Record(|| &super::batch_v1::SUCCESS_POLICY_RULE))).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static SUCCESS_POLICY_RULE: Record = Record::new(
    "SuccessPolicyRule",
    &[
        Field::new("succeededIndexes", Type::Optional(&Type::Text)).numbered(&[1]),
        Field::new("succeededCount", Type::Optional(&Type::Int32)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.batch.v1");

pub(crate) static UNCOUNTED_TERMINATED_PODS: Record = Record::new(
    "UncountedTerminatedPods",
    &[
        Field::new("succeeded", Type::List(&Type::Text)).numbered(&[1]).list(ListType::Set),
        Field::new("failed", Type::List(&Type::Text)).numbered(&[2]).list(ListType::Set),
    ],
)
.at_home("io.k8s.api.batch.v1");
