//! A client of a server in this process: requests, and streams that stay open.

use std::pin::Pin;
use std::time::Duration;

use billhook_apiserver::{Body, Response, Server};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::Value;
use tower_service::Service as _;

use super::placeholders::Bindings;
use super::scenario::Request;

/// The headers of all requests that do not name them.
const HEADERS: [(&str, &str); 2] =
    [("User-Agent", "billhook-conformance/1.0"), ("Accept", "application/json")];

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Sends a request and reads the whole answer.
pub(super) async fn send(
    server: &Server,
    request: &Request,
    bindings: &Bindings,
) -> Result<Answer, String> {
    let (parts, body) = call(server, request, bindings).await?.into_parts();
    let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
    Ok(Answer { code: parts.status, headers: parts.headers, body })
}

async fn call(server: &Server, request: &Request, bindings: &Bindings) -> Result<Response, String> {
    let method = request.method.as_deref().unwrap_or("GET");
    let method = Method::from_bytes(method.as_bytes()).map_err(|error| error.to_string())?;
    let body = request.body(bindings);
    let mut builder = http::Request::builder().method(&method).uri(bindings.in_path(&request.path));
    let json = ("Content-Type", "application/json");
    for (name, value) in HEADERS.into_iter().chain(body.is_some().then_some(json)) {
        if !request.headers.keys().any(|other| other.eq_ignore_ascii_case(name)) {
            builder = builder.header(name, value);
        }
    }
    for (name, value) in &request.headers {
        if let Some(value) = value {
            builder = builder.header(name, bindings.in_text(value));
        }
    }
    if body.is_none() && [Method::POST, Method::PUT, Method::PATCH].contains(&method) {
        builder = builder.header("Content-Length", "0");
    }
    let body = Full::new(Bytes::from(body.unwrap_or_default()));
    let request = builder.body(body).map_err(|error| error.to_string())?;
    let Ok(response) = server.clone().call(request).await;
    Ok(response)
}

/// A stream of lines.
#[derive(Debug)]
pub(super) struct Stream {
    body: Pin<Box<Body>>,
    /// The bytes that were read and not yet asked for.
    text: Vec<u8>,
    is_over: bool,
}

impl Stream {
    /// Begins a stream. Returns its answer without a body.
    pub(super) async fn begin(
        server: &Server,
        request: &Request,
        bindings: &Bindings,
    ) -> Result<(Answer, Self), String> {
        let (parts, body) = call(server, request, bindings).await?.into_parts();
        let answer = Answer { code: parts.status, headers: parts.headers, body: Bytes::new() };
        Ok((answer, Stream { body: Box::pin(body), text: Vec::new(), is_over: false }))
    }

    /// Waits for the next line that is not a mere bookmark; none if none comes in time.
    pub(super) async fn line(&mut self, time: Duration) -> Result<Option<Value>, String> {
        let end = tokio::time::Instant::now() + time;
        loop {
            while let Some(place) = self.text.iter().position(|byte| *byte == b'\n') {
                let rest = self.text.split_off(place + 1);
                let line = std::mem::replace(&mut self.text, rest);
                let line: Value =
                    serde_json::from_slice(&line).map_err(|error| error.to_string())?;
                if !is_progress(&line) {
                    return Ok(Some(line));
                }
            }
            let frame = match tokio::time::timeout_at(end, self.body.frame()).await {
                Err(_) => return Ok(None),
                Ok(None) => {
                    self.is_over = true;
                    return Ok(None);
                }
                Ok(Some(Ok(frame))) => frame,
            };
            if let Ok(data) = frame.into_data() {
                self.text.extend_from_slice(&data);
            }
        }
    }

    /// Whether the server ended it.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Bookmarks may come at any time, except for those that end the initial events.
fn is_progress(line: &Value) -> bool {
    let object = line.get("object").unwrap_or(&Value::Null);
    // A table has the object in its row.
    let is_end =
        [object, object.pointer("/rows/0/object").unwrap_or(&Value::Null)].iter().any(|it| {
            let end = it.pointer("/metadata/annotations/k8s.io~1initial-events-end");
            end.is_some_and(|end| end == "true")
        });
    line.get("type").is_some_and(|kind| kind == "BOOKMARK") && !is_end
}
