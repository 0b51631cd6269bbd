//! Runs server-side apply and decoding once each over the same object, with a mark before and after
//! each: a profiler that starts a new profile at each mark counts them one by one.

use std::hint::black_box;

use billhook::{DecodeOptions, FieldManagement, FieldValidation};
use billhook_benches::apply::ManagedObject;
use billhook_benches::callgrind::count_mark;
use billhook_benches::{Variant, stack};

fn main() {
    let input = stack("12 KB", 12_000).input(Variant::Clean);
    let document = &input.documents[0];
    let version = &document.kind.version;
    let object = ManagedObject::of(document);
    let first = FieldManagement::new(version, object.manager(), object.now);
    let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);
    let decode = || drop(black_box(version.decode_text(&document.text, &options).unwrap()));
    let apply = |configuration| {
        drop(black_box(first.apply_change(configuration, Some(&object.live), true).unwrap()));
    };
    let runs: [(&str, &dyn Fn()); 5] = [
        ("decode text to text", &decode),
        ("clone the live object", &|| drop(black_box(black_box(&object.live).clone()))),
        ("apply onto itself, five managers", &|| apply(&object.configuration)),
        ("apply with 10 % changed, five managers", &|| apply(&object.changed)),
        ("field set", &|| drop(black_box(version.field_set(&object.configuration).unwrap()))),
    ];
    for (name, run) in runs {
        // What is learnt from inputs is learnt before.
        run();
        count_mark();
        run();
        count_mark();
        println!("{name}");
    }
}
