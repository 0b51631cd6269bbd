//! Conversions from and to the types of `k8s-openapi`.

use k8s_openapi::api::authentication::v1 as authentication;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;

use crate::label_selector::{LabelSelector, LabelSelectorRequirement};
use crate::{Status, StatusCause, StatusDetails, UserInfo};

/// Other crates have no text where this one has an empty one.
fn or_none(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// The user of a request, e.g. of a `TokenReview`.
///
/// ```
/// use k8s_openapi::api::authentication::v1::UserInfo;
///
/// let ada = UserInfo { username: Some("ada".to_owned()), ..UserInfo::default() };
/// let user = billhook_apimachinery::UserInfo::from(ada.clone());
/// assert_eq!(user.username, "ada");
/// assert_eq!(UserInfo::from(user), ada);
/// ```
impl From<authentication::UserInfo> for UserInfo {
    fn from(user: authentication::UserInfo) -> Self {
        UserInfo {
            username: user.username.unwrap_or_default(),
            uid: user.uid.unwrap_or_default(),
            groups: user.groups.unwrap_or_default(),
            extra: user.extra.unwrap_or_default(),
        }
    }
}

impl From<UserInfo> for authentication::UserInfo {
    fn from(user: UserInfo) -> Self {
        authentication::UserInfo {
            username: or_none(user.username),
            uid: or_none(user.uid),
            groups: Some(user.groups).filter(|groups| !groups.is_empty()),
            extra: Some(user.extra).filter(|extra| !extra.is_empty()),
        }
    }
}

/// A selector, ready to be parsed.
///
/// ```
/// use billhook_apimachinery::label_selector;
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
///
/// let labels = std::collections::BTreeMap::from([("app".to_owned(), "web".to_owned())]);
/// let written = LabelSelector { match_labels: Some(labels), ..LabelSelector::default() };
/// let selector = label_selector::LabelSelector::from(written).parse()?;
/// assert_eq!(selector.to_string(), "app=web");
/// # Ok::<(), label_selector::SelectorError>(())
/// ```
impl From<meta::LabelSelector> for LabelSelector {
    fn from(selector: meta::LabelSelector) -> Self {
        let requirement = |requirement: meta::LabelSelectorRequirement| LabelSelectorRequirement {
            key: requirement.key,
            operator: requirement.operator,
            values: requirement.values.unwrap_or_default(),
        };
        let expressions = selector.match_expressions.unwrap_or_default();
        LabelSelector {
            match_labels: selector.match_labels.unwrap_or_default(),
            match_expressions: expressions.into_iter().map(requirement).collect(),
        }
    }
}

impl From<LabelSelector> for meta::LabelSelector {
    fn from(selector: LabelSelector) -> Self {
        let requirement = |requirement: LabelSelectorRequirement| meta::LabelSelectorRequirement {
            key: requirement.key,
            operator: requirement.operator,
            values: Some(requirement.values).filter(|values| !values.is_empty()),
        };
        let expressions: Vec<_> = selector.match_expressions.into_iter().map(requirement).collect();
        meta::LabelSelector {
            match_labels: Some(selector.match_labels).filter(|labels| !labels.is_empty()),
            match_expressions: Some(expressions).filter(|expressions| !expressions.is_empty()),
        }
    }
}

/// A status, without the metadata that it has in lists.
impl From<meta::Status> for Status {
    fn from(status: meta::Status) -> Self {
        Status {
            status: status.status.unwrap_or_default(),
            message: status.message.unwrap_or_default(),
            reason: status.reason.unwrap_or_default(),
            details: status.details.map(|details| Box::new(details.into())),
            code: status.code.unwrap_or_default(),
        }
    }
}

impl From<meta::StatusDetails> for StatusDetails {
    fn from(details: meta::StatusDetails) -> Self {
        let cause = |cause: meta::StatusCause| StatusCause {
            reason: cause.reason.unwrap_or_default(),
            message: cause.message.unwrap_or_default(),
            field: cause.field.unwrap_or_default(),
        };
        StatusDetails {
            name: details.name.unwrap_or_default(),
            group: details.group.unwrap_or_default(),
            kind: details.kind.unwrap_or_default(),
            uid: details.uid.unwrap_or_default(),
            causes: details.causes.unwrap_or_default().into_iter().map(cause).collect(),
            retry_after_seconds: details.retry_after_seconds.unwrap_or_default(),
        }
    }
}

/// The status that a client gets when a request fails.
///
/// ```
/// use billhook_apimachinery::Status;
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1;
///
/// let status = v1::Status::from(Status::timeout());
/// assert_eq!(status.code, Some(504));
/// ```
impl From<Status> for meta::Status {
    fn from(status: Status) -> Self {
        meta::Status {
            status: or_none(status.status),
            message: or_none(status.message),
            reason: or_none(status.reason),
            details: status.details.map(|details| (*details).into()),
            code: Some(status.code).filter(|code| *code != 0),
            metadata: meta::ListMeta::default(),
        }
    }
}

impl From<StatusDetails> for meta::StatusDetails {
    fn from(details: StatusDetails) -> Self {
        let cause = |cause: StatusCause| meta::StatusCause {
            reason: or_none(cause.reason),
            message: or_none(cause.message),
            field: or_none(cause.field),
        };
        let causes: Vec<_> = details.causes.into_iter().map(cause).collect();
        meta::StatusDetails {
            name: or_none(details.name),
            group: or_none(details.group),
            kind: or_none(details.kind),
            uid: or_none(details.uid),
            causes: Some(causes).filter(|causes| !causes.is_empty()),
            retry_after_seconds: Some(details.retry_after_seconds).filter(|after| *after != 0),
        }
    }
}
