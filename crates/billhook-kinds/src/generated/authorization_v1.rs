//! The types of a version of a group, made by `cargo xtask kinds`.

use billhook_apimachinery::label_selector::LabelSelectorRequirement;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::record::{Field, Record, Type};

pub(crate) static FIELD_SELECTOR_ATTRIBUTES: Record = Record::new(
    "FieldSelectorAttributes",
    &[
        Field::new("rawSelector", Type::Text).numbered(&[1]),
        Field::new("requirements", Type::List(&Type::Record(|| &super::meta_v1::FIELD_SELECTOR_REQUIREMENT))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static LABEL_SELECTOR_ATTRIBUTES: Record = Record::new(
    "LabelSelectorAttributes",
    &[
        Field::new("rawSelector", Type::Text).numbered(&[1]),
        Field::new("requirements", Type::List(&Type::Record(LabelSelectorRequirement::record))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static LOCAL_SUBJECT_ACCESS_REVIEW: Record = Record::new(
    "LocalSubjectAccessReview",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::authorization_v1::SUBJECT_ACCESS_REVIEW_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::authorization_v1::SUBJECT_ACCESS_REVIEW_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static NON_RESOURCE_ATTRIBUTES: Record = Record::new(
    "NonResourceAttributes",
    &[
        Field::new("path", Type::Text).numbered(&[1]),
        Field::new("verb", Type::Text).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static NON_RESOURCE_RULE: Record = Record::new(
    "NonResourceRule",
    &[
        Field::new("verbs", Type::List(&Type::Text)).numbered(&[1]).required().needed(),
        Field::new("nonResourceURLs", Type::List(&Type::Text)).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static RESOURCE_ATTRIBUTES: Record = Record::new(
    "ResourceAttributes",
    &[
        Field::new("namespace", Type::Text).numbered(&[1]),
        Field::new("verb", Type::Text).numbered(&[2]),
        Field::new("group", Type::Text).numbered(&[3]),
        Field::new("version", Type::Text).numbered(&[4]),
        Field::new("resource", Type::Text).numbered(&[5]),
        Field::new("subresource", Type::Text).numbered(&[6]),
        Field::new("name", Type::Text).numbered(&[7]),
        Field::new("fieldSelector", Type::Optional(&Type::Record(|| &super::authorization_v1::FIELD_SELECTOR_ATTRIBUTES))).numbered(&[8]),
        Field::new("labelSelector", Type::Optional(&Type::Record(|| &super::authorization_v1::LABEL_SELECTOR_ATTRIBUTES))).numbered(&[9]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static RESOURCE_RULE: Record = Record::new(
    "ResourceRule",
    &[
        Field::new("verbs", Type::List(&Type::Text)).numbered(&[1]).required().needed(),
        Field::new("apiGroups", Type::List(&Type::Text)).numbered(&[2]),
        Field::new("resources", Type::List(&Type::Text)).numbered(&[3]),
        Field::new("resourceNames", Type::List(&Type::Text)).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static SELF_SUBJECT_ACCESS_REVIEW: Record = Record::new(
    "SelfSubjectAccessReview",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::authorization_v1::SELF_SUBJECT_ACCESS_REVIEW_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::authorization_v1::SUBJECT_ACCESS_REVIEW_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static SELF_SUBJECT_ACCESS_REVIEW_SPEC: Record = Record::new(
    "SelfSubjectAccessReviewSpec",
    &[
        Field::new("resourceAttributes", Type::Optional(&Type::Record(|| &super::authorization_v1::RESOURCE_ATTRIBUTES))).numbered(&[1]),
        Field::new("nonResourceAttributes", Type::Optional(&Type::Record(|| &super::authorization_v1::NON_RESOURCE_ATTRIBUTES))).numbered(&[2]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static SELF_SUBJECT_RULES_REVIEW: Record = Record::new(
    "SelfSubjectRulesReview",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::authorization_v1::SELF_SUBJECT_RULES_REVIEW_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::authorization_v1::SUBJECT_RULES_REVIEW_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static SELF_SUBJECT_RULES_REVIEW_SPEC: Record = Record::new(
    "SelfSubjectRulesReviewSpec",
    &[
        Field::new("namespace", Type::Text).numbered(&[1]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static SUBJECT_ACCESS_REVIEW: Record = Record::new(
    "SubjectAccessReview",
    &[
        Field::new("kind", Type::Text),
        Field::new("apiVersion", Type::Text),
        Field::new("metadata", Type::Record(ObjectMeta::record)).numbered(&[1]).required(),
        Field::new("spec", Type::Record(|| &super::authorization_v1::SUBJECT_ACCESS_REVIEW_SPEC)).numbered(&[2]).required().needed(),
        Field::new("status", Type::Record(|| &super::authorization_v1::SUBJECT_ACCESS_REVIEW_STATUS)).numbered(&[3]).required(),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static SUBJECT_ACCESS_REVIEW_SPEC: Record = Record::new(
    "SubjectAccessReviewSpec",
    &[
        Field::new("resourceAttributes", Type::Optional(&Type::Record(|| &super::authorization_v1::RESOURCE_ATTRIBUTES))).numbered(&[1]),
        Field::new("nonResourceAttributes", Type::Optional(&Type::Record(|| &super::authorization_v1::NON_RESOURCE_ATTRIBUTES))).numbered(&[2]),
        Field::new("user", Type::Text).numbered(&[3]),
        Field::new("groups", Type::List(&Type::Text)).numbered(&[4]),
        Field::new("extra", Type::Map(&Type::Named("v1.ExtraValue", &Type::List(&Type::Text)))).numbered(&[5]),
        Field::new("uid", Type::Text).numbered(&[6]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static SUBJECT_ACCESS_REVIEW_STATUS: Record = Record::new(
    "SubjectAccessReviewStatus",
    &[
        Field::new("allowed", Type::Flag).numbered(&[1]).required().needed(),
        Field::new("denied", Type::Flag).numbered(&[4]),
        Field::new("reason", Type::Text).numbered(&[2]),
        Field::new("evaluationError", Type::Text).numbered(&[3]),
    ],
)
.at_home("io.k8s.api.authorization.v1");

pub(crate) static SUBJECT_RULES_REVIEW_STATUS: Record = Record::new(
    "SubjectRulesReviewStatus",
    &[
        Field::new("resourceRules", Type::List(&Type::Record(|| &super::authorization_v1::RESOURCE_RULE))).numbered(&[1]).required().needed(),
        Field::new("nonResourceRules", Type::List(&Type::Record(|| &super::authorization_v1::NON_RESOURCE_RULE))).numbered(&[2]).required().needed(),
        Field::new("incomplete", Type::Flag).numbered(&[3]).required().needed(),
        Field::new("evaluationError", Type::Text).numbered(&[4]),
    ],
)
.at_home("io.k8s.api.authorization.v1");
