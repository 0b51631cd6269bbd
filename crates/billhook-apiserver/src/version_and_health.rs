//! The version of the server, its health and its paths (DT-30 to DT-32).

use billhook::KubernetesVersion;
use billhook_apimachinery::print::compact_json;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::answer::Body;
use crate::discovery;
use crate::edition::EDITIONS;
use crate::presence::Presence;
use crate::request::Request;
use crate::response::{Form, Response};
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
        [] | [""] => indented(&paths(server)),
        ["metrics"] => return Some(metrics(server.settings.measures.as_ref()?.text())),
        ["version"] => indented(&version(server.settings.kubernetes)),
        ["openid", "v1", "jwks"] => {
            document("application/jwk-set+json", &server.settings.tokens.key_set())
        }
        [".well-known", "openid-configuration"] => {
            let presence = server.settings.presence.as_ref().map(Presence::address);
            let advertised = presence.filter(|address| !address.ip().is_unspecified());
            let advertised = advertised.map(|address| address.to_string());
            let address = advertised.as_deref().unwrap_or_else(|| request.header("host"));
            let configuration = server.settings.tokens.configuration(address);
            return configuration.map(|it| document("application/json", &it));
        }
        _ => return None,
    })
}

/// Answers with a document of those who verify tokens (ET-34).
fn document(type_: &'static str, document: &Value) -> Response {
    let mut response = http::Response::new(Body::whole(compact_json(document)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(type_));
    response
}

fn indented(document: &str) -> Response {
    Form::fallback().json(StatusCode::OK, document)
}

/// Answers with metrics in the text format of Prometheus.
fn metrics(text: String) -> Response {
    let mut response = http::Response::new(Body::whole(text));
    let type_ = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, type_);
    response
}

fn paths(server: &Shared) -> String {
    let mut paths = discovery::paths(&server.catalog());
    paths.extend(PATHS.map(str::to_owned));
    paths.extend(server.settings.measures.is_some().then(|| "/metrics".to_owned()));
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
    let release = git_version(kubernetes);
    let (system, architecture) = platform();
    format!(
        r#"{{"major":"1","minor":"{own}",{emulated}"gitVersion":"{release}","gitCommit":"","gitTreeState":"clean","buildDate":"","goVersion":"","compiler":"rustc","platform":"{system}/{architecture}"}}"#
    )
}

/// Returns what a server of a version calls itself (DT-30).
///
/// ```
/// use billhook_apimachinery::KubernetesVersion;
///
/// assert!(billhook_apiserver::git_version(KubernetesVersion::V1_36).starts_with("v1.36."));
/// ```
pub fn git_version(kubernetes: KubernetesVersion) -> String {
    let patch = EDITIONS.of(kubernetes).patch;
    format!("v{kubernetes}.{patch}+billhook-{}", env!("CARGO_PKG_VERSION"))
}

/// Returns the system and the architecture of this program, by the names that Go has for them.
///
/// ```
/// let (system, architecture) = billhook_apiserver::platform();
/// assert!(!system.is_empty() && architecture != "x86_64");
/// ```
pub fn platform() -> (&'static str, &'static str) {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        system => system,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        "powerpc64" => "ppc64le",
        architecture => architecture,
    };
    (system, architecture)
}
