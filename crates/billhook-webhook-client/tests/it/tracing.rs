//! Spans and log events of calls (OB-50, OB-55, CX-52).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use billhook::webhook::{AdmissionAttributes, WebhookConfiguration};
use billhook::{CustomResourceDefinition, GroupVersionKind, GroupVersionResource};
use billhook_admission::{
    Admission, AdmissionResponse, AdmissionReview, BoxFuture, CallFailure, CallerError, Chain,
    ConversionCall, CustomResources, MemoryCluster, ObjectModel as _, ObjectRequest,
    RequestOptions, ReviewVersion, WebhookAnswer, WebhookCall, WebhookCaller,
};
use billhook_webhook_client::{HttpsCaller, TraceContext};
use serde_json::json;

use crate::conversion;
use crate::log::Log;

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
    let more = json!({"failurePolicy": "Ignore"});
    crate::hook::configuration(kind, &format!("c-{name}"), name, &more)
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
        Admission::new(definition, chain)
            .admit_blocking(&ObjectRequest::create("v1", body), &MemoryCluster::new())
    });
    let lines = log.lines();
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(lines) });
    assert!(!lines.contains("hidden"));
}

/// Converts, but slowly.
struct Slow;

impl WebhookCaller for Slow {
    fn call<'a>(&'a self, _: WebhookCall<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        Box::pin(async { Err(CallFailure::new("no admission here").into()) })
    }

    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        Box::pin(async move {
            std::thread::sleep(Duration::from_millis(60));
            let review = serde_json::from_slice(&call.review.to_json()).unwrap();
            let answer = conversion::good(&review).to_string();
            Ok(WebhookAnswer::new("application/json", answer))
        })
    }
}

/// CX-52.
#[test]
fn calls_of_conversion_webhooks_have_spans() {
    let definition = conversion::definition(&json!(["v1"]), &json!({"url": "https://h/convert"}));
    let model = CustomResources::new(definition).caller(Arc::new(Slow));
    let to = GroupVersionKind::new("example.com", "v2", "Foo");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let log = Log::default();
    let converted = tracing::subscriber::with_default(log.clone(), || {
        runtime.block_on(model.convert(&conversion::object("v1", "x"), &to))
    });
    assert!(converted.is_ok());
    let lines = log.lines();
    let (span, slow) = lines.split_once('\n').unwrap();
    assert_eq!(
        span,
        "span Call conversion webhook: custom-resource-definition=\"foos.example.com\" \
         desired-api-version=\"example.com/v2\" object-count=1 UID=…"
    );
    assert!(slow.starts_with("INFO A conversion webhook took long to answer millis="), "{slow}");
}

/// Over HTTPS: warnings in headers are logged and go no further (CL-60), and the context of the
/// trace is looked for inside the span of the call (OB-50).
#[test]
fn warnings_in_headers_are_logged() {
    let log = Log::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = tracing::subscriber::with_default(log.clone(), || {
        runtime.block_on(async {
            let server = crate::server::Server::start("127.0.0.1:0", &["localhost"], |received| {
                assert!(received.headers.contains_key("traceparent"));
                let review = AdmissionReview::from_slice(&received.body).unwrap();
                let response = AdmissionResponse::allow(&review.request.unwrap());
                let review = AdmissionReview::of_response(ReviewVersion::V1, response);
                let mut reply = crate::server::Reply::json(review.to_json());
                reply.headers.extend(WARNINGS.map(|value| ("warning".into(), value.to_owned())));
                Box::pin(std::future::ready(Some(reply)))
            });
            let server = server.await.unwrap();
            let mut configuration = configuration("Validating", "v");
            let client_config = &mut configuration.webhooks[0].client_config;
            client_config.url = Some(format!("https://localhost:{}", server.address().port()));
            client_config.ca_bundle = server.authority().ca_bundle.clone().into_bytes();
            let entered = Arc::clone(&log.entered);
            let caller = HttpsCaller::default().trace_context(move || {
                assert_eq!(entered.load(Ordering::Relaxed), 1);
                Some(TraceContext::new([1; 16], [1; 8], true))
            });
            let chain = Chain::new(caller).webhooks(&[configuration]);
            let object = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}});
            let request = AdmissionAttributes::create(
                GroupVersionKind::new("", "v1", "Node"),
                GroupVersionResource::new("", "v1", "nodes"),
                object,
            );
            chain
                .run(request, &MemoryCluster::new(), &RequestOptions::default(), |_, _| Ok(()))
                .await
        })
    });
    assert!(outcome.result.is_ok());
    assert!(outcome.warnings.raw().is_empty());
    let lines = log.lines.lock().unwrap();
    let logged: Vec<_> = lines.iter().filter(|line| line.contains("in a header")).collect();
    let expected =
        ["plain", "with \\\"quotes\\\"", "one", "two, three", "before trouble"].map(|text| {
            format!("WARN A webhook sent a warning in a header webhook=\"v\" warning=\"{text}\"")
        });
    assert_eq!(logged, expected.iter().collect::<Vec<_>>());
}

/// Values of `Warning` headers; only those with code 299 and a text are logged.
const WARNINGS: [&str; 8] = [
    r#"299 - "plain""#,
    r#"299 - "with \"quotes\"" "Sat, 21 Nov 2026 20:00:00 GMT""#,
    r#"299 - "one", 299 agent:1 "two, three""#,
    r#"199 - "of another code""#,
    r#"299 - """#,
    r#"299 - no quotes"#,
    r#"299 - "before trouble" ?, 299 - "behind it""#,
    r#"299 - "without end"#,
];
