//! Every contestant on every input: `cargo bench -p billhook-benches --bench hot_path -- '12 KB'`.

use std::time::Duration;

use billhook_benches::{Contestant, Variant, sources};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn hot_path(criterion: &mut Criterion) {
    for source in sources() {
        for variant in Variant::ALL {
            let input = source.input(variant);
            let mut group = criterion.benchmark_group(input.title());
            group.throughput(Throughput::Bytes(input.len() as u64));
            for contestant in Contestant::ALL {
                group.bench_function(contestant.name(), |bencher| {
                    bencher.iter_custom(|iterations| contestant.time(&input, iterations));
                });
            }
            group.finish();
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = hot_path
}
criterion_main!(benches);
