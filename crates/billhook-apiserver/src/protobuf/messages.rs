//! The messages of the kinds that clients send: the numbers of their fields, as the types of
//! Kubernetes declare them.

use self::Type::{
    Bytes, Flag, Json, Map, MicroTime, Number, Object, Objects, OptionalNumber, Text, Texts, Time,
};

/// A message: number, name and type of each field. Others are ignored.
pub(super) type Message = &'static [(u64, &'static str, Type)];

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
    /// A map from text to a type.
    Map(&'static Type),
}

const TEXT_MAP: Type = Map(&Text);

const METADATA: Message = &[
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
    (
        13,
        "ownerReferences",
        Objects(&[
            (1, "kind", Text),
            (3, "name", Text),
            (4, "uid", Text),
            (5, "apiVersion", Text),
            (6, "controller", Flag),
            (7, "blockOwnerDeletion", Flag),
        ]),
    ),
    (14, "finalizers", Texts),
    (
        17,
        "managedFields",
        Objects(&[
            (1, "manager", Text),
            (2, "operation", Text),
            (3, "apiVersion", Text),
            (4, "time", Time),
            (6, "fieldsType", Text),
            (7, "fieldsV1", Json),
            (8, "subresource", Text),
        ]),
    ),
];

const CONDITIONS: Type = Objects(&[
    (1, "type", Text),
    (2, "status", Text),
    (4, "lastTransitionTime", Time),
    (5, "reason", Text),
    (6, "message", Text),
]);

const NAMESPACE: Message = &[
    (1, "metadata", Object(METADATA)),
    (2, "spec", Object(&[(1, "finalizers", Texts)])),
    (3, "status", Object(&[(1, "phase", Text), (2, "conditions", CONDITIONS)])),
];

const CONFIG_MAP: Message = &[
    (1, "metadata", Object(METADATA)),
    (2, "data", TEXT_MAP),
    (3, "binaryData", Map(&Bytes)),
    (4, "immutable", Flag),
];

const SECRET: Message = &[
    (1, "metadata", Object(METADATA)),
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
    (1, "metadata", Object(METADATA)),
    (2, "secrets", Objects(REFERENCE)),
    (3, "imagePullSecrets", Objects(&[(1, "name", Text)])),
    (4, "automountServiceAccountToken", Flag),
];

const SOURCE: Type = Object(&[(1, "component", Text), (2, "host", Text)]);
const SERIES: Type = Object(&[(1, "count", Number), (2, "lastObservedTime", MicroTime)]);

const CORE_EVENT: Message = &[
    (1, "metadata", Object(METADATA)),
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
    (1, "metadata", Object(METADATA)),
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

const LEASE: Message = &[
    (1, "metadata", Object(METADATA)),
    (
        2,
        "spec",
        Object(&[
            (1, "holderIdentity", Text),
            (2, "leaseDurationSeconds", OptionalNumber),
            (3, "acquireTime", MicroTime),
            (4, "renewTime", MicroTime),
            (5, "leaseTransitions", OptionalNumber),
            (6, "strategy", Text),
            (7, "preferredHolder", Text),
        ]),
    ),
];

const DELETE_OPTIONS: Message = &[
    (1, "gracePeriodSeconds", OptionalNumber),
    (2, "preconditions", Object(&[(1, "uid", Text), (2, "resourceVersion", Text)])),
    (3, "orphanDependents", Flag),
    (4, "propagationPolicy", Text),
    (5, "dryRun", Texts),
];

const ACCESS_REVIEW: Message = &[
    (1, "metadata", Object(METADATA)),
    (
        2,
        "spec",
        Object(&[
            (
                1,
                "resourceAttributes",
                Object(&[
                    (1, "namespace", Text),
                    (2, "verb", Text),
                    (3, "group", Text),
                    (4, "version", Text),
                    (5, "resource", Text),
                    (6, "subresource", Text),
                    (7, "name", Text),
                ]),
            ),
            (2, "nonResourceAttributes", Object(&[(1, "path", Text), (2, "verb", Text)])),
            (3, "user", Text),
            (4, "groups", Texts),
            (6, "uid", Text),
        ]),
    ),
];

const RULES_REVIEW: Message =
    &[(1, "metadata", Object(METADATA)), (2, "spec", Object(&[(1, "namespace", Text)]))];

const SELF_REVIEW: Message = &[(1, "metadata", Object(METADATA))];

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
        ("authentication.k8s.io/v1", "SelfSubjectReview") => SELF_REVIEW,
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => RULES_REVIEW,
        ("authorization.k8s.io/v1", _) => ACCESS_REVIEW,
        _ => return None,
    })
}
