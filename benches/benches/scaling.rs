//! How cost grows with size, depth, width and the number of keys. Throughput is in bytes or members, so that linear
//! cost shows as equal throughput.

use std::time::Duration;

use billhook_benches::{Contestant, Input, Variant, backup, shapes, stack};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};

/// Contestants that any depth suits.
const OF_TEXT: [Contestant; 3] = [Contestant::Scan, Contestant::Text, Contestant::Value];

fn run(group: &mut BenchmarkGroup<'_, WallTime>, input: &Input, contestants: &[Contestant]) {
    for contestant in contestants {
        group.bench_function(format!("{}/{}", contestant.name(), input.name), |bencher| {
            bencher.iter_custom(|iterations| contestant.time(input, iterations));
        });
    }
}

fn size(criterion: &mut Criterion) {
    for variant in [Variant::Clean, Variant::Unknown] {
        let mut group = criterion.benchmark_group(format!("size {}", variant.name()));
        let stacks = [16, 64, 256, 1_000, 4_000, 16_000]
            .map(|kilobytes| stack(&format!("{kilobytes} KB"), kilobytes * 1_000));
        for source in std::iter::once(backup()).chain(stacks) {
            let input = source.input(variant);
            group.throughput(Throughput::Bytes(input.len() as u64));
            run(&mut group, &input, &OF_TEXT);
            run(&mut group, &input, &[Contestant::InPlace]);
        }
        group.finish();
    }
}

fn depth(criterion: &mut Criterion) {
    const LEVELS: usize = 10_000;
    let mut group = criterion.benchmark_group("depth");
    group.throughput(Throughput::Elements(LEVELS as u64));
    for depth in [1, 10, 100, 1_000, 5_000] {
        run(&mut group, &shapes::deep_free(depth, LEVELS), &OF_TEXT);
    }
    for depth in [1, 10, 100] {
        run(&mut group, &shapes::deep_known(depth, LEVELS), &OF_TEXT);
    }
    group.finish();
}

fn width(criterion: &mut Criterion) {
    const MEMBERS: usize = 20_000;
    let mut group = criterion.benchmark_group("width");
    group.throughput(Throughput::Elements(MEMBERS as u64));
    for properties in [10, 30, 100, 300, 1_000, 2_000] {
        for present in if properties > 10 { vec![10, properties] } else { vec![10] } {
            let input = shapes::wide(properties, present, MEMBERS / present);
            run(&mut group, &input, &OF_TEXT);
            run(&mut group, &input, &[Contestant::InPlace]);
        }
    }
    group.finish();
}

fn keys(criterion: &mut Criterion) {
    const KEYS: usize = 20_000;
    let mut group = criterion.benchmark_group("keys");
    group.throughput(Throughput::Elements(KEYS as u64));
    for keys in [10, 100, 200, 300, 1_000, 20_000] {
        let input = shapes::maps(keys, KEYS);
        run(&mut group, &input, &OF_TEXT);
        run(&mut group, &input, &[Contestant::InPlace]);
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = size, depth, width, keys
}
criterion_main!(benches);
