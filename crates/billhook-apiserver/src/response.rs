//! Answers: objects and statuses, in the type and layout that the client asks for.

use std::time::Duration;

use billhook_admission::Warnings;
use billhook_apimachinery::Status;
use billhook_apimachinery::print::{escape_html, indent_json};
use billhook_decode::read_json;
use http::{HeaderValue, Method, StatusCode, header};
use serde::Serialize;

use crate::answer::Body;
use crate::budget::Budget;
use crate::failures::not_allowed;
use crate::kinds::record_of;
use crate::protobuf::{self, PROTOBUF};
use crate::request::{
    AUDIT_ID, Accepted, MediaType, Request, WRITE_TIME, negotiate_plain, prefers_protobuf,
};

const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

/// The answer to a request.
pub type Response = http::Response<Body>;

/// How a client wants its answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Form {
    pub(crate) media_type: MediaType,
    pub(crate) is_pretty: bool,
}

impl Form {
    /// The form of an answer to a request whose type is negotiated (RE-13).
    pub(crate) fn of(request: &Request, accepted: &Accepted) -> Self {
        const PEOPLE: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];
        let agent = request.header("user-agent");
        let is_pretty = match request.query.text("pretty") {
            "" => PEOPLE.iter().any(|program| agent.starts_with(program)),
            pretty => matches!(pretty, "1" | "t" | "T" | "true" | "True" | "TRUE"),
        };
        Form { media_type: accepted.media_type, is_pretty: is_pretty || accepted.is_pretty }
    }

    /// The form of an answer to a client that accepts no existing form (RE-11).
    pub(crate) fn fallback() -> Self {
        Form { media_type: MediaType::Json, is_pretty: true }
    }

    /// The form of failures of a request, which have no other form than the plain one (RE-17).
    pub(crate) fn of_failures(request: &Request) -> Self {
        let accept = request.header("accept");
        if prefers_protobuf(accept) {
            return Form { media_type: MediaType::Protobuf, is_pretty: false };
        }
        let accepted = negotiate_plain(accept);
        accepted.map_or_else(Form::fallback, |accepted| Form::of(request, &accepted))
    }

    /// Answers with an object, given as compact JSON in the order of its kind.
    pub(crate) fn json(self, code: StatusCode, json: impl Into<Vec<u8>>) -> Response {
        let mut json: Vec<u8> = json.into();
        let text = match (self.media_type, self.is_pretty) {
            (MediaType::Yaml, _) => match read_json(&json) {
                Ok(document) => billhook_yaml::write_document(document.value()).into_bytes(),
                Err(error) => return self.status(&Status::internal_error(&error.to_string())),
            },
            (MediaType::Json, false) => {
                json.push(b'\n');
                json
            }
            (MediaType::Json, true) => indent_json(&String::from_utf8_lossy(&json)).into_bytes(),
            (MediaType::Protobuf, _) => {
                let object = read_json(&json).ok();
                let object = object.and_then(|object| protobuf::object(object.value(), record_of));
                return match object {
                    Some(object) => response(code, PROTOBUF, Body::whole(object)),
                    None => self.status(&Status::internal_error("no message for the object")),
                };
            }
        };
        self.text(code, Body::whole(text))
    }

    /// Answers with the status of a failure or a success.
    pub(crate) fn status(self, status: &Status) -> Response {
        self.status_with(status, "")
    }

    /// Answers with a failure that says where else a list can be continued (RE-58); protobuf does not
    /// say where.
    pub(crate) fn status_with(self, status: &Status, next: &str) -> Response {
        let mut response = match self.media_type {
            MediaType::Protobuf => {
                response(code_of(status), PROTOBUF, Body::whole(protobuf::status(status)))
            }
            _ => self.json(code_of(status), status_with(status, next)),
        };
        say_when_to_retry(&mut response, status);
        response.extensions_mut().insert(Told(status.clone()));
        response
    }

    /// Whether an answer is compact JSON as it is.
    pub(crate) fn is_compact_json(self) -> bool {
        self.media_type == MediaType::Json && !self.is_pretty
    }

    /// Answers with a text in this form.
    pub(crate) fn text(self, code: StatusCode, body: Body) -> Response {
        response(code, self.media_type.name(), body)
    }
}

/// A status, beside the answer that has it in some form.
#[derive(Clone)]
struct Told(Status);

