//! The documents of reviews, in the order in which a server prints them.

use std::collections::BTreeMap;

use billhook_apimachinery::UserInfo;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record;
use billhook_apimachinery::record::{FieldValue, TypedRecord};

/// A whole review.
pub(super) trait Review: TypedRecord + FieldValue {}

impl<T: TypedRecord + FieldValue> Review for T {}

record! {
    /// Whether somebody may do something.
    #[derive(Clone, Debug, Default)]
    pub(super) struct AccessReview = "SubjectAccessReview" {
        pub(super) kind: String = "kind",
        pub(super) api_version: String = "apiVersion",
        pub(super) metadata: ObjectMeta = "metadata" [1] as "ObjectMeta" @required,
        pub(super) spec: AccessSpec = "spec" [2] @required,
        pub(super) status: AccessStatus = "status" @required,
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct AccessSpec = "SubjectAccessReviewSpec" {
        pub(super) resource_attributes: Option<ResourceAttributes> = "resourceAttributes" [1],
        pub(super) non_resource_attributes: Option<NonResourceAttributes> =
            "nonResourceAttributes" [2],
        pub(super) user: String = "user" [3],
        pub(super) groups: Vec<String> = "groups" [4],
        pub(super) extra: BTreeMap<String, Vec<String>> = "extra" of "map[string]v1.ExtraValue",
        pub(super) uid: String = "uid" [6] as "UID",
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct ResourceAttributes = "ResourceAttributes" {
        pub(super) namespace: String = "namespace" [1],
        pub(super) verb: String = "verb" [2],
        pub(super) group: String = "group" [3],
        pub(super) version: String = "version" [4],
        pub(super) resource: String = "resource" [5],
        pub(super) subresource: String = "subresource" [6],
        pub(super) name: String = "name" [7],
        pub(super) field_selector: Option<Selector> = "fieldSelector",
        pub(super) label_selector: Option<Selector> = "labelSelector",
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct Selector = "SelectorAttributes" {
        pub(super) raw_selector: String = "rawSelector",
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct NonResourceAttributes = "NonResourceAttributes" {
        pub(super) path: String = "path" [1],
        pub(super) verb: String = "verb" [2],
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct AccessStatus = "SubjectAccessReviewStatus" {
        pub(super) allowed: bool = "allowed" @required,
        pub(super) reason: String = "reason",
        pub(super) evaluation_error: String = "evaluationError",
    }

    /// All that the user of a request may do.
    #[derive(Clone, Debug, Default)]
    pub(super) struct RulesReview = "SelfSubjectRulesReview" {
        pub(super) kind: String = "kind",
        pub(super) api_version: String = "apiVersion",
        pub(super) metadata: ObjectMeta = "metadata" [1] as "ObjectMeta" @required,
        pub(super) spec: RulesSpec = "spec" [2] @required,
        pub(super) status: RulesStatus = "status" @required,
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct RulesSpec = "SelfSubjectRulesReviewSpec" {
        pub(super) namespace: String = "namespace" [1],
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct RulesStatus = "SubjectRulesReviewStatus" {
        pub(super) resource_rules: Vec<ResourceRule> = "resourceRules" @required,
        pub(super) non_resource_rules: Vec<NonResourceRule> = "nonResourceRules" @required,
        pub(super) incomplete: bool = "incomplete" @required,
        pub(super) evaluation_error: String = "evaluationError",
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct ResourceRule = "ResourceRule" {
        pub(super) verbs: Vec<String> = "verbs" @required,
        pub(super) api_groups: Vec<String> = "apiGroups",
        pub(super) resources: Vec<String> = "resources",
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct NonResourceRule = "NonResourceRule" {
        pub(super) verbs: Vec<String> = "verbs" @required,
        pub(super) non_resource_urls: Vec<String> = "nonResourceURLs",
    }

    /// Who makes a request.
    #[derive(Clone, Debug, Default)]
    pub(super) struct SelfReview = "SelfSubjectReview" {
        pub(super) kind: String = "kind",
        pub(super) api_version: String = "apiVersion",
        pub(super) metadata: ObjectMeta = "metadata" [1] as "ObjectMeta" @required,
        pub(super) status: SelfStatus = "status" @required,
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct SelfStatus = "SelfSubjectReviewStatus" {
        pub(super) user_info: UserInfo = "userInfo",
    }
}

impl AccessSpec {
    /// Returns the user that a review is about.
    pub(super) fn user(&self) -> UserInfo {
        let mut user = UserInfo::named(&self.user);
        user.uid.clone_from(&self.uid);
        user.groups.clone_from(&self.groups);
        user.extra.clone_from(&self.extra);
        user
    }
}
