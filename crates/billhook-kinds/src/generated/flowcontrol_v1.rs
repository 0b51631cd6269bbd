//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::ListType;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static EXEMPT_PRIORITY_LEVEL_CONFIGURATION: Record = Record::new(
    "ExemptPriorityLevelConfiguration",
    &[
        Field::new("nominalConcurrencyShares", Type::Optional(&Type::Int32)).numbered(&[1]),
        Field::new("lendablePercent", Type::Optional(&Type::Int32)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static FLOW_DISTINGUISHER_METHOD: Record = Record::new(
    "FlowDistinguisherMethod",
    &[
        Field::new("type", Type::Named("v1.FlowDistinguisherMethodType", &Type::Text)).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static FLOW_SCHEMA: Record = Record::new(
    "FlowSchema",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::flowcontrol_v1::FLOW_SCHEMA_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::flowcontrol_v1::FLOW_SCHEMA_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static FLOW_SCHEMA_CONDITION: Record = Record::new(
    "FlowSchemaCondition",
    &[
        Field::new("type", Type::Named("v1.FlowSchemaConditionType", &Type::Text)).numbered(&[1]),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]),
        Field::new("lastTransitionTime", Type::Time).numbered(&[3]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static FLOW_SCHEMA_SPEC: Record = Record::new(
    "FlowSchemaSpec",
    &[
        Field::new("priorityLevelConfiguration", Type::Record(|| &super::flowcontrol_v1::PRIORITY_LEVEL_CONFIGURATION_REFERENCE)).numbered(&[1]).required().needed(),
        Field::new("matchingPrecedence", Type::Int32).numbered(&[2]).required(),
        Field::new("distinguisherMethod", Type::Optional(&Type::Record(|| &super::flowcontrol_v1::FLOW_DISTINGUISHER_METHOD))).numbered(&[3]),
        Field::new("rules", Type::List(&Type::Record(|| &super::flowcontrol_v1::POLICY_RULES_WITH_SUBJECTS))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static FLOW_SCHEMA_STATUS: Record = Record::new(
    "FlowSchemaStatus",
    &[
        Field::new("conditions", Type::List(&Type::Record(|| &super::flowcontrol_v1::FLOW_SCHEMA_CONDITION))).numbered(&[1]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static GROUP_SUBJECT: Record = Record::new(
    "GroupSubject",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static LIMIT_RESPONSE: Record = Record::new(
    "LimitResponse",
    &[
        Field::new("type", Type::Named("v1.LimitResponseType", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("queuing", Type::Optional(&Type::Record(|| &super::flowcontrol_v1::QUEUING_CONFIGURATION))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static LIMITED_PRIORITY_LEVEL_CONFIGURATION: Record = Record::new(
    "LimitedPriorityLevelConfiguration",
    &[
        Field::new("nominalConcurrencyShares", Type::Optional(&Type::Int32)).numbered(&[1]).required(),
        Field::new("limitResponse", Type::Record(|| &super::flowcontrol_v1::LIMIT_RESPONSE)).numbered(&[2]).required(),
        Field::new("lendablePercent", Type::Optional(&Type::Int32)).numbered(&[3]),
        Field::new("borrowingLimitPercent", Type::Optional(&Type::Int32)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static NON_RESOURCE_POLICY_RULE: Record = Record::new(
    "NonResourcePolicyRule",
    &[
        Field::new("verbs", Type::List(&Type::Text)).numbered(&[1]).required().needed().list(ListType::Set),
        Field::new("nonResourceURLs", Type::List(&Type::Text)).numbered(&[6]).required().needed().list(ListType::Set),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static POLICY_RULES_WITH_SUBJECTS: Record = Record::new(
    "PolicyRulesWithSubjects",
    &[
        Field::new("subjects", Type::List(&Type::Record(|| &super::flowcontrol_v1::SUBJECT))).numbered(&[1]).required().needed(),
        Field::new("resourceRules", Type::List(&Type::Record(|| &super::flowcontrol_v1::RESOURCE_POLICY_RULE))).numbered(&[2]),
        Field::new("nonResourceRules", Type::List(&Type::Record(|| &super::flowcontrol_v1::NON_RESOURCE_POLICY_RULE))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static PRIORITY_LEVEL_CONFIGURATION: Record = Record::new(
    "PriorityLevelConfiguration",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::flowcontrol_v1::PRIORITY_LEVEL_CONFIGURATION_SPEC)).numbered(&[2]).required(),
        Field::new("status", Type::Record(|| &super::flowcontrol_v1::PRIORITY_LEVEL_CONFIGURATION_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static PRIORITY_LEVEL_CONFIGURATION_CONDITION: Record = Record::new(
    "PriorityLevelConfigurationCondition",
    &[
        Field::new("type", Type::Named("v1.PriorityLevelConfigurationConditionType", &Type::Text)).numbered(&[1]),
        Field::new("status", Type::Named("v1.ConditionStatus", &Type::Text)).numbered(&[2]),
        Field::new("lastTransitionTime", Type::Time).numbered(&[3]).required(),
        Field::new("reason", Type::Text).numbered(&[4]),
        Field::new("message", Type::Text).numbered(&[5]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static PRIORITY_LEVEL_CONFIGURATION_REFERENCE: Record = Record::new(
    "PriorityLevelConfigurationReference",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static PRIORITY_LEVEL_CONFIGURATION_SPEC: Record = Record::new(
    "PriorityLevelConfigurationSpec",
    &[
        Field::new("type", Type::Named("v1.PriorityLevelEnablement", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("limited", Type::Optional(&Type::Record(|| &super::flowcontrol_v1::LIMITED_PRIORITY_LEVEL_CONFIGURATION))).numbered(&[2]),
        Field::new("exempt", Type::Optional(&Type::Record(|| &super::flowcontrol_v1::EXEMPT_PRIORITY_LEVEL_CONFIGURATION))).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static PRIORITY_LEVEL_CONFIGURATION_STATUS: Record = Record::new(
    "PriorityLevelConfigurationStatus",
    &[
        Field::new("conditions", Type::List(&Type::Record(|| &super::flowcontrol_v1::PRIORITY_LEVEL_CONFIGURATION_CONDITION))).numbered(&[1]).list(ListType::Map(&["type"])).patched_by("type"),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static QUEUING_CONFIGURATION: Record = Record::new(
    "QueuingConfiguration",
    &[
        Field::new("queues", Type::Int32).numbered(&[1]).required(),
        Field::new("handSize", Type::Int32).numbered(&[2]).required(),
        Field::new("queueLengthLimit", Type::Int32).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static RESOURCE_POLICY_RULE: Record = Record::new(
    "ResourcePolicyRule",
    &[
        Field::new("verbs", Type::List(&Type::Text)).numbered(&[1]).required().needed().list(ListType::Set),
        Field::new("apiGroups", Type::List(&Type::Text)).numbered(&[2]).required().needed().list(ListType::Set),
        Field::new("resources", Type::List(&Type::Text)).numbered(&[3]).required().needed().list(ListType::Set),
        Field::new("clusterScope", Type::Flag).numbered(&[4]),
        Field::new("namespaces", Type::List(&Type::Text)).numbered(&[5]).required().list(ListType::Set),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static SERVICE_ACCOUNT_SUBJECT: Record = Record::new(
    "ServiceAccountSubject",
    &[
        Field::new("namespace", Type::Text).numbered(&[1]).required().needed(),
        Field::new("name", Type::Text).numbered(&[2]).required().needed(),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static SUBJECT: Record = Record::new(
    "Subject",
    &[
        Field::new("kind", Type::Named("v1.SubjectKind", &Type::Text)).numbered(&[1]).required().needed(),
        Field::new("user", Type::Optional(&Type::Record(|| &super::flowcontrol_v1::USER_SUBJECT))).numbered(&[2]),
        Field::new("group", Type::Optional(&Type::Record(|| &super::flowcontrol_v1::GROUP_SUBJECT))).numbered(&[3]),
        Field::new("serviceAccount", Type::Optional(&Type::Record(|| &super::flowcontrol_v1::SERVICE_ACCOUNT_SUBJECT))).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");

pub(crate) static USER_SUBJECT: Record = Record::new(
    "UserSubject",
    &[
        Field::new("name", Type::Text).numbered(&[1]).required().needed(),
    ],
)
.at_home("io.k8s.api.flowcontrol.v1");
