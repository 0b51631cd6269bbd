//! Requests from AdmissionReviews, as webhooks get them and logs keep them (AR-02, AR-12).

use billhook_apimachinery::record;
use billhook_apimachinery::record::{FieldValue, RecordError, Type, TypedRecord};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, UserInfo};
use serde::Serializer;
use serde_json::Value;

use super::{AdmissionAttributes, Operation};

record! {
    /// The question to a webhook (AR-02).
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct AdmissionRequest = "AdmissionRequest" {
        /// Names this call (AR-10).
        pub uid: String = "uid" as "UID" of "types.UID" @required,
        /// The kind that matched; the objects are of it (AR-11).
        pub kind: GroupVersionKind = "kind",
        /// The resource that matched.
        pub resource: GroupVersionResource = "resource",
        /// The subresource; empty for none.
        pub sub_resource: String = "subResource",
        /// The kind of the client's request (AR-12).
        pub request_kind: Option<GroupVersionKind> = "requestKind",
        /// The resource of the client's request.
        pub request_resource: Option<GroupVersionResource> = "requestResource",
        /// The subresource of the client's request; empty for none.
        pub request_sub_resource: String = "requestSubResource",
        /// The name of the object; empty if it has none yet (AR-13).
        pub name: String = "name",
        /// The namespace of the object; empty for none (AR-14).
        pub namespace: String = "namespace",
        /// The operation.
        pub operation: Operation = "operation" of "v1.Operation",
        /// Who does it.
        pub user_info: UserInfo = "userInfo",
        /// The new object (AR-17).
        pub object: Option<DeepValue> = "object" @required,
        /// The existing object (AR-18).
        pub old_object: Option<DeepValue> = "oldObject" @required,
        /// Whether nothing will be stored (AR-20).
        pub dry_run: bool = "dryRun" @required,
        /// The options of the operation (AR-19).
        pub options: Option<DeepValue> = "options" @required,
    }
}

impl FieldValue for Operation {
    const TYPE: Type = Type::Parsed(|text| match text.parse::<Operation>() {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string().into()),
    });

    fn of(value: &Value) -> Self {
        value.as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl AdmissionAttributes {
    /// The request that an AdmissionReview is about. Kind, resource and subresource are those of
    /// the client's request, not those that the webhook of the review asked for (AR-12).
    pub fn from_review(review: &Value) -> Result<Self, RecordError> {
        match review.get("request") {
            Some(request @ Value::Object(_)) => read(request, FieldPath::default().name("request")),
            _ => Err(RecordError::new("request: expected the request of an AdmissionReview")),
        }
    }

    /// [`AdmissionAttributes::from_review`] for the `request` of a review alone.
    pub fn from_review_request(request: &Value) -> Result<Self, RecordError> {
        read(request, FieldPath::default())
    }
}

fn missing(path: FieldPath) -> RecordError {
    RecordError::new(FieldError::required(path, "").to_string())
}

fn read(value: &Value, at: FieldPath) -> Result<AdmissionAttributes, RecordError> {
    let (request, _) = AdmissionRequest::read(value)?;
    let is_set = |name: &str| record::member(value, name).is_some();
    for (name, is_missing) in [
        ("operation", !is_set("operation")),
        ("kind", !is_set("kind") && request.request_kind.is_none()),
        ("resource", !is_set("resource") && request.request_resource.is_none()),
    ] {
        if is_missing {
            return Err(missing(at.name(name)));
        }
    }
    // A review that names the original resource says so of its subresource too.
    let subresource = match request.request_resource {
        Some(_) => request.request_sub_resource,
        None => request.sub_resource,
    };
    Ok(AdmissionAttributes {
        operation: request.operation,
        kind: request.request_kind.unwrap_or(request.kind),
        resource: request.request_resource.unwrap_or(request.resource),
        subresource,
        name: request.name,
        namespace: request.namespace,
        object: request.object,
        old_object: request.old_object,
        options: request.options,
        dry_run: request.dry_run,
        user: request.user_info,
    })
}
