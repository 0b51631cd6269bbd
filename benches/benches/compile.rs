//! Reading and compiling definitions: those of the fixtures each, those of the corpus all at once.

use billhook::{CustomResourceDefinition, read_manifests};
use billhook_benches::{Definition, corpus_definitions, fixture_definitions};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn compile(criterion: &mut Criterion) {
    for definition in fixture_definitions() {
        let name = definition.name.clone();
        group(criterion, &name, &[definition]);
    }
    let definitions = corpus_definitions();
    if !definitions.is_empty() {
        group(criterion, "corpus", &definitions);
    }
}

fn group(criterion: &mut Criterion, name: &str, definitions: &[Definition]) {
    let mut group = criterion.benchmark_group(format!("compile {name}"));
    group.sample_size(10);
    group.throughput(Throughput::Elements(definitions.len() as u64));
    let compile_yaml =
        |definition: &Definition| CustomResourceDefinition::from_yaml(&definition.yaml).unwrap();
    let compile_json = |definition: &Definition| {
        CustomResourceDefinition::from_json(definition.json.as_bytes()).unwrap()
    };
    group.bench_function("from YAML", |bencher| {
        bencher.iter(|| definitions.iter().map(compile_yaml).collect::<Vec<_>>());
    });
    group.bench_function("from JSON", |bencher| {
        bencher.iter(|| definitions.iter().map(compile_json).collect::<Vec<_>>());
    });
    let parsed: Vec<_> = definitions
        .iter()
        .map(|definition| read_manifests(definition.json.as_bytes()).unwrap().remove(0))
        .collect();
    group.bench_function("from a value", |bencher| {
        bencher.iter(|| {
            let compile =
                |value: &billhook::Manifest| CustomResourceDefinition::from_value(value.value());
            parsed.iter().map(|value| compile(value).unwrap()).collect::<Vec<_>>()
        });
    });
    group.finish();
}

/// Reading the YAML alone, beside the peer.
fn read(criterion: &mut Criterion) {
    for definition in fixture_definitions() {
        let mut group = criterion.benchmark_group(format!("read {}", definition.name));
        let text = definition.yaml.as_str();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("billhook-yaml", |bencher| {
            bencher.iter(|| billhook_yaml::read_document(text.as_bytes()).unwrap());
        });
        group.bench_function("serde_yaml", |bencher| {
            bencher.iter(|| serde_yaml::from_str::<serde_json::Value>(text).unwrap());
        });
        group.finish();
    }
}

criterion_group!(benches, compile, read);
criterion_main!(benches);
