//! The version of the server, its health and its paths (DT-30 to DT-32).

use billhook_apimachinery::print::compact_json;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::catalog::Catalog;
use crate::discovery;
use crate::request::Request;
use crate::response::{Body, Form, Response, plain_not_found};
use crate::state::Shared;

const PATHS: [&str; 12] = [
    "/api",
    "/api/v1",
    "/apis",
    "/healthz",
    "/healthz/ping",
    "/livez",
    "/livez/ping",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/readyz/ping",
    "/version",
];

/// The minor version of Kubernetes whose behavior is served.
const MINOR: &str = "36";

/// Answers a request about the server; `None` if the path is another one.
pub(crate) fn serve(server: &Shared, request: &Request, parts: &[&str]) -> Option<Response> {
    Some(match parts {
        [] | [""] => indented(&paths(&server.catalog())),
        ["version"] => indented(&version()),
        [name @ ("healthz" | "livez" | "readyz")] => health(request, name),
        ["healthz" | "livez" | "readyz", "ping"] => text(StatusCode::OK, "ok"),
        ["healthz" | "livez" | "readyz", ..] => plain_not_found(),
        _ => return None,
    })
}

fn indented(document: &str) -> Response {
    Form::fallback().json(StatusCode::OK, document)
}

fn paths(catalog: &Catalog) -> String {
    let mut paths = discovery::paths(catalog);
    paths.extend(PATHS.map(str::to_owned));
    paths.sort();
    compact_json(&json!({ "paths": paths }))
}

fn version() -> String {
    let own = env!("CARGO_PKG_VERSION");
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    format!(
        r#"{{"major":"1","minor":"{MINOR}","emulationMajor":"1","emulationMinor":"{MINOR}","minCompatibilityMajor":"1","minCompatibilityMinor":"35","gitVersion":"v1.{MINOR}.3+billhook-{own}","gitCommit":"","gitTreeState":"clean","buildDate":"","goVersion":"","compiler":"rustc","platform":"{platform}"}}"#
    )
}

fn health(request: &Request, name: &str) -> Response {
    if request.query.get("verbose").is_none() {
        return text(StatusCode::OK, "ok");
    }
    let excluded: Vec<&str> = request.query.all("exclude").collect();
    let ping = if excluded.contains(&"ping") { "[+]ping excluded: ok" } else { "[+]ping ok" };
    let mut body = format!("{ping}\n");
    let unknown = excluded.iter().filter(|check| **check != "ping");
    let unknown: Vec<String> = unknown.map(|check| format!("{check:?}")).collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(",");
        body += &format!("warn: some health checks cannot be excluded: no matches for {unknown}\n");
    }
    text(StatusCode::OK, &(body + name + " check passed\n"))
}

fn text(code: StatusCode, body: &str) -> Response {
    let mut response = http::Response::new(Body::whole(body.to_owned()));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
