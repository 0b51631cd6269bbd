//! The events of an audit log.

use std::collections::BTreeMap;
use std::fmt;

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{StatusDetails, UserInfo, record};

record! {
    /// A request at one of its stages: an `Event` of `audit.k8s.io/v1`. Prints as a line of JSON.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct AuditEvent = "Event" {
        /// `Event`.
        pub kind: String = "kind",
        /// `audit.k8s.io/v1`.
        pub api_version: String = "apiVersion",
        /// The level at which the policy has the request: `Metadata`, `Request` or `RequestResponse`.
        pub level: String = "level" @required,
        /// The identifier of the request, which its answer has as the header `Audit-Id`.
        pub audit_id: String = "auditID" @required,
        /// `RequestReceived`, `ResponseStarted` (of watches and other streams), or `ResponseComplete`.
        pub stage: String = "stage" @required,
        /// The path and the query, as they were sent.
        pub request_uri: String = "requestURI" @required,
        /// The verb of a request for objects; for others the method in lower case.
        pub verb: String = "verb" @required,
        /// Who made the request.
        pub user: UserInfo = "user" @required,
        /// Whom the request impersonated.
        pub impersonated_user: Option<UserInfo> = "impersonatedUser",
        /// Where the request came from: proxies say, and the connection.
        pub source_ips: Vec<String> = "sourceIPs",
        /// The header `User-Agent`.
        pub user_agent: String = "userAgent",
        /// The object or the collection that the request was for, if its path is that of objects.
        pub object: Option<AuditedObject> = "objectRef",
        /// The outcome, when there is one.
        pub response_status: Option<AuditedStatus> = "responseStatus",
        /// The body of the request, from the level `Request` on.
        pub request_object: Option<DeepValue> = "requestObject",
        /// The body of the answer, at the level `RequestResponse`.
        pub response_object: Option<DeepValue> = "responseObject",
        /// When the request came, in microseconds.
        pub request_received: String = "requestReceivedTimestamp",
        /// When it reached the stage, in microseconds.
        pub stage_time: String = "stageTimestamp",
        /// The decision about permissions, and what webhooks and policies say.
        pub annotations: BTreeMap<String, String> = "annotations",
    }

    /// The object or the collection that a request is for.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct AuditedObject = "ObjectReference" {
        /// The resource, such as `deployments`.
        pub resource: String = "resource",
        /// The namespace.
        pub namespace: String = "namespace",
        /// The name.
        pub name: String = "name",
        /// The UID that the body of the request names.
        pub uid: String = "uid",
        /// The group of the resource; empty for the core group.
        pub group: String = "apiGroup",
        /// The version of the resource.
        pub version: String = "apiVersion",
        /// The resource version that the body of the request names.
        pub resource_version: String = "resourceVersion",
        /// The subresource, such as `status`.
        pub subresource: String = "subresource",
    }

    /// The outcome of a request.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct AuditedStatus = "Status" {
        /// Always empty.
        pub metadata: BTreeMap<String, String> = "metadata" @required,
        /// `Failure` or `Success`, if the answer is a status.
        pub status: String = "status",
        /// The outcome, for people.
        pub message: String = "message",
        /// The outcome, for programs.
        pub reason: String = "reason",
        /// More for programs.
        pub details: Option<Box<StatusDetails>> = "details",
        /// The code of the answer.
        pub code: i32 = "code",
    }
}

impl fmt::Display for AuditEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
