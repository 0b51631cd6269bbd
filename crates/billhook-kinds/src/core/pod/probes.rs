//! Probes and the handlers of a container's life (BK-104).

use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{member, one_of_required, required};
use super::scope::Scope;
use crate::rules::{invalid, members_not_negative, port_or_name};
use crate::values::{integer, items, text, value_at};

const SEVERAL: &str = "may not specify more than 1 handler type";

const HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. \
    'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

/// The numbers of probes.
const NUMBERS: [&str; 5] = [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
];

/// The handlers and probes of a container that runs as long as the pod.
pub(super) fn validate(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    container: &Value,
    scope: &Scope<'_>,
) {
    for name in ["postStart", "preStop"] {
        let hook = value_at(container, &format!("/lifecycle/{name}"));
        if let Some(hook) = hook.filter(|hook| !hook.is_null()) {
            handler(errors, &path.clone().name("lifecycle").name(name), hook, scope.grace);
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(value) = member(container, name) {
            probe(errors, &path.clone().name(name), value, name == "readinessProbe", scope);
        }
    }
}

fn probe(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    probe: &Value,
    is_of_readiness: bool,
    scope: &Scope<'_>,
) {
    handler(errors, path, probe, scope.grace);
    members_not_negative(errors, path, probe, &NUMBERS);
    let grace = integer(probe, "/terminationGracePeriodSeconds");
    let at = path.clone().name("terminationGracePeriodSeconds");
    if let Some(seconds) = grace.filter(|seconds| *seconds <= 0) {
        invalid(errors, &at, seconds, ["must be greater than 0"]);
    }
    if is_of_readiness {
        if let Some(seconds) = grace {
            invalid(errors, &at, seconds, ["must not be set for readinessProbes"]);
        }
        return;
    }
    let threshold = integer(probe, "/successThreshold").unwrap_or_default();
    if threshold != 1 {
        invalid(errors, &path.clone().name("successThreshold"), threshold, ["must be 1"]);
    }
}

/// The one thing that is done.
fn handler(errors: &mut Vec<FieldError>, path: &FieldPath, handler: &Value, grace: i64) {
    let mut is_first = true;
    for kind in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let Some(action) = member(handler, kind) else { continue };
        let path = path.clone().name(kind);
        if !std::mem::take(&mut is_first) {
            errors.push(FieldError::forbidden(path, SEVERAL));
            continue;
        }
        match kind {
            "exec" => {
                if items(action, "/command").is_empty() {
                    errors.push(FieldError::required(path.name("command"), ""));
                }
            }
            "httpGet" => http_request(errors, &path, action),
            "sleep" => sleep(errors, &path, action, grace),
            _ => port(errors, &path, action),
        }
    }
    if is_first {
        errors.push(FieldError::required(path.clone(), "must specify a handler type"));
    }
}

fn http_request(errors: &mut Vec<FieldError>, path: &FieldPath, request: &Value) {
    required(errors, path, request, "path");
    port(errors, path, request);
    one_of_required(errors, path, request, "scheme", &["HTTP", "HTTPS"]);
    for header in items(request, "/httpHeaders") {
        let name = text(header, "/name");
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if name.is_empty() || !name.chars().all(is_name) {
            invalid(errors, &path.clone().name("httpHeaders"), name, [HEADER]);
        }
    }
}

fn port(errors: &mut Vec<FieldError>, path: &FieldPath, action: &Value) {
    let port = action.get("port").cloned().unwrap_or_else(|| 0.into());
    port_or_name(errors, &path.clone().name("port"), &port);
}

fn sleep(errors: &mut Vec<FieldError>, path: &FieldPath, action: &Value, grace: i64) {
    let seconds = integer(action, "/seconds").unwrap_or_default();
    if seconds < 0 || seconds > grace {
        let detail =
            format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        invalid(errors, path, seconds, [detail]);
    }
}
