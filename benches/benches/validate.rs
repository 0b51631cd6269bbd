//! Validation of clean objects beside pruning and defaulting, and beside the `jsonschema` crate on
//! the same schema and object: `cargo bench -p billhook-benches --bench validate`.

use std::hint::black_box;
use std::time::Duration;

use billhook::{ValidateOptions, Verdict};
use billhook_benches::peers::jsonschema;
use billhook_benches::{Variant, backup, stack};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::Value;

fn validate(criterion: &mut Criterion) {
    for source in [backup(), stack("12 KB", 12_000)] {
        let input = source.input(Variant::Clean);
        let [document] = input.documents.as_slice() else { continue };
        let mut group = criterion.benchmark_group(format!("validate {}", input.name));
        group.throughput(Throughput::Bytes(input.len() as u64));
        let version = &document.kind.version;
        let object = &document.value;
        let validator = document.kind.validator();
        assert_eq!(validator.errors(object), []);
        group.bench_function("is_valid", |bencher| {
            bencher.iter(|| validator.is_valid(black_box(object)));
        });
        group.bench_function("is_valid as update", |bencher| {
            bencher.iter(|| validator.check(black_box(object)).update_of(object).is_valid());
        });
        group.bench_function("lists", |bencher| {
            bencher.iter(|| validator.has_valid_lists(black_box(object)));
        });
        let mut wrong = object.clone();
        wrong["spec"] = Value::from(1);
        assert_eq!(validator.errors(&wrong).len(), 1);
        group.bench_function("errors of a wrong spec", |bencher| {
            bencher.iter(|| validator.errors(black_box(&wrong)));
        });
        let options = ValidateOptions::default();
        let validation = version.validate_create(object, &options);
        assert_eq!(validation.verdict(), Verdict::Valid, "{:?}", validation.status_message());
        group.bench_function("validate_create", |bencher| {
            bencher.iter(|| version.validate_create(black_box(object), &options));
        });
        let mut value = object.clone();
        group.bench_function("prune", |bencher| {
            bencher.iter(|| version.prune(black_box(&mut value), &mut ()));
        });
        group.bench_function("default", |bencher| {
            bencher.iter(|| version.apply_defaults(black_box(&mut value), &mut ()));
        });
        let peer = jsonschema(&document.kind.written_schema());
        assert!(peer.is_valid(object));
        group.bench_function("jsonschema is_valid", |bencher| {
            bencher.iter(|| peer.is_valid(black_box(object)));
        });
        group.finish();
    }
}

fn compile(criterion: &mut Criterion) {
    let input = stack("12 KB", 12_000).input(Variant::Clean);
    let [document] = input.documents.as_slice() else { return };
    let schema = document.kind.written_schema();
    let props = JsonSchemaProps::from_value(&schema).unwrap();
    let mut group = criterion.benchmark_group("compile a validator");
    group.bench_function("billhook", |bencher| {
        bencher.iter(|| Validator::new(black_box(&props)));
    });
    group.bench_function("jsonschema", |bencher| {
        bencher.iter(|| jsonschema(black_box(&schema)));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = validate, compile
}
criterion_main!(benches);
