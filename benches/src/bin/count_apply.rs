//! Runs server-side apply and decoding once each over the same object, with a mark before and after
//! each: a profiler that starts a new profile at each mark counts them one by one.

use std::hint::black_box;

use billhook::{DecodeOptions, DeepValue, FieldManagement, FieldValidation};
use billhook_benches::apply::ManagedObject;
use billhook_benches::callgrind::count_mark;
use billhook_benches::{Variant, stack};
use serde_json::Value;

fn main() {
    let input = stack("12 KB", 12_000).input(Variant::Clean);
    let document = &input.documents[0];
    let version = &document.kind.version;
    let object = ManagedObject::of(document);
    let first = FieldManagement::new(version, object.manager(), object.now);
    let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);
    let decode = || drop(black_box(version.decode_text(&document.text, &options).unwrap()));
    let apply = |configuration, live: &mut DeepValue| {
        black_box(first.apply_to(live, configuration, true).unwrap());
    };
    type Run<'r> = &'r dyn Fn(&mut DeepValue);
    let shared = |configuration| {
        drop(black_box(first.apply(configuration, Some(&object.live), true).unwrap()));
    };
    let runs: [(&str, Run<'_>); 9] = [
        ("decode text to text", &|_| decode()),
        ("copy the live object", &|live| drop(black_box(copy(black_box(live))))),
        ("apply onto itself, five managers", &|live| apply(&object.configuration, live)),
        ("apply with 10 % changed, five managers", &|live| apply(&object.changed, live)),
        ("apply onto itself, the live object shared", &|_| shared(&object.configuration)),
        ("apply with 10 % changed, the live object shared", &|_| shared(&object.changed)),
        ("apply with a field more, five managers", &|live| apply(&object.with_more, live)),
        ("apply with a field less, five managers", &|live| apply(&object.with_less, live)),
        ("field set", &|_| drop(black_box(version.field_set(&object.configuration).unwrap()))),
    ];
    for (name, run) in runs {
        // What is learnt from inputs is learnt before.
        run(&mut copy(&object.live));
        let mut live = copy(&object.live);
        count_mark();
        run(&mut live);
        count_mark();
        println!("{name}");
    }
}

/// A copy that shares nothing.
fn copy(object: &Value) -> DeepValue {
    DeepValue::from(object.clone())
}
