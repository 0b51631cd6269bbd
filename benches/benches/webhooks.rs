//! Deciding for one request over many webhooks: by the index, and by asking each of them.

use billhook::webhook::MatchContext;
use billhook_benches::webhooks::{namespaces, requests, resources, webhooks};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn matching(criterion: &mut Criterion) {
    let (namespaces, registry) = (namespaces(), resources());
    let context = MatchContext::new(&namespaces, &registry);
    for (name, request) in requests() {
        let mut group = criterion.benchmark_group(format!("webhooks for {name}"));
        for count in [10, 100, 1_000] {
            let set = webhooks(count);
            let plain = || {
                let decisions = set.decide_all(&request, &context).into_iter().enumerate();
                decisions.filter(|(_, decision)| !decision.is_skipped()).collect::<Vec<_>>()
            };
            assert_eq!(plain(), set.matching(&request, &context));
            group.bench_function(BenchmarkId::new("index", count), |bencher| {
                bencher.iter(|| set.matching(&request, &context));
            });
            group.bench_function(BenchmarkId::new("plain loop", count), |bencher| {
                bencher.iter(plain);
            });
        }
        group.finish();
    }
}

fn compile(criterion: &mut Criterion) {
    let set = webhooks(1_000);
    assert_eq!(set.hooks().len(), 1_000);
    criterion.bench_function("compile 1000 webhooks", |bencher| {
        bencher.iter(|| webhooks(1_000));
    });
}

criterion_group!(benches, matching, compile);
criterion_main!(benches);
