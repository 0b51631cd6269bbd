//! A client of an API server of this process, for scenarios of one request.

use billhook_admission::now;
use billhook_apiserver::Server;
use billhook_decode::read_json;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower_service::Service as _;

use super::cluster::caller;
use super::pointer::text;
use super::request::{Request, user};

/// The plural of definitions.
pub(super) const DEFINITIONS: &str = "customresourcedefinitions";

/// A client, and its server.
pub(super) struct Client {
    server: Server,
}

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: u16,
    /// Of a watch the list of its events.
    pub(super) body: Value,
    pub(super) warnings: Vec<String>,
}

impl Client {
    pub(super) fn new() -> Self {
        // Ages in tables are those of objects that were just created.
        let now = now();
        let server = Server::builder().user(user()).webhooks(caller()).clock(move || now);
        Client { server: server.build() }
    }

    /// Creates an object before the request, with its status unless it is a definition.
    pub(super) async fn create(&self, object: &Value, plural: &str) -> Result<(), String> {
        let api_version = text(object, "/apiVersion");
        let namespace = text(object, "/metadata/namespace");
        let root = if api_version.contains('/') { "apis" } else { "api" };
        let collection = match namespace {
            "" => format!("/{root}/{api_version}/{plural}"),
            namespace => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
        };
        let body = |method, path: &str| {
            http::Request::builder().method(method).uri(path).body(object.to_string())
        };
        let created = self.call(body("POST", &collection)).await?;
        let mut statuses = vec![created.status];
        if object.get("status").is_some() && plural != DEFINITIONS {
            let path = format!("{collection}/{}/status", text(object, "/metadata/name"));
            let mut changed = object.clone();
            changed["metadata"]["resourceVersion"] =
                created.body["metadata"]["resourceVersion"].clone();
            let request = http::Request::put(&path).body(changed.to_string());
            statuses.push(self.call(request).await?.status);
        }
        if statuses.iter().all(|status| *status < 300) {
            return Ok(());
        }
        Err(format!("{collection}: {statuses:?} {}", created.body))
    }

    /// The revision of the object that a request is for, if its body names it.
    pub(super) async fn revision(&self, request: &Request) -> Result<String, String> {
        let Some(path) = request.revised() else { return Ok(String::new()) };
        let found = self.call(http::Request::get(path).body(String::new())).await?;
        Ok(text(&found.body, "/metadata/resourceVersion").to_owned())
    }

    /// Sends a request and reads its answer to the end.
    pub(super) async fn send(&self, request: &Request, revision: &str) -> Result<Answered, String> {
        self.call(Ok(request.to_http(revision)?)).await
    }

    async fn call(
        &self,
        request: Result<http::Request<String>, http::Error>,
    ) -> Result<Answered, String> {
        let request = request.map_err(|error| error.to_string())?;
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch="));
        let Ok(response) = self.server.clone().call(request).await;
        let (head, body) = response.into_parts();
        let Ok(bytes) = body.collect().await.map(|body| body.to_bytes());
        let parse =
            |text: &[u8]| read_json(text).map(|document| document.into_value().into_inner());
        let parse = |text: &[u8]| parse(text).map_err(|error| error.to_string());
        let body = match is_watch && head.status == 200 {
            true => bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(parse)
                .collect::<Result<_, _>>()?,
            false => parse(&bytes)?,
        };
        let warnings = head.headers.get_all("warning").iter();
        let warnings = warnings.filter_map(|value| warning(value.to_str().ok()?)).collect();
        Ok(Answered { status: head.status.as_u16(), body, warnings })
    }
}

/// The text of a header such as `299 - "text"`.
fn warning(header: &str) -> Option<String> {
    let quoted = header.strip_prefix("299 - \"")?.strip_suffix('"')?;
    Some(quoted.replace("\\\"", "\"").replace("\\\\", "\\"))
}
