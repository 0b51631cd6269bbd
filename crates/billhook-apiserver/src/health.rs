//! The health of the server (DT-31).

use billhook_apimachinery::print::quote;
use http::{HeaderValue, StatusCode, header};

use crate::answer::Body;
use crate::request::Request;
use crate::response::{Response, plain_not_found};
use crate::shared::Shared;

/// The checks of a server that is a part of a cluster. Here each is done before the first request is
/// answered.
const OF_CLUSTERS: [&str; 31] = [
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-wait-for-first-sync",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
];

/// Answers a request about the health of the server; `None` if the path is another one.
pub(crate) fn serve(server: &Shared, request: &Request, parts: &[&str]) -> Option<Response> {
    let [name @ ("healthz" | "livez" | "readyz"), check @ ..] = parts else { return None };
    let checks = checks(server, name);
    Some(match check.join("/") {
        check if check.is_empty() => health(request, name, &checks),
        check if checks.contains(&check.as_str()) => text(StatusCode::OK, "ok"),
        _ => plain_not_found(),
    })
}

/// The checks of a path, in their order.
fn checks(server: &Shared, name: &str) -> Vec<&'static str> {
    if !server.settings.bootstraps {
        return vec!["ping"];
    }
    let own: &[&str] = match name {
        "readyz" => &["ping", "log", "informer-sync"],
        "livez" => &["ping", "log", "etcd"],
        _ => &["ping", "log", "loopback-serving-certificate", "etcd"],
    };
    let mut checks = own.to_vec();
    checks.extend(OF_CLUSTERS);
    if name == "readyz" {
        checks.push("shutdown");
    }
    checks
}

fn health(request: &Request, name: &str, checks: &[&str]) -> Response {
    if request.query.get("verbose").is_none() {
        return text(StatusCode::OK, "ok");
    }
    let excluded: Vec<&str> = request.query.all("exclude").collect();
    let mut body = String::new();
    for check in checks {
        let is_excluded = if excluded.contains(check) { " excluded:" } else { "" };
        body += &format!("[+]{check}{is_excluded} ok\n");
    }
    let unknown = excluded.iter().filter(|check| !checks.contains(check));
    let unknown: Vec<String> = unknown.map(|check| quote(check)).collect();
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
