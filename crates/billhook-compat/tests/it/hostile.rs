//! Schemas that are made to take long, or to nest deeply, end in an answer.

use billhook_compat::{Question, Verdict};
use serde_json::{Value, json};

use crate::support::{compared, definition, spec_of};

/// The verdict for writers.
fn writers(old: Value, new: Value) -> Verdict {
    let comparison = compared(&definition(spec_of(old)), &definition(spec_of(new)));
    let answers = comparison.answers.iter().filter(|answer| answer.question == Question::Writers);
    answers.map(|answer| answer.verdict).max().unwrap()
}

#[test]
fn hard_patterns_are_undecided() {
    let text = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let hard = "^(.*a.{300}|.*b.{301})$";
    assert_eq!(writers(text(hard), text("^(.*b.{301}|.*a.{300}|)$")), Verdict::Undecided);
}

/// An entry is found without a look at all of them: there are as many comparisons as entries.
#[test]
fn enums_of_many_entries() {
    let entries = |first: u32| -> Vec<String> {
        (first..100_000).map(|number| format!("v{number}")).collect()
    };
    let schema = |first| json!({"type": "string", "enum": entries(first)});
    assert_eq!(writers(schema(0), schema(1)), Verdict::Breaks);
    assert_eq!(writers(schema(1), schema(0)), Verdict::Safe);
    let schema =
        |first: u32| json!({"type": "integer", "enum": (first..100_000).collect::<Vec<_>>()});
    assert_eq!(writers(schema(1), schema(0)), Verdict::Safe);
}

#[test]
fn many_cases_are_bounded() {
    let names: Vec<String> = (0..12).map(|number| format!("f{number}")).collect();
    let properties: Value = names
        .iter()
        .map(|name| (name.clone(), json!({"type": "string"})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let either = |text: &str| -> Value {
        names
            .iter()
            .map(|name| json!({"anyOf": [{"required": [name]}, {"properties": {name.as_str(): {"enum": [text]}}}]}))
            .collect()
    };
    let schema = |text| json!({"type": "object", "properties": properties, "allOf": either(text)});
    assert_ne!(writers(schema("a"), schema("b")), Verdict::Safe);
}

#[test]
fn deep_schemas_fit_on_a_small_stack() {
    let deep = |leaf: Value| {
        (0..400).fold(leaf, |schema, _| json!({"type": "object", "properties": {"x": schema}}))
    };
    let compare = move || {
        let (old, new) =
            (deep(json!({"type": "string"})), deep(json!({"type": "string", "maxLength": 3})));
        assert_ne!(writers(old.clone(), new), Verdict::Safe);
        assert_eq!(writers(old.clone(), old), Verdict::Safe);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(compare).unwrap().join().unwrap();
}

/// Lists in lists that have to be long take more memory than there is; only a part of them is made.
#[test]
fn values_are_bounded() {
    let lists = |least: u32| {
        let text = json!({"type": "string", "minLength": least});
        (0..3).fold(text, |items, _| json!({"type": "array", "minItems": 100, "items": items}))
    };
    assert_eq!(writers(lists(2), lists(3)), Verdict::Undecided);
    assert_eq!(writers(lists(3), lists(2)), Verdict::Safe);
    let many = |most: u32| {
        let items = json!({"type": "array", "minItems": 100, "items": {"type": "integer"}});
        let item = json!({"type": "array", "minItems": 20, "items": items});
        json!({"type": "array", "maxItems": most, "items": item})
    };
    assert_eq!(writers(many(190), many(180)), Verdict::Undecided);
    assert_eq!(writers(many(6), many(5)), Verdict::Breaks);
}
