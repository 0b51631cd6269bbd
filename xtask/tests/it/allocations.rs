//! How much memory the hot path asks for: nothing while nothing changes, and no more often for
//! large inputs than for small ones when something does.

use allocation_counter::measure;
use billhook::webhook::MatchContext;
use billhook::{DecodeOptions, FieldValidation};
use billhook_benches::webhooks::{namespaces, requests, resources, webhooks};
use billhook_benches::{Document, Input, Source, Variant, backup, fixture_sources, stack};
use billhook_regex::limits::SETTLED_MATCHES;

/// How often decoding a document to text allocates.
fn text_allocations(document: &Document) -> u64 {
    let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);
    let decode = || drop(document.kind.version.decode_text(&document.text, &options).unwrap());
    decode();
    measure(decode).count_total
}

fn only_document(input: Input) -> Document {
    let [document] = <[Document; 1]>::try_from(input.documents).unwrap();
    document
}

#[test]
fn clean_text_takes_no_memory() {
    for source in fixture_sources() {
        let document = only_document(source.input(Variant::Clean));
        assert_eq!(text_allocations(&document), 0, "{}", source.name);
    }
}

#[test]
fn clean_values_take_no_memory() {
    for source in fixture_sources() {
        let document = only_document(source.input(Variant::Clean));
        let mut value = document.value.clone();
        let taken =
            measure(|| document.kind.version.prune_and_default(&mut value, &mut ()).unwrap());
        assert_eq!(taken.count_total, 0, "{}", source.name);
    }
}

#[test]
fn valid_values_take_no_memory() {
    for source in [backup(), stack("12 KB", 12_000)] {
        let document = only_document(source.input(Variant::Clean));
        let validator = document.kind.validator();
        // The automata of patterns keep what they have built, and are settled after some matches.
        for _ in 0..SETTLED_MATCHES {
            assert!(validator.is_valid(&document.value), "{}", source.name);
        }
        let taken = measure(|| assert!(validator.is_valid(&document.value)));
        assert_eq!(taken.count_total, 0, "{}", source.name);
    }
}

#[test]
fn changed_text_takes_a_few_buffers() {
    for variant in [Variant::Unknown, Variant::Missing, Variant::Few] {
        for source in [stack("12 KB", 12_000), stack("250 KB", 250_000)] {
            let document = only_document(Source::input(&source, variant));
            let taken = text_allocations(&document);
            assert!(taken <= 4, "{} {}: {taken}", source.name, variant.name());
        }
    }
}

/// The inputs of a decision are only kept on demand.
#[test]
fn webhooks_that_are_not_called_take_no_memory() {
    let (namespaces, registry) = (namespaces(), resources());
    let context = MatchContext::new(&namespaces, &registry);
    let set = webhooks(200);
    for (name, request) in requests() {
        let mut skipped = 0;
        for hook in set.hooks() {
            let mut decision = None;
            let taken = measure(|| decision = Some(hook.decide(&request, &context)));
            if decision.unwrap().is_skipped() {
                assert_eq!(taken.count_total, 0, "{name}: {}", hook.name());
                skipped += 1;
            }
        }
        assert!(skipped > 100, "{name}: only {skipped} are skipped");
    }
}
