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
pub(crate) async fn serve(server: &Shared, request: &Request) -> Option<Response> {
    if request.objects.is_some() {
        return None;
    }
    let parts = request.parts()?;
    let [name @ ("healthz" | "livez" | "readyz"), check @ ..] = parts.as_slice() else {
        return None;
    };
    let failure = server.storage.check().await.err();
    let checks =
        Checks { names: checks(server, name), failing: failure.as_ref().map(|_| backend(server)) };
    Some(match (check.join("/"), failure) {
        (check, _) if check.is_empty() => health(request, name, &checks),
        (check, Some(failure)) if checks.fails(&check) => {
            let message = format!("internal server error: {failure}\n");
            text(StatusCode::INTERNAL_SERVER_ERROR, &message)
        }
        (check, _) if checks.names.contains(&&*check) => text(StatusCode::OK, "ok"),
        _ => plain_not_found(),
    })
}

/// The name of the check that asks the backend, which is that of the backend (ES-70).
fn backend(server: &Shared) -> &'static str {
    server.storage.backend_name().unwrap_or("etcd")
}

/// The checks of a path, in their order.
struct Checks {
    names: Vec<&'static str>,
    /// The check of the backend, if it fails.
    failing: Option<&'static str>,
}

impl Checks {
    fn fails(&self, check: &str) -> bool {
        self.failing == Some(check)
    }
}

fn checks(server: &Shared, name: &str) -> Vec<&'static str> {
    let has_backend = server.storage.backend_name().is_some();
    let own: &[&str] = match name {
        _ if !server.settings.bootstraps => &["ping"],
        "readyz" => &["ping", "log", "informer-sync"],
        "livez" => &["ping", "log"],
        _ => &["ping", "log", "loopback-serving-certificate"],
    };
    let mut checks = own.to_vec();
    if has_backend || (server.settings.bootstraps && name != "readyz") {
        checks.push(backend(server));
    }
    if server.settings.bootstraps {
        checks.extend(OF_CLUSTERS);
        if name == "readyz" {
            checks.push("shutdown");
        }
    }
    checks
}

fn health(request: &Request, name: &str, checks: &Checks) -> Response {
    let excluded: Vec<&str> = request.query.all("exclude").collect();
    let fails = checks.failing.is_some_and(|check| !excluded.contains(&check));
    let is_verbose = request.query.get("verbose").is_some();
    if !is_verbose && !fails {
        return text(StatusCode::OK, "ok");
    }
    let mut body = String::new();
    for check in &checks.names {
        body += &match (excluded.contains(check), checks.fails(check)) {
            (true, _) => format!("[+]{check} excluded: ok\n"),
            (false, true) => format!("[-]{check} failed: reason withheld\n"),
            (false, false) => format!("[+]{check} ok\n"),
        };
    }
    let unknown = excluded.iter().filter(|check| !checks.names.contains(check));
    let unknown: Vec<String> = unknown.map(|check| quote(check)).collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(",");
        body += &format!("warn: some health checks cannot be excluded: no matches for {unknown}\n");
    }
    match fails {
        true => text(StatusCode::INTERNAL_SERVER_ERROR, &(body + name + " check failed\n")),
        false => text(StatusCode::OK, &(body + name + " check passed\n")),
    }
}

fn text(code: StatusCode, body: &str) -> Response {
    let mut response = http::Response::new(Body::whole(body.to_owned()));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
