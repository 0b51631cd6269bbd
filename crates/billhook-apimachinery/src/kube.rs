//! Conversions from and to the types of `kube`, which are those of `kube-core`.

use kube_core::response::{
    Status as KubeStatus, StatusCause as KubeCause, StatusDetails as KubeDetails, StatusSummary,
};

use crate::{GroupVersionKind, GroupVersionResource, Status, StatusCause, StatusDetails};

/// Values that `kube` cannot represent are dropped: a `status` other than `Success` and `Failure`,
/// and numbers outside the range of an HTTP status or a retry time.
///
/// ```
/// let status = kube_core::Status::from(billhook_apimachinery::Status::timeout());
/// assert!(status.is_failure());
/// assert_eq!(status.code, 504);
/// ```
impl From<Status> for KubeStatus {
    fn from(status: Status) -> Self {
        KubeStatus {
            status: match status.status.as_str() {
                "Success" => Some(StatusSummary::Success),
                "Failure" => Some(StatusSummary::Failure),
                _ => None,
            },
            code: u16::try_from(status.code).unwrap_or_default(),
            message: status.message,
            metadata: None,
            reason: status.reason,
            details: status.details.map(|details| (*details).into()),
        }
    }
}

impl From<KubeStatus> for Status {
    fn from(status: KubeStatus) -> Self {
        Status {
            status: match status.status {
                Some(StatusSummary::Success) => "Success".to_owned(),
                Some(StatusSummary::Failure) => "Failure".to_owned(),
                None => String::new(),
            },
            message: status.message,
            reason: status.reason,
            details: status.details.map(|details| Box::new(details.into())),
            code: i32::from(status.code),
        }
    }
}

impl From<StatusDetails> for KubeDetails {
    fn from(details: StatusDetails) -> Self {
        let cause = |cause: StatusCause| KubeCause {
            reason: cause.reason,
            message: cause.message,
            field: cause.field,
        };
        KubeDetails {
            name: details.name,
            group: details.group,
            kind: details.kind,
            uid: details.uid,
            causes: details.causes.into_iter().map(cause).collect(),
            retry_after_seconds: u32::try_from(details.retry_after_seconds).unwrap_or_default(),
        }
    }
}

impl From<KubeDetails> for StatusDetails {
    fn from(details: KubeDetails) -> Self {
        let cause = |cause: KubeCause| StatusCause {
            reason: cause.reason,
            message: cause.message,
            field: cause.field,
        };
        StatusDetails {
            name: details.name,
            group: details.group,
            kind: details.kind,
            uid: details.uid,
            causes: details.causes.into_iter().map(cause).collect(),
            retry_after_seconds: i32::try_from(details.retry_after_seconds).unwrap_or_default(),
        }
    }
}

impl From<GroupVersionKind> for kube_core::GroupVersionKind {
    fn from(kind: GroupVersionKind) -> Self {
        let GroupVersionKind { group, version, kind } = kind;
        kube_core::GroupVersionKind { group, version, kind }
    }
}

impl From<kube_core::GroupVersionKind> for GroupVersionKind {
    fn from(kind: kube_core::GroupVersionKind) -> Self {
        let kube_core::GroupVersionKind { group, version, kind } = kind;
        GroupVersionKind { group, version, kind }
    }
}

impl From<GroupVersionResource> for kube_core::GroupVersionResource {
    fn from(resource: GroupVersionResource) -> Self {
        Self::gvr(&resource.group, &resource.version, &resource.resource)
    }
}

impl From<kube_core::GroupVersionResource> for GroupVersionResource {
    fn from(resource: kube_core::GroupVersionResource) -> Self {
        GroupVersionResource {
            group: resource.group,
            version: resource.version,
            resource: resource.resource,
        }
    }
}
