//! Safe edits, made in the text.

use std::sync::Arc;

use billhook::{DeepValue, FieldPath};
use billhook_findings::{Fixed, Source, fix};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::findings_in;

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("backup.yaml", text))
}

fn fix_once(text: &str) -> Option<Fixed> {
    let source = source(text);
    fix(&source, &findings_in(&source))
}

fn fix_all(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..10 {
        match fix_once(&text) {
            Some(fixed) => text = fixed.text,
            None => return text,
        }
    }
    panic!("edits do not end: {text}");
}

/// The text of an object with a `spec`, which begins on the third line.
fn object(spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Backup\n{spec}metadata: {{name: b}}\n")
}

fn check(spec: &str, expected: &str) {
    assert_eq!(fix_all(&object(spec)), object(expected));
}

#[test]
fn comments_and_layout_stay() {
    check(
        "spec: # é\r\n  \"Schedule\" :   x   # the time\n\n  kep: '3' # three\n  # end\n  mode: full\n",
        "spec: # é\r\n  \"schedule\" :   x   # the time\n\n  keep: 3 # three\n  # end\n  mode: Full\n",
    );
    check("spec: {schedule: 5, size: \"1.5\"}\n", "spec: {schedule: \"5\", size: 1.5}\n");
    // What a name hides comes to light.
    check(
        "Spec:\n  schedule: x\n  retentoin: {dayz: '3'}\n",
        "spec:\n  schedule: x\n  retention: {days: 3}\n",
    );
    let wrong = object("spec: {schedule: x}\n").replace("{name", "{lables: {a: b}, nmae");
    assert_eq!(fix_all(&wrong), wrong.replace("lables", "labels").replace("nmae", "name"));
    let json = r#"{"apiVersion":"example.com/v1", "kind":"Backup",
        "metadata":{"name":"b"},  "spec":{"shedule":"x","keep":"3"}}"#;
    let expected = json.replace("shedule", "schedule").replace("\"3\"", "3");
    assert_eq!(fix_all(json), expected);
}

#[test]
fn nothing_is_guessed() {
    let same = |spec: &str| check(spec, spec);
    // The name is taken, or would be twice.
    same("spec: {schedule: x, kep: 1, keep: 2}\n");
    check("spec: {schedule: x, kep: 1, keeep: 2}\n", "spec: {schedule: x, keep: 1, keeep: 2}\n");
    same("spec: {schedule: x, kep: 1, kep: 2}\n");
    // A value of another type is not what was meant.
    same("spec: {schedule: x, kep: [1]}\n");
    same("spec: {schedule: x, retentions: 1}\n");
    let labels = object("spec: {schedule: x}\n").replace("{name", "{lables: [a], name");
    assert_eq!(fix_all(&labels), labels);
    // Too different, or of another kind in YAML than in JSON.
    same("spec: {schedule: x, mode: Fool}\n");
    same("spec: {schedule: x, keep: '010', size: '.5'}\n");
    // The other place of an anchor may mean something else.
    same("spec:\n  schedule: x\n  retention: &r {dais: 1}\n  targets: [*r]\n");
    same("spec:\n  schedule: x\n  mode: &m full\n  targets: [*m]\n");
}

#[test]
fn places_of_edits() {
    let text = object("spec: {schedule: x, kep: '3'}\n");
    let edits = fix_once(&text).unwrap().edits;
    let path = FieldPath::default().name("spec").name("keep");
    assert_eq!(edits.len(), 1);
    assert_eq!((&edits[0].path, edits[0].replacement.as_str()), (&path, "keep"));
    let other = source(&text);
    assert!(fix(&other, &findings_in(&source(&text))).is_none(), "findings of another source");
}

/// A name as it is written in a hurry.
fn misspelled(name: &'static str) -> impl Strategy<Value = String> {
    (0..5_u8, 0..name.len()).prop_map(move |(kind, at)| {
        let mut chars: Vec<char> = name.chars().collect();
        match kind {
            0 => drop(chars.remove(at)),
            1 => chars.insert(at, chars[at]),
            2 => chars.swap(at, (at + 1) % name.len()),
            3 => chars[at] = chars[at].to_ascii_uppercase(),
            _ => {}
        }
        chars.into_iter().collect()
    })
}

fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "3",
        "'3'",
        "\"3\"",
        "x",
        "full",
        "'Full'",
        "true",
        "1.5",
        "[s3]",
        "{days: '3'}",
        "'x y'",
    ])
}

fn member() -> impl Strategy<Value = String> {
    let names = ["schedule", "keep", "size", "mode", "targets", "retention"];
    let name = prop::sample::select(names.to_vec()).prop_flat_map(misspelled);
    (name, value(), prop::bool::ANY, prop::bool::ANY).prop_map(|(name, value, quoted, comment)| {
        let name = if quoted { format!("\"{name}\"") } else { name };
        let comment = if comment { "   # why: 'keep' it" } else { "" };
        format!("  {name}:  {value}{comment}\n")
    })
}

/// The value that the edits promise: names are changed, values are what is written for them.
fn promised(text: &str, fixed: &Fixed) -> Value {
    let mut value = read(text).into_inner();
    for edit in &fixed.edits {
        let pointer = edit.path.to_json_pointer();
        let name = edit.path.segments().last().unwrap();
        let before = text.get(edit.span.start..edit.span.end).unwrap();
        let billhook::Segment::Name(name) = name else { panic!("{name:?}") };
        let (parent, _) = pointer.rsplit_once('/').unwrap();
        let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        let new: Value = read(&edit.replacement).into_inner();
        if new == json!(name) && !parent.contains_key(name) {
            let moved = parent.remove(read(before).as_str().unwrap()).unwrap();
            parent.insert(name.to_owned(), moved);
        } else {
            parent.insert(name.to_owned(), new);
        }
    }
    value
}

fn read(text: &str) -> DeepValue {
    billhook::read_manifests(text.as_bytes()).unwrap().remove(0).into_value()
}

proptest! {
    #[test]
    fn fixed_texts(members in prop::collection::vec(member(), 0..7)) {
        let text = object(&format!("spec:\n{}", members.concat()));
        if let Some(fixed) = fix_once(&text) {
            // Nothing but the parts of the edits has changed.
            let mut expected = text.clone();
            for edit in fixed.edits.iter().rev() {
                expected.replace_range(std::ops::Range::from(edit.span), &edit.replacement);
            }
            prop_assert_eq!(&fixed.text, &expected);
            prop_assert_eq!(read(&fixed.text).into_inner(), promised(&text, &fixed));
        }
        let all = fix_all(&text);
        prop_assert_eq!(fix_all(&all), all.clone());
        prop_assert_eq!(text.matches('#').count(), all.matches('#').count());
        // Keys that were different are different.
        let count = |text: &str| read(text)["spec"].as_object().map_or(0, serde_json::Map::len);
        prop_assert_eq!(count(&text), count(&all));
    }
}
