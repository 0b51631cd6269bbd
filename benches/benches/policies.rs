//! Admission policies for one request: many that match it, beside decoding its object, and few that
//! match among many that do not:
//! `cargo bench -p billhook-benches --bench policies`.

use std::hint::black_box;

use billhook::webhook::{AdmissionAttributes, EquivalentResources, NamespaceLabels};
use billhook::{CustomResourceDefinition, DecodeOptions, GroupVersionKind, GroupVersionResource};
use billhook_policy::{MemoryCluster, PolicyContext, PolicyDocument, PolicySet, UnknownObjects};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};

/// An object of about 12 KB.
fn object() -> Value {
    let container = |index: usize| {
        json!({"name": format!("container-{index}"), "image": format!("registry.example.com/{index}:1"),
            "env": [{"name": "A", "value": "x".repeat(60)}, {"name": "B", "value": "y".repeat(60)}],
            "ports": [{"name": "http", "port": 8080}, {"name": "metrics", "port": 9090}]})
    };
    let containers: Vec<Value> = (0..38).map(container).collect();
    json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "namespace": "shop", "labels": {"app": "web", "team": "a"}},
        "spec": {"replicas": 3, "containers": containers}})
}

fn definition() -> CustomResourceDefinition {
    let string = json!({"type": "string"});
    let list = |of: Value| json!({"type": "array", "items": {"type": "object", "properties": of}});
    let container = json!({"name": string, "image": string,
        "env": list(json!({"name": string, "value": string})),
        "ports": list(json!({"name": string, "port": {"type": "integer"}}))});
    let spec = json!({"replicas": {"type": "integer"}, "containers": list(container)});
    CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"type": "object", "properties":
                    {"spec": {"type": "object", "properties": spec}}}}}]}}))
    .unwrap()
}

/// Policies for the resources of a group.
fn policies(count: usize, group: impl Fn(usize) -> String) -> PolicySet {
    let rule = |index| {
        json!({"operations": ["*"], "apiGroups": [group(index)], "apiVersions": ["v1"],
            "resources": ["widgets"]})
    };
    let validations = [
        "object.spec.replicas <= 5",
        "has(object.metadata.labels) && 'team' in object.metadata.labels",
        "object.metadata.name != 'forbidden'",
    ];
    let documents = billhook_benches::policies::policies(count, rule, validations);
    PolicySet::new(documents.map(|it| PolicyDocument::from_value(&it).expect("it is readable")))
}

fn deciding(criterion: &mut Criterion) {
    let cluster = MemoryCluster::new().with_namespace("shop", NamespaceLabels::new());
    let equivalents = EquivalentResources::new();
    let context = PolicyContext::new(&cluster, &equivalents, &UnknownObjects);
    let request = AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Widget"),
        GroupVersionResource::new("example.com", "v1", "widgets"),
        object(),
    );
    let mut group = criterion.benchmark_group("an object of 12 KB");
    let definition = definition();
    let version = definition.version("v1").unwrap();
    let text = serde_json::to_vec(&object()).unwrap();
    group.bench_function("decode", |bencher| {
        bencher.iter(|| version.decode(black_box(&text), &DecodeOptions::default()).unwrap());
    });
    let decide = |set: &PolicySet, expected: usize| {
        let outcome = set.validate(black_box(&request), &context);
        assert_eq!((outcome.result, outcome.records.len()), (Ok(()), expected));
    };
    let set = policies(100, |_| "example.com".to_owned());
    group.bench_function("100 policies of three validations", |bencher| {
        bencher.iter(|| decide(&set, 300));
    });
    group.finish();
    let mut group = criterion.benchmark_group("ten policies that match among");
    for count in [10, 100, 1_000] {
        let group_of = |index| match index {
            0..10 => "example.com".to_owned(),
            other => format!("g{other}.example.com"),
        };
        let set = policies(count, group_of);
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| decide(&set, 30));
        });
    }
    group.finish();
}

criterion_group!(benches, deciding);
criterion_main!(benches);
