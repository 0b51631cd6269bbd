//! The messages of the kinds that clients send: the numbers of their fields, as the types of
//! Kubernetes declare them.

use self::Type::{
    Bytes, Flag, Inline, Json, Map, MicroTime, Number, Object, Objects, OptionalNumber, Text,
    Texts, Time,
};

/// A message: number, name and type of each field. Others are ignored.
pub(super) type Message = &'static [Field];

type Field = (u64, &'static str, Type);

/// The type of a field.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Text,
    Texts,
    /// Bytes, which are base64 in JSON.
    Bytes,
    Flag,
    /// A number that is absent if it is 0.
    Number,
    /// A number that may be 0.
    OptionalNumber,
    Time,
    MicroTime,
    /// A message whose first field is JSON.
    Json,
    Object(Message),
    Objects(Message),
    /// A message whose fields are members of the object around it.
    Inline(Message),
    /// A map from text to a type.
    Map(&'static Type),
}

const TEXT_MAP: Type = Map(&Text);

const METADATA: Field = (1, "metadata", Object(OBJECT_META));

const OWNERS: Type = Objects(&[
    (1, "kind", Text),
    (3, "name", Text),
    (4, "uid", Text),
    (5, "apiVersion", Text),
    (6, "controller", Flag),
    (7, "blockOwnerDeletion", Flag),
]);

const MANAGERS: Type = Objects(&[
    (1, "manager", Text),
    (2, "operation", Text),
    (3, "apiVersion", Text),
    (4, "time", Time),
    (6, "fieldsType", Text),
    (7, "fieldsV1", Json),
    (8, "subresource", Text),
]);

const OBJECT_META: Message = &[
    (1, "name", Text),
    (2, "generateName", Text),
    (3, "namespace", Text),
    (5, "uid", Text),
    (6, "resourceVersion", Text),
    (7, "generation", Number),
    (8, "creationTimestamp", Time),
    (9, "deletionTimestamp", Time),
    (10, "deletionGracePeriodSeconds", OptionalNumber),
    (11, "labels", TEXT_MAP),
    (12, "annotations", TEXT_MAP),
    (13, "ownerReferences", OWNERS),
    (14, "finalizers", Texts),
    (17, "managedFields", MANAGERS),
];

const CONDITIONS: Type = Objects(&[
    (1, "type", Text),
    (2, "status", Text),
    (4, "lastTransitionTime", Time),
    (5, "reason", Text),
    (6, "message", Text),
]);

const NAMESPACE: Message = &[
    METADATA,
    (2, "spec", Object(&[(1, "finalizers", Texts)])),
    (3, "status", Object(&[(1, "phase", Text), (2, "conditions", CONDITIONS)])),
];

const CONFIG_MAP: Message =
    &[METADATA, (2, "data", TEXT_MAP), (3, "binaryData", Map(&Bytes)), (4, "immutable", Flag)];

const SECRET: Message = &[
    METADATA,
    (2, "data", Map(&Bytes)),
    (3, "type", Text),
    (4, "stringData", TEXT_MAP),
    (5, "immutable", Flag),
];

const REFERENCE: Message = &[
    (1, "kind", Text),
    (2, "namespace", Text),
    (3, "name", Text),
    (4, "uid", Text),
    (5, "apiVersion", Text),
    (6, "resourceVersion", Text),
    (7, "fieldPath", Text),
];

const SERVICE_ACCOUNT: Message = &[
    METADATA,
    (2, "secrets", Objects(REFERENCE)),
    (3, "imagePullSecrets", Objects(&[(1, "name", Text)])),
    (4, "automountServiceAccountToken", Flag),
];

const SOURCE: Type = Object(&[(1, "component", Text), (2, "host", Text)]);
const SERIES: Type = Object(&[(1, "count", Number), (2, "lastObservedTime", MicroTime)]);

const CORE_EVENT: Message = &[
    METADATA,
    (2, "involvedObject", Object(REFERENCE)),
    (3, "reason", Text),
    (4, "message", Text),
    (5, "source", SOURCE),
    (6, "firstTimestamp", Time),
    (7, "lastTimestamp", Time),
    (8, "count", Number),
    (9, "type", Text),
    (10, "eventTime", MicroTime),
    (11, "series", SERIES),
    (12, "action", Text),
    (13, "related", Object(REFERENCE)),
    (14, "reportingComponent", Text),
    (15, "reportingInstance", Text),
];

const EVENT: Message = &[
    METADATA,
    (2, "eventTime", MicroTime),
    (3, "series", SERIES),
    (4, "reportingController", Text),
    (5, "reportingInstance", Text),
    (6, "action", Text),
    (7, "reason", Text),
    (8, "regarding", Object(REFERENCE)),
    (9, "related", Object(REFERENCE)),
    (10, "note", Text),
    (11, "type", Text),
    (12, "deprecatedSource", SOURCE),
    (13, "deprecatedFirstTimestamp", Time),
    (14, "deprecatedLastTimestamp", Time),
    (15, "deprecatedCount", Number),
];

const LEASE_SPEC: Type = Object(&[
    (1, "holderIdentity", Text),
    (2, "leaseDurationSeconds", OptionalNumber),
    (3, "acquireTime", MicroTime),
    (4, "renewTime", MicroTime),
    (5, "leaseTransitions", OptionalNumber),
    (6, "strategy", Text),
    (7, "preferredHolder", Text),
]);

const LEASE: Message = &[METADATA, (2, "spec", LEASE_SPEC)];

const REQUIREMENTS: Type =
    Objects(&[(1, "key", Text), (2, "operator", Text), (3, "values", Texts)]);

const SELECTOR: Type =
    Object(&[(1, "matchLabels", TEXT_MAP), (2, "matchExpressions", REQUIREMENTS)]);

const SERVICE: Type = Object(&[
    (1, "namespace", Text),
    (2, "name", Text),
    (3, "path", Text),
    (4, "port", OptionalNumber),
]);

const CLIENT_CONFIG: Type =
    Object(&[(1, "service", SERVICE), (2, "caBundle", Bytes), (3, "url", Text)]);

const RULE_SPEC: Type = Inline(&[
    (1, "apiGroups", Texts),
    (2, "apiVersions", Texts),
    (3, "resources", Texts),
    (4, "scope", Text),
]);

const RULE: Message = &[(1, "operations", Texts), (2, "rule", RULE_SPEC)];

const NAMED_EXPRESSIONS: Type = Objects(&[(1, "name", Text), (2, "expression", Text)]);

const MUTATING_WEBHOOK: Type = Objects(&[
    (1, "name", Text),
    (2, "clientConfig", CLIENT_CONFIG),
    (3, "rules", Objects(RULE)),
    (4, "failurePolicy", Text),
    (5, "namespaceSelector", SELECTOR),
    (6, "sideEffects", Text),
    (7, "timeoutSeconds", OptionalNumber),
    (8, "admissionReviewVersions", Texts),
    (9, "matchPolicy", Text),
    (10, "reinvocationPolicy", Text),
    (11, "objectSelector", SELECTOR),
    (12, "matchConditions", NAMED_EXPRESSIONS),
]);

const MUTATING_WEBHOOKS: Message = &[METADATA, (2, "webhooks", MUTATING_WEBHOOK)];

const VALIDATING_WEBHOOK: Type = Objects(&[
    (1, "name", Text),
    (2, "clientConfig", CLIENT_CONFIG),
    (3, "rules", Objects(RULE)),
    (4, "failurePolicy", Text),
    (5, "namespaceSelector", SELECTOR),
    (6, "sideEffects", Text),
    (7, "timeoutSeconds", OptionalNumber),
    (8, "admissionReviewVersions", Texts),
    (9, "matchPolicy", Text),
    (10, "objectSelector", SELECTOR),
    (11, "matchConditions", NAMED_EXPRESSIONS),
]);

const VALIDATING_WEBHOOKS: Message = &[METADATA, (2, "webhooks", VALIDATING_WEBHOOK)];

const NAMED_RULES: Type = Objects(&[(1, "resourceNames", Texts), (2, "rules", Inline(RULE))]);

const MATCH_RESOURCES: Type = Object(&[
    (1, "namespaceSelector", SELECTOR),
    (2, "objectSelector", SELECTOR),
    (3, "resourceRules", NAMED_RULES),
    (4, "excludeResourceRules", NAMED_RULES),
    (7, "matchPolicy", Text),
]);

const PARAM_KIND: Type = Object(&[(1, "apiVersion", Text), (2, "kind", Text)]);

const VALIDATIONS: Type = Objects(&[
    (1, "expression", Text),
    (2, "message", Text),
    (3, "reason", Text),
    (4, "messageExpression", Text),
]);

const VALIDATING_POLICY_SPEC: Type = Object(&[
    (1, "paramKind", PARAM_KIND),
    (2, "matchConstraints", MATCH_RESOURCES),
    (3, "validations", VALIDATIONS),
    (4, "failurePolicy", Text),
    (5, "auditAnnotations", Objects(&[(1, "key", Text), (2, "valueExpression", Text)])),
    (6, "matchConditions", NAMED_EXPRESSIONS),
    (7, "variables", NAMED_EXPRESSIONS),
]);

const VALIDATING_POLICY: Message = &[METADATA, (2, "spec", VALIDATING_POLICY_SPEC)];

const EXPRESSION: Type = Object(&[(1, "expression", Text)]);

const MUTATIONS: Type = Objects(&[
    (2, "patchType", Text),
    (3, "applyConfiguration", EXPRESSION),
    (4, "jsonPatch", EXPRESSION),
]);

const MUTATING_POLICY_SPEC: Type = Object(&[
    (1, "paramKind", PARAM_KIND),
    (2, "matchConstraints", MATCH_RESOURCES),
    (3, "variables", NAMED_EXPRESSIONS),
    (4, "mutations", MUTATIONS),
    (5, "failurePolicy", Text),
    (6, "matchConditions", NAMED_EXPRESSIONS),
    (7, "reinvocationPolicy", Text),
]);

const MUTATING_POLICY: Message = &[METADATA, (2, "spec", MUTATING_POLICY_SPEC)];

const PARAM_REF: Type = Object(&[
    (1, "name", Text),
    (2, "namespace", Text),
    (3, "selector", SELECTOR),
    (4, "parameterNotFoundAction", Text),
]);

/// The bindings of mutating policies have no actions.
const BINDING_SPEC: Type = Object(&[
    (1, "policyName", Text),
    (2, "paramRef", PARAM_REF),
    (3, "matchResources", MATCH_RESOURCES),
    (4, "validationActions", Texts),
]);

const POLICY_BINDING: Message = &[METADATA, (2, "spec", BINDING_SPEC)];

const DELETE_OPTIONS: Message = &[
    (1, "gracePeriodSeconds", OptionalNumber),
    (2, "preconditions", Object(&[(1, "uid", Text), (2, "resourceVersion", Text)])),
    (3, "orphanDependents", Flag),
    (4, "propagationPolicy", Text),
    (5, "dryRun", Texts),
];

const RESOURCE_ATTRIBUTES: Type = Object(&[
    (1, "namespace", Text),
    (2, "verb", Text),
    (3, "group", Text),
    (4, "version", Text),
    (5, "resource", Text),
    (6, "subresource", Text),
    (7, "name", Text),
]);

const ACCESS_SPEC: Type = Object(&[
    (1, "resourceAttributes", RESOURCE_ATTRIBUTES),
    (2, "nonResourceAttributes", Object(&[(1, "path", Text), (2, "verb", Text)])),
    (3, "user", Text),
    (4, "groups", Texts),
    (6, "uid", Text),
]);

const ACCESS_REVIEW: Message = &[METADATA, (2, "spec", ACCESS_SPEC)];

const RULES_REVIEW: Message = &[METADATA, (2, "spec", Object(&[(1, "namespace", Text)]))];

const SELF_REVIEW: Message = &[METADATA];

/// Returns the message of a kind, if clients send it.
pub(super) fn message(api_version: &str, kind: &str) -> Option<Message> {
    Some(match (api_version, kind) {
        (_, "DeleteOptions") => DELETE_OPTIONS,
        ("v1", "Namespace") => NAMESPACE,
        ("v1", "ConfigMap") => CONFIG_MAP,
        ("v1", "Secret") => SECRET,
        ("v1", "ServiceAccount") => SERVICE_ACCOUNT,
        ("v1", "Event") => CORE_EVENT,
        ("events.k8s.io/v1", "Event") => EVENT,
        ("coordination.k8s.io/v1", "Lease") => LEASE,
        ("admissionregistration.k8s.io/v1", kind) => return of_admission(kind),
        ("authentication.k8s.io/v1", "SelfSubjectReview") => SELF_REVIEW,
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => RULES_REVIEW,
        ("authorization.k8s.io/v1", _) => ACCESS_REVIEW,
        _ => return None,
    })
}

fn of_admission(kind: &str) -> Option<Message> {
    Some(match kind {
        "MutatingWebhookConfiguration" => MUTATING_WEBHOOKS,
        "ValidatingWebhookConfiguration" => VALIDATING_WEBHOOKS,
        "ValidatingAdmissionPolicy" => VALIDATING_POLICY,
        "MutatingAdmissionPolicy" => MUTATING_POLICY,
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => POLICY_BINDING,
        _ => return None,
    })
}
