//! The actions of the example's webhooks, by path, and their misbehavior on request.

use std::time::Duration;

use billhook::Status;
use billhook::webhook::Operation;
use billhook_admission::{AdmissionRequest, AdmissionResponse, AdmissionReview, ReviewVersion};
use serde_json::{Value, json};

use crate::server::{Received, Reply};

/// The annotation that the mutating webhook sets.
const ANNOTATION: &str = "example.com/reviewed-by";
/// The label that the validating webhook refuses.
const DENIED_LABEL: &str = "example.com/denied";

/// Answers one request.
///
/// `/mutate` sets an annotation, `/inject` adds a sidecar to the containers, `/stages` writes to the
/// data of a ConfigMap what the next call continues; `/deny` refuses objects with a label,
/// `/deny-all` everything, `/deny-connect` connections; `/echo` gives the annotations of the object
/// back as warnings and for the audit log; `/allow` does nothing. Behind a colon the path may ask for trouble: `/mutate:slow-3` answers after three seconds,
/// `:never` not at all, `:uid` with another UID, `:version` in the other version, `:garbage` with something else than JSON,
/// `:redirect` with a redirection, `:huge` with 100 MB, `:half` with half an answer, `:close`
/// closes the connection.
pub(crate) async fn answer(received: Received) -> Option<Reply> {
    let (webhook, trouble) = received.path.split_once(':').unwrap_or((&received.path, ""));
    let Some(mut review) = review(webhook, &received.body) else {
        return Some(Reply::new(400, vec![("content-type", "text/plain".to_owned())], "no review"));
    };
    match trouble {
        "never" => std::future::pending().await,
        "close" => return None,
        "garbage" => return Some(Reply::json("this is no review")),
        "redirect" => {
            let elsewhere = vec![("location", "https://127.0.0.1:1/".to_owned())];
            return Some(Reply::new(307, elsewhere, ""));
        }
        "huge" => {
            let times = 1600;
            return Some(Reply { times, ..Reply::json(vec![b' '; 64 * 1024]) });
        }
        "version" => {
            let sent = review.version().unwrap_or(ReviewVersion::V1);
            let other = match sent {
                ReviewVersion::V1 => ReviewVersion::V1beta1,
                _ => ReviewVersion::V1,
            };
            review.api_version = other.api_version();
        }
        "uid" => {
            if let Some(response) = &mut review.response {
                response.uid = "00000000-0000-0000-0000-000000000000".to_owned();
            }
        }
        other => {
            if let Some(seconds) = other.strip_prefix("slow-").and_then(|text| text.parse().ok()) {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
            }
        }
    }
    let mut body = review.to_json();
    let is_cut = trouble == "half";
    if is_cut {
        body.truncate(body.len() / 2);
    }
    Some(Reply { is_cut, ..Reply::json(body) })
}

/// The review that answers the one in a body; none if there is no request in it.
fn review(webhook: &str, body: &[u8]) -> Option<AdmissionReview> {
    let review = AdmissionReview::from_slice(body).ok()?;
    let version = review.version().unwrap_or(ReviewVersion::V1);
    let request = review.request?;
    let response = match webhook {
        "/mutate" => mutate(&request),
        "/inject" => inject(&request),
        "/stages" => stages(&request),
        "/deny" => deny(&request),
        "/deny-all" => AdmissionResponse::deny(&request, "nothing is let through"),
        "/deny-connect" if request.operation == Operation::Connect => {
            let message = format!("{} is not for you", request.sub_resource);
            AdmissionResponse::deny_with(&request, Status::failure(403, "Forbidden", message))
        }
        "/echo" => echo(&request),
        _ => AdmissionResponse::allow(&request),
    };
    Some(AdmissionReview::of_response(version, response))
}

fn mutate(request: &AdmissionRequest) -> AdmissionResponse {
    let response = AdmissionResponse::allow(request);
    let Some(object) = &request.object else { return response };
    let annotations = object.get("metadata").and_then(|metadata| metadata.get("annotations"));
    if annotations.and_then(|annotations| annotations.get(ANNOTATION)).is_some() {
        return response;
    }
    let mut operations = Vec::new();
    if !annotations.is_some_and(Value::is_object) {
        operations.push(json!({"op": "add", "path": "/metadata/annotations", "value": {}}));
    }
    let path = format!("/metadata/annotations/{}", ANNOTATION.replace('/', "~1"));
    operations.push(json!({"op": "add", "path": path, "value": "webhook_server"}));
    response.patch(&operations.into())
}

/// Adds a container beside those that a pod, or a template of pods, has already.
fn inject(request: &AdmissionRequest) -> AdmissionResponse {
    let response = AdmissionResponse::allow(request);
    let Some(object) = &request.object else { return response };
    for path in ["/spec/containers", "/spec/template/spec/containers"] {
        let Some(Value::Array(containers)) = object.pointer(path) else { continue };
        let sidecar = json!({"name": "sidecar", "image": "registry.example.com/sidecar:1"});
        if containers.iter().any(|container| container.get("name") == sidecar.get("name")) {
            return response;
        }
        let operation = json!({"op": "add", "path": format!("{path}/-"), "value": sidecar});
        return response.patch(&json!([operation]));
    }
    response
}

/// Data that starts with `stage-1` goes on with `stage-2`, and that with `stage-3`; each
/// call makes one step.
fn stages(request: &AdmissionRequest) -> AdmissionResponse {
    let response = AdmissionResponse::allow(request);
    let data = request.object.as_ref().and_then(|object| object.get("data"));
    let has = |stage: u8| data.is_some_and(|data| data.get(format!("stage-{stage}")).is_some());
    let next = (2..=3).find(|stage| has(stage - 1) && !has(*stage));
    let Some(next) = next else { return response };
    let path = format!("/data/stage-{next}");
    response.patch(&json!([{"op": "add", "path": path, "value": "yes"}]))
}

/// Returns the annotations of an object.
fn echo(request: &AdmissionRequest) -> AdmissionResponse {
    let object = request.object.as_ref().or(request.old_object.as_ref());
    let annotations = object.and_then(|object| object.pointer("/metadata/annotations"));
    let pairs = annotations.and_then(Value::as_object).into_iter().flatten();
    pairs.fold(AdmissionResponse::allow(request), |response, (key, value)| {
        let value = value.as_str().unwrap_or_default();
        response.warning(format!("{key} is {value}")).audit_annotation(key, value)
    })
}

fn deny(request: &AdmissionRequest) -> AdmissionResponse {
    let object = request.object.as_ref().or(request.old_object.as_ref());
    let label = object.and_then(|object| object.get("metadata")?.get("labels")?.get(DENIED_LABEL));
    match label.and_then(Value::as_str) {
        Some(why) => AdmissionResponse::deny(request, &format!("the label says: {why}")),
        None => AdmissionResponse::allow(request),
    }
}
