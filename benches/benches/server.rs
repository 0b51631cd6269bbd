//! The API server in process: a request from its first byte to the last one of its answer, beside
//! the work of `serde_json` on an object of the same size.

use std::hint::black_box;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use billhook_apiserver::{Body, Server};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use http::{Method, Request};
use http_body::Body as _;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower_service::Service as _;

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Keeps the time; nothing runs in it by itself.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_current_thread().enable_time().build().expect("a runtime can be built")
});

/// Polls a future that never waits.
fn at_once<F: Future>(future: F) -> F::Output {
    let _guard = RUNTIME.enter();
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing waits"),
    }
}

fn definition(plural: &str) -> Value {
    let kind = format!("Foo{}", plural.trim_start_matches("foos"));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "listKind": format!("{kind}List")},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
                    "type": "object", "properties": {
                        "size": {"type": "integer", "default": 1},
                        "text": {"type": "string"},
                        "items": {"type": "array", "items": {"type": "object", "properties": {
                            "name": {"type": "string"}, "value": {"type": "integer"}}}}}}}}}}]},
    })
}

/// An object of one kilobyte.
fn object(name: &str) -> Value {
    let items: Vec<Value> =
        (0..16).map(|number| json!({"name": format!("item-{number}"), "value": number})).collect();
    json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": name, "labels": {"app": "x"}},
        "spec": {"items": items, "text": "x".repeat(340)}})
}

fn server() -> Server {
    Server::builder().definition(&definition("foos")).expect("a definition").build()
}

/// A server with so many objects.
fn filled(count: usize) -> Server {
    let server = server();
    for number in 0..count {
        let body = object(&format!("foo-{number:07}")).to_string();
        assert_eq!(call(&server, Method::POST, FOOS, body), 201);
    }
    server
}

fn send(server: &Server, method: Method, path: &str, body: String) -> http::Response<Body> {
    let request = Request::builder().method(method).uri(path).body(body).expect("a request");
    at_once(server.clone().call(request)).expect("an answer")
}

/// Reads the whole answer; returns its code.
fn call(server: &Server, method: Method, path: &str, body: String) -> u16 {
    let (parts, body) = send(server, method, path, body).into_parts();
    let mut body = std::pin::pin!(body);
    while let Some(frame) =
        at_once(std::future::poll_fn(|context| body.as_mut().poll_frame(context)))
    {
        black_box(frame.ok());
    }
    parts.status.as_u16()
}

fn watch(server: &Server, plural: &str) -> Body {
    let path = format!("/apis/example.com/v1/namespaces/default/{plural}?watch=1&resourceVersion=");
    let path = format!("{path}{}", revision(server));
    send(server, Method::GET, &path, String::new()).into_body()
}

/// The newest revision, as a list tells it.
fn revision(server: &Server) -> String {
    let body = send(server, Method::GET, &format!("{FOOS}?limit=1"), String::new()).into_body();
    let mut body = std::pin::pin!(body);
    let frame = at_once(std::future::poll_fn(|context| body.as_mut().poll_frame(context)));
    let bytes = frame.expect("a frame").expect("no error").into_data().expect("data");
    let list: Value = serde_json::from_slice(&bytes).expect("a list");
    list["metadata"]["resourceVersion"].as_str().expect("a revision").to_owned()
}

/// Whether a watch has an event now.
fn has_event(watch: &mut Body) -> bool {
    let _guard = RUNTIME.enter();
    let mut context = Context::from_waker(Waker::noop());
    std::pin::Pin::new(watch).poll_frame(&mut context).is_ready()
}

fn yardsticks(criterion: &mut Criterion) {
    let text = object("a").to_string();
    let value: Value = object("a");
    let mut group = criterion.benchmark_group("server: serde_json beside it");
    group.bench_function("read 1 KB", |bencher| {
        bencher.iter(|| serde_json::from_str::<Value>(black_box(&text)));
    });
    group.bench_function("write 1 KB", |bencher| {
        bencher.iter(|| serde_json::to_string(black_box(&value)));
    });
    let many: Vec<Value> = (0..1000).map(|number| object(&format!("foo-{number}"))).collect();
    group.bench_function("write 1,000 of 1 KB", |bencher| {
        bencher.iter(|| serde_json::to_string(black_box(&many)));
    });
    group.finish();
}