/// Returns the status that an answer is, if it is one.
pub(crate) fn status_of(response: &Response) -> Option<&Status> {
    response.extensions().get().map(|Told(status)| status)
}

/// Returns the message of a failure; empty if the answer is none.
pub(crate) fn message_of(response: &Response) -> &str {
    let status = status_of(response).filter(|_| response.status().as_u16() >= 400);
    status.map_or("", |status| &status.message)
}

fn code_of(status: &Status) -> StatusCode {
    let code = u16::try_from(status.code).ok().filter(|code| *code != 0).unwrap_or(200);
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn say_when_to_retry(response: &mut Response, status: &Status) {
    let retry = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    if retry > 0 {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry));
    }
}

fn response(code: StatusCode, type_: &'static str, body: Body) -> Response {
    let mut response = http::Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(type_));
    response
}

/// Returns an answer as it is sent: with the headers that all have, compressed, and counted while it
/// is not read.
pub(crate) fn complete(request: &Request, response: Response, budget: &Budget) -> Response {
    // No document has this method (RE-05).
    let is_traced = request.method == Method::TRACE && response.status().is_success();
    let failed = |status: &Status| Form::of_failures(request).status(status);
    let mut response = if is_traced { failed(&not_allowed()) } else { response };
    compress(request, &mut response, budget);
    if let Err(status) = response.body_mut().hold(budget) {
        response = failed(&status);
    }
    complete_headers(request, &mut response);
    response
}

/// Adds the headers that all answers have (RE-15).
fn complete_headers(request: &Request, response: &mut Response) {
    let headers = response.headers_mut();
    let uncached = || HeaderValue::from_static("no-cache, private");
    headers.entry(header::CACHE_CONTROL).or_insert_with(uncached);
    headers.insert(AUDIT_ID, request.audit_id());
}

/// Compresses a large answer for a client that reads gzip (RE-15).
fn compress(request: &Request, response: &mut Response, budget: &Budget) {
    const LARGE: usize = 128 << 10;
    if response.status() == StatusCode::PARTIAL_CONTENT {
        return;
    }
    let mut accepted = request.header("accept-encoding").split(',');
    if !accepted.any(|encoding| encoding.trim() == "gzip") {
        return;
    }
    let Some(compressed) = response.body_mut().compressed(LARGE, budget) else { return };
    *response.body_mut() = compressed;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
}

/// A status as it is sent, its members in declared order (RE-14).
#[derive(Serialize)]
struct StatusObject<'s> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    metadata: StatusMetadata<'s>,
    #[serde(flatten)]
    status: &'s Status,
}

#[derive(Serialize)]
struct StatusMetadata<'s> {
    /// Where a list can be continued (RE-58).
    #[serde(rename = "continue", skip_serializing_if = "str::is_empty")]
    next: &'s str,
}

/// Prints a status.
pub(crate) fn status_json(status: &Status) -> String {
    status_with(status, "")
}

fn status_with(status: &Status, next: &str) -> String {
    let metadata = StatusMetadata { next };
    let object = StatusObject { kind: "Status", api_version: "v1", metadata, status };
    escape_html(&serde_json::to_string(&object).unwrap_or_default())
}

/// Returns a text as the value of a `Warning` header (RE-25).
pub(crate) fn warning(text: &str) -> String {
    let mut warnings = Warnings::default();
    warnings.add(text);
    warnings.headers().pop().unwrap_or_default()
}

/// The answer to a request whose time is over: a status without its type, unless it is a write,
/// which has less time than others and notices by itself (RE-22).
pub(crate) fn timed_out(request: &Request, time: Duration) -> Response {
    if request.writes_one() && time == WRITE_TIME {
        let mut status = Status::timeout();
        status.message += " - context deadline exceeded";
        return Form::of_failures(request).status(&status);
    }
    let status = status_json(&Status::request_timeout());
    let typeless = status.replacen(r#""kind":"Status","apiVersion":"v1","#, "", 1) + "\n";
    response(StatusCode::GATEWAY_TIMEOUT, PLAIN_TEXT, Body::whole(typeless))
}

/// The answer for a path that nothing is served at (RE-06).
pub(crate) fn plain_not_found() -> Response {
    let mut response = plain(StatusCode::NOT_FOUND, Body::whole("404 page not found\n"));
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

/// Answers with plain text.
pub(crate) fn plain(code: StatusCode, text: Body) -> Response {
    response(code, PLAIN_TEXT, text)
}
