//! The API server in process: a request from its first byte to the last one of its answer, beside
//! the work of `serde_json` on an object of the same size.

use std::hint::black_box;

use billhook_apiserver::{Body, Server};
use billhook_benches::server::{FOOS, call, definition, filled, has_event, object, server, watch};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use http::Method;
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

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

/// A page costs what is on it, and a selector what it has to look at.
fn pages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("server");
    for (count, name) in [(1000, "1,000"), (100_000, "100,000")] {
        let server = filled(count);
        let page = format!("{FOOS}?limit=1");
        group.bench_function(format!("list 1 of {name}"), |bencher| {
            bencher.iter(|| assert_eq!(call(&server, Method::GET, &page, String::new()), 200));
        });
        let none = format!("{FOOS}?labelSelector=app%3Dy");
        group.bench_function(format!("list 0 of {name} by a label"), |bencher| {
            bencher.iter(|| assert_eq!(call(&server, Method::GET, &none, String::new()), 200));
        });
    }
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

criterion_group!(benches, yardsticks, start, objects, pages, watches, policies);
criterion_main!(benches);
