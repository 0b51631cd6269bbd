//! Spans and log events of calls (OB-50, OB-55).

#![cfg(feature = "tracing")]
#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

#[path = "common/log.rs"]
mod log;

use billhook::CustomResourceDefinition;
use billhook::admission::{
    Admission, AdmissionResponse, AdmissionReview, BoxFuture, CallFailure, CallerError, Chain,
    ObjectRequest, ReviewVersion, WebhookAnswer, WebhookCall, WebhookCaller,
};
use billhook::webhook::WebhookConfiguration;
use log::Log;
use serde_json::json;

struct ByName;

impl WebhookCaller for ByName {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let request = call.review.request.as_ref().unwrap();
        let patch = json!([{"op": "add", "path": "/secret", "value": "hidden"}]);
        let response = match call.hook {
            "v" => AdmissionResponse::deny(request, "no"),
            "lost" => return Box::pin(async { Err(CallFailure::new("lost").into()) }),
            _ => AdmissionResponse::allow(request).patch(&patch),
        };
        let review = AdmissionReview::of_response(ReviewVersion::V1, response);
        Box::pin(std::future::ready(Ok(WebhookAnswer::of_review(&review))))
    }
}

fn configuration(kind: &str, name: &str) -> WebhookConfiguration {
    WebhookConfiguration::from_value(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": format!("c-{name}")},
        "webhooks": [{
            "name": name,
            "clientConfig": {"url": "https://unused"},
            "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
                "resources": ["*"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Ignore",
        }],
    }))
    .unwrap()
}

#[test]
fn calls_have_spans() {
    let definition = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}]},
    }))
    .unwrap();
    let configurations = [
        configuration("Mutating", "lost"),
        configuration("Mutating", "m"),
        configuration("Validating", "v"),
    ];
    let chain = Chain::new(ByName).webhooks(&configurations);
    let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}}"#;
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        Admission::new(definition, chain).admit_blocking(&ObjectRequest::create("v1", body))
    });
    let lines = log.lines();
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(lines) });
    assert!(!lines.contains("hidden"));
}
