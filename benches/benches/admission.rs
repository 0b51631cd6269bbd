//! The cost of the admission chain itself, stage by stage: webhooks answer at once, in the same
//! process.

use std::hint::black_box;
use std::task::{Context, Poll, Waker};

use billhook::CustomResourceDefinition;
use billhook::webhook::{AdmissionAttributes, NamespaceLabels, WebhookConfiguration};
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::{
    Admission, AdmissionResponse, AdmissionReview, BoxFuture, CallerError, Chain, JsonPatch,
    MemoryCluster, ObjectRequest, RequestOptions, ReviewVersion, WebhookAnswer, WebhookCall,
    WebhookCaller,
};
use billhook_policy::{PolicyDocument, PolicySet};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};

/// Allows everything; mutating webhooks set a field to a constant, so that none is called again.
struct AtOnce;

impl WebhookCaller for AtOnce {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let request = call.review.request.unwrap_or_default();
        let mut response = AdmissionResponse::allow(&request);
        if call.hook.starts_with("mutate") {
            response = response.patch(&json!([{"op": "add", "path": "/spec/set", "value": "x"}]));
        }
        let review = AdmissionReview::of_response(ReviewVersion::V1, response);
        Box::pin(std::future::ready(Ok(WebhookAnswer::of_review(&review))))
    }
}

fn object() -> Value {
    let items: Vec<Value> = (0..100)
        .map(|number| json!({"name": format!("item-{number}"), "value": number, "on": true}))
        .collect();
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": "x", "namespace": "default", "labels": {"app": "x"}},
        "spec": {"items": items, "text": "x".repeat(1000)},
    })
}

fn configuration(kind: &str, count: usize) -> WebhookConfiguration {
    let name = if kind == "Mutating" { "mutate" } else { "validate" };
    let webhooks: Vec<Value> = (0..count)
        .map(|number| {
            json!({
                "name": format!("{name}-{number}.example.com"),
                "clientConfig": {"url": "https://unused"},
                "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
                    "resources": ["*"]}],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            })
        })
        .collect();
    WebhookConfiguration::from_value(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": name},
        "webhooks": webhooks,
    }))
    .expect("the configuration is readable")
}

fn chain(mutating: usize, validating: usize) -> Chain {
    let configurations =
        [configuration("Mutating", mutating), configuration("Validating", validating)];
    Chain::new(AtOnce).webhooks(&configurations)
}

/// The cluster around requests: a namespace without labels.
fn cluster() -> MemoryCluster {
    MemoryCluster::new().with_namespace("default", NamespaceLabels::new())
}

/// Polls a future that never waits.
fn at_once<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing waits"),
    }
}

fn patches(criterion: &mut Criterion) {
    let object = object();
    let text = br#"[{"op": "test", "path": "/kind", "value": "Foo"},
        {"op": "add", "path": "/metadata/labels/a", "value": "b"},
        {"op": "remove", "path": "/spec/items/0"}]"#;
    let patch = JsonPatch::from_slice(text).expect("the patch is readable");
    let mut group = criterion.benchmark_group("admission");
    group.bench_function("patch: read", |bencher| {
        bencher.iter(|| JsonPatch::from_slice(black_box(text)));
    });
    group.bench_function("patch: apply three operations", |bencher| {
        bencher.iter(|| patch.apply(black_box(&object)));
    });
    group.finish();
}

fn request() -> AdmissionAttributes {
    AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Foo"),
        GroupVersionResource::new("example.com", "v1", "foos"),
        object(),
    )
}

fn stages(criterion: &mut Criterion) {
    let (request, cluster, options) = (request(), cluster(), RequestOptions::default());
    let mut group = criterion.benchmark_group("admission");
    for (name, mutating, validating) in [
        ("chain: no webhook", 0, 0),
        ("chain: 10 mutating webhooks", 10, 0),
        ("chain: 10 validating webhooks", 0, 10),
        ("chain: 200 validating webhooks", 0, 200),
    ] {
        let chain = chain(mutating, validating);
        group.bench_function(name, |bencher| {
            bencher.iter(|| at_once(chain.run(request.clone(), &cluster, &options, |_, _| Ok(()))));
        });
    }
    group.finish();
}

/// Policies for all resources.
fn policies(count: usize) -> PolicySet {
    let rule = |_| {
        json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
            "resources": ["*"]})
    };
    let validations = [
        "size(object.spec.text) <= 1000",
        "has(object.metadata.labels) && 'app' in object.metadata.labels",
        "object.metadata.name != 'forbidden'",
    ];
    let documents = billhook_benches::policies::policies(count, rule, validations);
    PolicySet::new(documents.map(|it| PolicyDocument::from_value(&it).expect("it is readable")))
}

/// Policies beside as many webhooks: what both add to a chain without any is to be compared.
fn beside_webhooks(criterion: &mut Criterion) {
    let (request, cluster, options) = (request(), cluster(), RequestOptions::default());
    let mut group = criterion.benchmark_group("a request through");
    for (name, chain) in [
        ("nothing", chain(0, 0)),
        ("100 validating webhooks", chain(0, 100)),
        ("100 policies of three validations", chain(0, 0).policies(policies(100))),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let outcome =
                    at_once(chain.run(request.clone(), &cluster, &options, |_, _| Ok(())));
                assert!(outcome.result.is_ok(), "{:?}", outcome.result);
                outcome
            });
        });
    }
    group.finish();
}

fn whole(criterion: &mut Criterion) {
    let definition = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}}}]},
    }))
    .expect("the definition is readable");
    let body = object().to_string();
    let (request, cluster) = (ObjectRequest::create("v1", body.as_bytes()), cluster());
    let mut group = criterion.benchmark_group("admission");
    for (name, webhooks) in [("whole create: no webhook", 0), ("whole create: 1 + 1 webhooks", 1)] {
        let admission = Admission::new(definition.clone(), chain(webhooks, webhooks));
        group.bench_function(name, |bencher| {
            bencher.iter(|| at_once(admission.admit(black_box(&request), &cluster)));
        });
    }
    group.finish();
}

criterion_group!(benches, patches, stages, beside_webhooks, whole);
criterion_main!(benches);
