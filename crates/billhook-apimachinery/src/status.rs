//! The status a client gets when its request fails, and how the outcome of a call maps to it
//! (AR-71 to AR-76).

use serde_json::{Value, json};

use crate::GroupVersionResource;
use crate::print::quote;
use crate::record;
use crate::record::TypedRecord;
use crate::value::DeepValue;
use crate::{FieldError, aggregate};

record! {
    /// An API error: the `Status` object of API version `v1`.
    ///
    /// It prints as its message.
    #[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
    #[error("{message}")]
    #[non_exhaustive]
    pub struct Status = "Status" {
        /// `Failure` or `Success`; a webhook may send anything.
        pub status: String = "status",
        /// The outcome, for people.
        pub message: String = "message",
        /// The outcome, for programs: one word such as `Forbidden`.
        pub reason: String = "reason" of "v1.StatusReason",
        /// More for programs.
        pub details: Option<Box<StatusDetails>> = "details",
        /// The HTTP status code.
        pub code: i32 = "code",
    }

    /// The part of a [`Status`] for programs.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct StatusDetails = "StatusDetails" {
        /// The name of the object.
        pub name: String = "name",
        /// The group of the object.
        pub group: String = "group",
        /// The kind or resource of the object.
        pub kind: String = "kind",
        /// The UID of the object.
        pub uid: String = "uid" as "UID" of "types.UID",
        /// The single things that are wrong.
        pub causes: Vec<StatusCause> = "causes",
        /// After how many seconds a client may try again.
        pub retry_after_seconds: i32 = "retryAfterSeconds",
    }

    /// One thing that is wrong.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct StatusCause = "StatusCause" {
        /// The error, for programs.
        pub reason: String = "reason" of "v1.CauseType",
        /// The error, for people.
        pub message: String = "message",
        /// Where in the object.
        pub field: String = "field",
    }
}

impl StatusCause {
    fn of(error: &FieldError) -> Self {
        let (text, field) = (error.to_string(), error.field().to_string());
        let message = text.strip_prefix(&format!("{field}: ")).unwrap_or(&text).to_owned();
        StatusCause { reason: error.error_type().reason().to_owned(), message, field }
    }
}

impl Status {
    /// Returns the object that a server sends: kind `Status` of API version `v1`.
    pub fn to_value(&self) -> DeepValue {
        let mut object = self.to_document();
        if let Value::Object(members) = &mut *object {
            members.insert("apiVersion".to_owned(), "v1".into());
            members.insert("kind".to_owned(), "Status".into());
            members.insert("metadata".to_owned(), json!({}));
        }
        object
    }

    /// Reads a status from a body, if the body is a status of failure.
    pub fn of_failure(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("kind") != "Status" || text("apiVersion") != "v1" {
            return None;
        }
        let (status, _) = Status::read(value).ok()?;
        (status.status != "Success").then_some(status)
    }

    /// Creates a failure with a code, a reason and a message.
    pub fn failure(code: i32, reason: &str, message: impl Into<String>) -> Self {
        Status {
            status: "Failure".to_owned(),
            message: message.into(),
            reason: reason.to_owned(),
            details: None,
            code,
        }
    }

    /// Creates a 500: a failure that is not the client's fault (AR-75).
    pub fn internal_error(error: &str) -> Self {
        let cause = StatusCause { message: error.to_owned(), ..StatusCause::default() };
        Status {
            details: Some(Box::new(StatusDetails {
                causes: vec![cause],
                ..StatusDetails::default()
            })),
            ..Self::failure(500, "InternalError", format!("Internal error occurred: {error}"))
        }
    }

    /// Creates a 404: nothing is served there (RP-92).
    pub fn resource_not_found() -> Self {
        Self::failure(404, "NotFound", "the server could not find the requested resource")
    }

    /// A failure that is about one object, as the details say.
    fn of_object(
        (code, reason): (i32, &str),
        resource: &GroupVersionResource,
        name: &str,
        message: String,
    ) -> Self {
        let details = StatusDetails {
            name: name.to_owned(),
            group: resource.group.clone(),
            kind: resource.resource.clone(),
            ..StatusDetails::default()
        };
        Status { details: Some(Box::new(details)), ..Self::failure(code, reason, message) }
    }

    /// Creates a 404: the object does not exist.
    pub fn not_found(resource: &GroupVersionResource, name: &str) -> Self {
        let message = format!("{} {} not found", resource.qualified(), quote(name));
        Self::of_object((404, "NotFound"), resource, name, message)
    }

    /// Creates a 409: the object exists already. If its name was generated, the client may try
    /// again.
    pub fn already_exists(resource: &GroupVersionResource, name: &str, is_generated: bool) -> Self {
        let mut message = format!("{} {} already exists", resource.qualified(), quote(name));
        if is_generated {
            message.push_str(", the server was not able to generate a unique name for the object");
        }
        let mut status = Self::of_object((409, "AlreadyExists"), resource, name, message);
        if let Some(details) = status.details.as_mut().filter(|_| is_generated) {
            details.retry_after_seconds = 1;
        }
        status
    }

    /// Creates a 409: the object is not the one that the client means (RP-42).
    pub fn conflict(resource: &GroupVersionResource, name: &str, why: &str) -> Self {
        let subject = resource.qualified();
        let message = format!("Operation cannot be fulfilled on {subject} {}: {why}", quote(name));
        Self::of_object((409, "Conflict"), resource, name, message)
    }

    /// Creates a 403: the request is not allowed (RP-91).
    pub fn forbidden(resource: &GroupVersionResource, name: &str, why: &str) -> Self {
        let name_or_not = if name.is_empty() { String::new() } else { format!(" {}", quote(name)) };
        let message = format!("{}{name_or_not} is forbidden: {why}", resource.qualified());
        Self::of_object((403, "Forbidden"), resource, name, message)
    }

    /// Creates a 422: an object, or a part of the request, has these errors (VV-64). For errors in
    /// the request itself kind and name are empty.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let dot = if group.is_empty() { "" } else { "." };
        let message =
            format!("{kind}{dot}{group} {} is invalid: {}", quote(name), aggregate(errors));
        let details = StatusDetails {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes: errors.iter().map(StatusCause::of).collect(),
            ..StatusDetails::default()
        };
        let details = Some(Box::new(details));
        Status { details, ..Self::failure(422, "Invalid", message) }
    }

    /// Creates a 400: the request cannot be served as it is.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::failure(400, "BadRequest", message)
    }

    /// Creates a 422: a patch cannot be applied to the object (RE-82). The server does not say why.
    pub fn unprocessable() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Status { details: Some(Box::default()), ..Self::failure(422, "Invalid", message) }
    }

    /// Creates a 500 that has neither reason nor details: a failure that is not an API error
    /// (RE-31).
    pub fn unexpected(message: impl Into<String>) -> Self {
        Self::failure(500, "", message)
    }

    /// Creates a 504: a step of the request notices that its deadline has passed (AR-76).
    pub fn timeout() -> Self {
        Self::timed_out("request did not complete within requested timeout")
    }

    /// Creates a 504: the server answers in place of a request whose deadline has passed (RE-22).
    pub fn request_timeout() -> Self {
        Self::timed_out("request did not complete within the allotted timeout")
    }

    fn timed_out(why: &str) -> Self {
        let status = Self::failure(504, "Timeout", format!("Timeout: {why}"));
        Status { details: Some(Box::default()), ..status }
    }
}
