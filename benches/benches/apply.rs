//! Server-side apply beside decoding of the same object: `cargo bench -p billhook-benches --bench
//! apply`.

use std::hint::black_box;
use std::time::Duration;

use billhook::{DecodeOptions, FieldManagement, FieldValidation, Time};
use billhook_benches::{Document, Variant, stack};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::Value;

const MANAGERS: [&str; 5] = ["m0", "m1", "m2", "m3", "m4"];

/// The members of `spec` that a manager besides the first applies: every fourth.
fn share(object: &Value, manager: usize) -> Value {
    let mut config = object.clone();
    if let Some(spec) = config["spec"].as_object_mut() {
        let mut position = 0;
        spec.retain(|_, _| {
            position += 1;
            position % 4 == manager % 4
        });
    }
    config
}

/// A configuration as clients write it, without what only servers write.
fn configuration(object: &Value) -> Value {
    let mut config = object.clone();
    if let Some(members) = config.as_object_mut() {
        members.remove("status");
    }
    if let Some(metadata) = config["metadata"].as_object_mut() {
        metadata
            .retain(|name, _| ["name", "namespace", "labels", "annotations"].contains(&&**name));
    }
    config
}

/// Changes every tenth scalar below a value.
fn change(value: &mut Value, count: &mut usize) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| change(item, count)),
        Value::Object(members) => {
            members
                .iter_mut()
                .filter(|(name, _)| *name != "name")
                .for_each(|(_, member)| change(member, count));
        }
        Value::String(text) => {
            *count += 1;
            if count.is_multiple_of(10) {
                text.push('x');
            }
        }
        _ => {}
    }
}

/// The live object of five managers, of which the first owns everything.
fn live(document: &Document, config: &Value, now: Time) -> Value {
    let version = &document.kind.version;
    let mut live = None;
    for (index, manager) in MANAGERS.iter().enumerate() {
        let config = if index == 0 { config.clone() } else { share(config, index) };
        let fields = FieldManagement::new(version, manager, now);
        live = Some(fields.apply(&config, live.as_ref(), true).unwrap().into_inner());
    }
    live.unwrap()
}

fn apply(criterion: &mut Criterion) {
    let now = Time::parse("2026-01-01T00:00:00Z").unwrap();
    let input = stack("12 KB", 12_000).input(Variant::Clean);
    let document = &input.documents[0];
    let version = &document.kind.version;
    let config = configuration(&document.decoded());
    let live = live(document, &config, now);
    let mut changed = config.clone();
    change(&mut changed["spec"], &mut 0);
    let first = FieldManagement::new(version, "m0", now);
    let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);

    let mut group = criterion.benchmark_group("12 KB");
    group.bench_function("decode text to text", |bencher| {
        bencher.iter(|| black_box(version.decode_text(&document.text, &options).unwrap()));
    });
    group.bench_function("apply onto itself, five managers", |bencher| {
        bencher.iter(|| black_box(first.apply(&config, Some(&live), true).unwrap()));
    });
    group.bench_function("apply with 10 % changed, five managers", |bencher| {
        bencher.iter(|| black_box(first.apply(&changed, Some(&live), true).unwrap()));
    });
    group.bench_function("field set", |bencher| {
        bencher.iter(|| black_box(version.field_set(&config).unwrap()));
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
