//! The version of the server, its health and its paths (DT-30 to DT-32).

use billhook::KubernetesVersion;
use billhook_apimachinery::print::compact_json;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::answer::Body;
use crate::discovery;
use crate::edition::EDITIONS;
use crate::request::Request;
use crate::resources::Catalog;
use crate::response::{Form, Response, plain_not_found};
use crate::shared::Shared;

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

/// Answers a request about the server; `None` if the path is another one.
pub(crate) fn serve(server: &Shared, request: &Request, parts: &[&str]) -> Option<Response> {
    Some(match parts {
        [] | [""] => indented(&paths(&server.catalog())),
        ["version"] => indented(&version(server.settings.kubernetes)),
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

fn version(kubernetes: KubernetesVersion) -> String {
    let edition = EDITIONS.of(kubernetes);
    let minor = |version: KubernetesVersion| version.as_str().trim_start_matches("1.");
    let own = minor(kubernetes);
    let older = KubernetesVersion::ALL.into_iter().take_while(|older| *older < kubernetes);
    let compatible = older.last().filter(|_| edition.tells_compatibility);
    let emulated = compatible.map_or_else(String::new, |compatible| {
        let compatible = minor(compatible);
        format!(
            r#""emulationMajor":"1","emulationMinor":"{own}","minCompatibilityMajor":"1","minCompatibilityMinor":"{compatible}","#
        )
    });
    let release = format!("{kubernetes}.{}+billhook-{}", edition.patch, env!("CARGO_PKG_VERSION"));
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    format!(
        r#"{{"major":"1","minor":"{own}",{emulated}"gitVersion":"v{release}","gitCommit":"","gitTreeState":"clean","buildDate":"","goVersion":"","compiler":"rustc","platform":"{platform}"}}"#
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