fn start(criterion: &mut Criterion) {
    let document = definition("foos");
    let mut group = criterion.benchmark_group("server");
    group.bench_function("start with a definition", |bencher| {
        bencher.iter(|| Server::builder().definition(&document).expect("a definition").build());
    });
    let body = document.to_string();
    group.bench_function("create a definition", |bencher| {
        let server = Server::builder().build();
        bencher.iter_batched(
            || server.fork(),
            |server| assert_eq!(call(&server, Method::POST, DEFINITIONS, body.clone()), 201),
            BatchSize::SmallInput,
        );
    });
    let thousand = filled(1000);
    group.bench_function("fork", |bencher| bencher.iter(|| thousand.fork()));
    group.finish();
}

fn objects(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("server");
    let create = object("new").to_string();
    for count in [0, 1000, 30_000] {
        let server = filled(count);
        group.bench_function(format!("create 1 KB beside {count}"), |bencher| {
            bencher.iter_batched_ref(
                || (server.fork(), create.clone()),
                |(server, body)| {
                    assert_eq!(call(server, Method::POST, FOOS, std::mem::take(body)), 201);
                },
                BatchSize::SmallInput,
            );
        });
    }
    let server = filled(1000);
    let one = format!("{FOOS}/foo-0000500");
    group.bench_function("get 1 KB", |bencher| {
        bencher.iter(|| assert_eq!(call(&server, Method::GET, &one, String::new()), 200));
    });
    group.bench_function("list 1,000 of 1 KB", |bencher| {
        bencher.iter(|| assert_eq!(call(&server, Method::GET, FOOS, String::new()), 200));
    });
    group.finish();
}

fn watches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("server");
    group.sample_size(20);
    for (name, plural, count) in [
        ("create, and deliver to 1 watcher", "foos", 1),
        ("create, and deliver to 10,000 watchers", "foos", 10_000),
        ("create beside 10,000 watchers of another kind", "foos2", 10_000),
    ] {
        let builder = Server::builder().definition(&definition("foos")).expect("a definition");
        let server = builder.definition(&definition("foos2")).expect("a definition").build();
        let mut watches: Vec<Body> = (0..count).map(|_| watch(&server, plural)).collect();
        watches.iter_mut().for_each(|watch| assert!(!has_event(watch)));
        let mut number = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                number += 1;
                let body = object(&format!("foo-{number}")).to_string();
                assert_eq!(call(&server, Method::POST, FOOS, body), 201);
                if plural == "foos" {
                    watches.iter_mut().for_each(|watch| assert!(has_event(watch)));
                }
            });
        });
    }
    group.finish();
}

/// Policies that are not about the request cost it nothing (PO-26).
fn policies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("server");
    for count in [0, 1, 1000] {
        let server = server();
        for number in 0..count {
            let resource = if number == 0 { "foos" } else { "others" };
            let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicy", "metadata": {"name": format!("p{number}")},
                "spec": {
                    "matchConstraints": {"resourceRules": [{"operations": ["*"],
                        "apiGroups": ["example.com"], "apiVersions": ["v1"],
                        "resources": [resource]}]},
                    "validations": [{"expression": "object.spec.size < 5"}]}});
            let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": {"name": format!("p{number}")},
                "spec": {"policyName": format!("p{number}"), "validationActions": ["Deny"]}});
            let root = "/apis/admissionregistration.k8s.io/v1";
            for (resource, object) in [
                ("validatingadmissionpolicies", policy),
                ("validatingadmissionpolicybindings", binding),
            ] {
                let path = format!("{root}/{resource}");
                assert_eq!(call(&server, Method::POST, &path, object.to_string()), 201);
            }
        }
        let create = object("new").to_string();
        call(&server, Method::POST, &format!("{FOOS}?dryRun=All"), create.clone());
        group.bench_function(format!("create 1 KB beside {count} policies"), |bencher| {
            bencher.iter_batched_ref(
                || (server.fork(), create.clone()),
                |(server, body)| {
                    assert_eq!(call(server, Method::POST, FOOS, std::mem::take(body)), 201);
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, yardsticks, start, objects, watches, policies);
criterion_main!(benches);
