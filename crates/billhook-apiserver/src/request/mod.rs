//! A request, read as far as every handler needs it.

mod accept;
mod duration;
mod path;
mod query;

use std::time::Duration;

use billhook::apply::manager_name;
use billhook_apimachinery::Status;
use billhook_apimachinery::net::{UrlPart, unescape_text};
use bytes::Bytes;
use http::{HeaderMap, Method};

pub(crate) use self::accept::{
    Accepted, MediaType, NOT_ACCEPTABLE, Shape, Transform, aggregated_discovery, names_media_type,
    negotiate, negotiate_plain, prefers_protobuf,
};
pub(crate) use self::path::{ResourcePath, Verb};
pub(crate) use self::query::{Query, why};

/// A request with its whole body.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    pub(crate) fn new(parts: http::request::Parts, body: Bytes) -> Self {
        Request {
            path: parts.uri.path().to_owned(),
            query: Query::parse(parts.uri.query().unwrap_or_default()),
            method: parts.method,
            headers: parts.headers,
            body,
        }
    }

    /// Returns the parts of the path, without slashes at its ends (RE-01); `None` if the path names
    /// nothing.
    pub(crate) fn parts(&self) -> Option<Vec<String>> {
        let path = unescape_text(&self.path, UrlPart::Path)
            .ok()
            .filter(|_| !self.path.starts_with("//"))?;
        let path = path.trim_matches('/');
        Some(path.split('/').map(str::to_owned).collect())
    }

    /// Returns a header; the empty text if it is absent or not text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the type of the body, without parameters; JSON if it is not named (RE-12).
    pub(crate) fn content_type(&self) -> &str {
        let header = self.header("content-type");
        let name = header.split_once(';').map_or(header, |(name, _)| name);
        if name.is_empty() { "application/json" } else { name }
    }

    /// Returns the time that there is for the answer; none if the request is a watch (RE-22).
    pub(crate) fn time(&self) -> Result<Option<Duration>, Status> {
        const MAX: Duration = Duration::from_secs(60);
        if self.query.flag("watch") {
            return Ok(None);
        }
        let wanted = match self.query.text("timeout") {
            "" => None,
            text => duration::parse(text).map_err(|error| {
                let message = "invalid timeout specified in the request URL";
                Status::bad_request(format!("{message} - {error}"))
            })?,
        };
        Ok(Some(wanted.filter(|time| !time.is_zero()).unwrap_or(MAX).min(MAX)))
    }

    /// The manager of the fields that the request sets (RE-24).
    pub(crate) fn field_manager(&self) -> String {
        manager_name(self.query.text("fieldManager"), self.header("user-agent"))
    }
}
