//! What the example's webhooks do, by path, and how they misbehave on request.

use std::time::Duration;

use billhook::admission::{AdmissionRequest, AdmissionResponse, AdmissionReview, ReviewVersion};
use serde_json::{Value, json};

use crate::server::{Received, Reply};

/// The annotation that the mutating webhook sets.
const ANNOTATION: &str = "example.com/reviewed-by";
/// The label that the validating webhook refuses.
const DENIED_LABEL: &str = "example.com/denied";

/// Answers one request.
///
/// `/mutate` sets an annotation, `/deny` refuses objects with a label, `/allow` does neither.
/// Behind a colon the path may ask for trouble: `/mutate:slow-3` answers after three seconds,
/// `:never` not at all, `:uid` with another UID, `:garbage` with something else than JSON,
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
            let elsewhere = vec![("location", "https://elsewhere.example.com/".to_owned())];
            return Some(Reply::new(307, elsewhere, ""));
        }
        "huge" => {
            let times = 1600;
            return Some(Reply { times, ..Reply::json(vec![b' '; 64 * 1024]) });
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
        "/deny" => deny(&request),
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

fn deny(request: &AdmissionRequest) -> AdmissionResponse {
    let object = request.object.as_ref().or(request.old_object.as_ref());
    let label = object.and_then(|object| object.get("metadata")?.get("labels")?.get(DENIED_LABEL));
    match label.and_then(Value::as_str) {
        Some(why) => AdmissionResponse::deny(request, &format!("the label says: {why}")),
        None => AdmissionResponse::allow(request),
    }
}
