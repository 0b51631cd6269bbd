//! Server-side apply beside decoding of the same object: `cargo bench -p billhook-benches --bench
//! apply`.

use std::hint::black_box;
use std::time::Duration;

use billhook::{DecodeOptions, DeepValue, FieldManagement, FieldValidation};
use billhook_benches::apply::{ManagedObject, configuration};
use billhook_benches::{Variant, stack};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

fn apply(criterion: &mut Criterion) {
    let input = stack("12 KB", 12_000).input(Variant::Clean);
    let document = &input.documents[0];
    let version = &document.kind.version;
    let object = ManagedObject::of(document);
    let config = &object.configuration;
    let first = FieldManagement::new(version, object.manager(), object.now);
    let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);

    let mut group = criterion.benchmark_group("12 KB");
    group.bench_function("decode text to text", |bencher| {
        bencher.iter(|| black_box(version.decode_text(&document.text, &options).unwrap()));
    });
    group.bench_function("apply onto itself, five managers", |bencher| {
        let mut live = object.live.clone();
        bencher.iter(|| black_box(first.apply_to(&mut live, config, true).unwrap()));
    });
    group.bench_function("apply with 10 % changed, five managers", |bencher| {
        bencher.iter_batched_ref(
            // A copy that shares nothing.
            || DeepValue::from((*object.live).clone()),
            |live| black_box(first.apply_to(live, &object.changed, true).unwrap()),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("field set", |bencher| {
        bencher.iter(|| black_box(version.field_set(config).unwrap()));
    });
    group.finish();
}

/// How the cost of a field set grows with the object.
fn large_field_set(criterion: &mut Criterion) {
    let input = stack("250 KB", 250_000).input(Variant::Clean);
    let document = &input.documents[0];
    let version = &document.kind.version;
    let config = configuration(&document.decoded());
    let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);

    let mut group = criterion.benchmark_group("250 KB");
    group.bench_function("decode text to text", |bencher| {
        bencher.iter(|| black_box(version.decode_text(&document.text, &options).unwrap()));
    });
    group.bench_function("field set", |bencher| {
        bencher.iter(|| black_box(version.field_set(&config).unwrap()));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = apply, large_field_set
}
criterion_main!(benches);
