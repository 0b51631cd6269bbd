//! The cost of findings where there are none, and manifests a second: each is read, decoded and
//! validated, once with the verdict alone and once with findings and their places as the outcome:
//! `cargo bench -p billhook-benches --bench findings`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use billhook::{CrdVersion, DecodeOptions, Decoded, Manifest, ValidateOptions, Validation};
use billhook_benches::{Variant, backup, stack};
use billhook_findings::{Finding, Place, Severity, Source};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn findings(criterion: &mut Criterion) {
    for source in [backup(), stack("12 KB", 12_000)] {
        let input = source.input(Variant::Clean);
        let [document] = input.documents.as_slice() else { continue };
        let version = &document.kind.version;
        let text = billhook::to_yaml(&document.value).into_bytes();
        assert!(is_valid(version, &text) && found(version, &text).is_empty());
        let wrong = String::from_utf8_lossy(&text).replace("spec:", "spek:").into_bytes();
        assert!(found(version, &wrong).iter().all(|finding| finding.place.is_some()));
        assert!(!found(version, &wrong).is_empty());
        let mut group = criterion.benchmark_group(format!("manifest {}", input.name));
        group.throughput(Throughput::Elements(1));
        group.bench_function("verdict", |bencher| {
            bencher.iter(|| is_valid(version, black_box(&text)));
        });
        group.bench_function("findings, none", |bencher| {
            bencher.iter(|| found(version, black_box(&text)));
        });
        group.bench_function("findings, some", |bencher| {
            bencher.iter(|| found(version, black_box(&wrong)));
        });
        group.finish();
    }
}

/// The verdict on a manifest.
fn is_valid(version: &CrdVersion, text: &[u8]) -> bool {
    let manifests = billhook::read_manifests(text).unwrap_or_default();
    manifests.iter().all(|_| validated(version, text).1.errors().is_empty())
}

/// The findings in a manifest, with their places.
fn found(version: &CrdVersion, text: &[u8]) -> Vec<Finding> {
    let source = Arc::new(Source::new("manifest.yaml", text));
    let manifests = billhook::read_manifests(source.bytes()).unwrap_or_default();
    let of = |manifest: &Manifest| {
        let place = Place::document(source.clone(), manifest.index());
        let (warnings, validation) = validated(version, source.bytes());
        let warning = |text: &String| Finding::new(Severity::Warning, "RP-20", text);
        let warnings = warnings.iter().map(warning).map(|it| it.at(&place, Default::default()));
        let errors = validation.errors().iter().map(|error| {
            let rule = error.error_type().reason();
            let finding = Finding::new(Severity::Error, rule, error.to_string());
            finding.at(&place, error.field().clone())
        });
        errors.chain(warnings).collect::<Vec<_>>()
    };
    manifests.iter().flat_map(of).collect()
}

fn validated(version: &CrdVersion, text: &[u8]) -> (Vec<String>, Validation) {
    let decoded = version.decode(text, &DecodeOptions::default());
    let (mut object, warnings, _) = decoded.map(Decoded::into_parts).unwrap_or_default();
    version.prepare_create(&mut object, "default");
    (warnings, version.validate_create(&object, &ValidateOptions::default()))
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_secs(1));
    targets = findings
}
criterion_main!(benches);
