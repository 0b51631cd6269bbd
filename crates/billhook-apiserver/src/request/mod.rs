//! A request, with the parts that every handler needs.

mod accept;
mod audit;
mod duration;
mod path;
mod query;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use billhook_admission::{AuditAnnotations, ChainOutcome, RequestOptions, Warnings};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{Status, UserInfo};
use billhook_apply::manager_name;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tokio::time::Instant;

pub(crate) use self::accept::{
    Accepted, MediaType, NOT_ACCEPTABLE, Shape, Transform, aggregated_discovery, names_media_type,
    negotiate, negotiate_own, negotiate_plain, prefers_protobuf,
};
use self::audit::audit_id;
use self::path::unescaped;
pub(crate) use self::path::{ResourcePath, Verb};
pub(crate) use self::query::{Query, why};
use crate::body::RequestBody;

/// The header that names a request in audit logs.
pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// A request with its whole body.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Its path without escapes; missing if it names nothing.
    path: Option<String>,
    /// The objects that the path names, if it has the form of such a path.
    pub(crate) objects: Option<ResourcePath>,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    /// The user of the request: the one whom it impersonates, or else the one whom those have found who
    /// pass it on; the server's own user if missing.
    pub(crate) user: Option<UserInfo>,
    /// When the time of the request is over, if it has only so much.
    pub(crate) deadline: Option<Instant>,
    /// The annotations of webhooks and policies, if the request is written to the audit log.
    pub(crate) annotations: Option<Box<Mutex<AuditAnnotations>>>,
    body: Result<RequestBody, Status>,
}

/// How long a write of one object may take (RE-22).
pub(crate) const WRITE_TIME: Duration = Duration::from_secs(34);

impl Request {
    pub(crate) fn new(mut parts: http::request::Parts, body: Result<RequestBody, Status>) -> Self {
        let path = unescaped(parts.uri.path());
        Request {
            objects: path.as_deref().and_then(ResourcePath::parse),
            path,
            query: Query::parse(parts.uri.query().unwrap_or_default()),
            user: parts.extensions.remove(),
            deadline: None,
            annotations: None,
            method: parts.method,
            headers: parts.headers,
            body,
        }
    }

    /// Returns the options of what the request writes: admission has as long as the request (DI-50).
    pub(crate) fn options(&self) -> RequestOptions {
        let options = RequestOptions::default();
        match self.deadline {
            Some(deadline) => options.deadline(deadline.into_std()),
            None => options,
        }
    }

    /// Adds what webhooks and policies say for the audit log.
    pub(crate) fn annotate(&self, annotations: &AuditAnnotations) {
        let Some(own) = &self.annotations else { return };
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, annotation) in annotations.iter() {
            own.add(key, &annotation.value, annotation.level);
        }
    }

    /// Returns the object that a chain has left of the one in the request, with the warnings about it.
    pub(crate) fn object_of(
        &self,
        outcome: ChainOutcome,
        warnings: &mut Warnings,
    ) -> Result<DeepValue, Status> {
        self.annotate(&outcome.annotations);
        outcome.warnings.raw().into_iter().for_each(|text| warnings.add(text));
        outcome.result.map(|attributes| attributes.object.unwrap_or_default())
    }

    /// Returns the path without escapes; empty if it names nothing.
    pub(crate) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or_default()
    }

    /// Returns the parts of the path, without slashes at its ends (RE-01); `None` if the path names
    /// nothing.
    pub(crate) fn parts(&self) -> Option<Vec<&str>> {
        Some(self.path.as_deref()?.trim_matches('/').split('/').collect())
    }

    /// Returns a header; the empty text if it is absent or not text.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| str::from_utf8(value.as_bytes()).ok()).unwrap_or_default()
    }

    /// Returns the identifier of the request in audit logs.
    pub(crate) fn audit_id(&self) -> HeaderValue {
        audit_id(self.headers.get(AUDIT_ID))
    }

    /// Returns the body. Who does not ask for it answers whatever it is.
    ///
    /// # Errors
    ///
    /// If the body is too large, or could not be read (RE-31).
    pub(crate) fn body(&self) -> Result<&Bytes, Status> {
        self.body.as_ref().map(|body| &body.bytes).map_err(Status::clone)
    }

    /// The verb of a request for objects.
    pub(crate) fn verb(&self) -> Option<Verb> {
        self.objects.as_ref().map(|path| path.verb(&self.method, &self.query))
    }

    /// Returns the type of the body, without parameters; JSON if it is not named (RE-12).
    /// Empty if a parameter has no value.
    pub(crate) fn content_type(&self) -> &str {
        let header = self.header("content-type");
        let (name, parameters) = header.split_once(';').unwrap_or((header, ""));
        let mut parameters = parameters.split(';').map(str::trim);
        match () {
            () if !parameters.all(|it| it.is_empty() || it.contains('=')) => "",
            () if name.is_empty() => "application/json",
            () => name,
        }
    }

    /// Whether the request writes one object.
    pub(crate) fn writes_one(&self) -> bool {
        matches!(self.verb(), Some(Verb::Create | Verb::Update | Verb::Patch | Verb::Delete))
    }

    /// Returns the time within which the request is answered; none if the request is a watch (RE-22).
    /// No other request has more than `most`.
    pub(crate) fn time(&self, most: Duration) -> Result<Option<Duration>, Status> {
        let max = if self.writes_one() { WRITE_TIME.min(most) } else { most };
        if matches!(self.verb(), Some(Verb::Watch | Verb::Proxy)) {
            return Ok(None);
        }
        let wanted = match self.query.text("timeout") {
            "" => None,
            text => duration::parse(text).map_err(|error| {
                let message = "invalid timeout specified in the request URL";
                Status::bad_request(format!("{message} - {error}"))
            })?,
        };
        Ok(Some(wanted.filter(|time| !time.is_zero()).unwrap_or(max).min(max)))
    }

    /// The manager of the fields that the request sets (RE-24).
    pub(crate) fn field_manager(&self) -> String {
        manager_name(self.query.text("fieldManager"), self.header("user-agent"))
    }
}
