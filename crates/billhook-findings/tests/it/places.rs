//! From field paths to lines and columns.

use std::sync::Arc;

use billhook::FieldPath;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_findings::{Finding, Place, Severity, Source};

fn path(names: &[&str]) -> FieldPath {
    names.iter().fold(FieldPath::default(), |path, name| path.name(name))
}

#[test]
fn positions() {
    let source = Source::new("x", "\u{feff}é: 1\r\nbc: 2");
    let position = |offset| {
        let position = source.position(offset);
        (position.line, position.column)
    };
    assert_eq!(position(3), (1, 1));
    assert_eq!(position(5), (1, 2));
    assert_eq!(position(10), (2, 1));
    assert_eq!(position(1_000), (2, 6));
    assert_eq!(source.offset(2, 2), 11);
    assert_eq!(source.offset(9, 9), source.text().len());
    assert_eq!(Source::new("x", b"a: \xff").text(), "a: ");
}

#[test]
fn fields_of_items_and_documents() {
    let text = "a: 1\n---\nitems:\n- spec: {a.b: [1, {c: d}]}\n  x: |\n    1\n    2\n";
    let source = Arc::new(Source::new("list.yaml", text));
    let place = Place::document(source.clone(), 1).item(0);
    let marked = |path: &FieldPath| {
        let span = place.find(path).unwrap().mark(text);
        text.get(span.start..span.end).unwrap()
    };
    assert_eq!(marked(&path(&["spec", "a.b"]).index(1).name("c")), "d");
    assert_eq!(marked(&path(&["x"])), "x");
    assert_eq!(marked(&path(&["spec", "none"])), "spec");
    assert_eq!(marked(&FieldPath::default()), "spec: {a.b: [1, {c: d}]}");
    assert_eq!(place.resolve("spec.a.b[1].c"), Some(path(&["spec", "a.b"]).index(1).name("c")));
    assert_eq!(place.resolve("spec.none"), None);
    assert!(Place::document(source.clone(), 7).find(&path(&["a"])).is_none());
    assert!(Place::file(source).find(&path(&["a"])).is_none());
}

/// A part of a text is found in every way of writing the text, or not at all.
#[test]
fn parts_of_texts() {
    let written = |yaml: &str, part: &str| {
        let document = billhook::read_manifests(yaml.as_bytes()).unwrap().remove(0);
        let text = document.value()["a"].as_str().unwrap().to_owned();
        let start = text.find(part).unwrap();
        let source = Arc::new(Source::new("x.yaml", yaml));
        let place = Place::document(source, 0);
        let span = place.find_part(&path(&["a"]), &text, start..start + part.len())?;
        yaml.get(span.start..span.end).map(str::to_owned)
    };
    for (yaml, part, expected) in [
        ("a: x && é.y\n", "é.y", Some("é.y")),
        ("{\"a\": \"x == \\\"q\\\" && y\"}", "y", Some("y")),
        ("{\"a\": \"x == \\\"q\\\" && y\"}", "\"q\"", Some("\"q\\\"")),
        ("a: 'x == ''q'' && y'\n", "y", Some("y")),
        ("a: |\n  x ||\n    y\n", "y", Some("y")),
        ("a: |2\n    x ||\n    y\n", "y", Some("y")),
        ("a: >-\n  x ||\n  y\n", "|| y", Some("||\n  y")),
        ("a: \"x\\u0020y\"\n", "y", None),
    ] {
        assert_eq!(written(yaml, part).as_deref(), expected, "{yaml}");
    }
}

/// A place in a line of any length takes the same time: a million of them would not end otherwise.
#[test]
fn long_lines() {
    let text = format!("[{}]", vec!["\"é\""; 300_000].join(","));
    let source = Arc::new(Source::new("long.json", text.as_str()));
    let place = Place::document(source.clone(), 0);
    for index in 0..300_000 {
        let span = place.find(&FieldPath::default().index(index)).unwrap().mark(&text);
        assert_eq!(source.position(span.start).column, 2 + 4 * index);
    }
}

/// SS-10: of several values of wrong types a server names the first in the text of JSON, and in YAML
/// the first by its key.
#[test]
fn the_value_of_a_wrong_type_that_is_named() {
    let at = |text: &str, field: &str, go_type: &str| {
        let error = format!(
            "json: cannot unmarshal number into Go struct field ObjectMeta.{field} of type {go_type}"
        );
        let place = Place::document(Arc::new(Source::new("x", text)), 0);
        let finding = Finding::new(Severity::Error, "refused", error);
        let finding =
            finding.at(&place, FieldPath::default()).suggest_type_of(ObjectMeta::record());
        let span = finding.span.unwrap();
        (text.get(span.start..span.end).unwrap().to_owned(), finding.label)
    };
    let label = |label: &str| Some(label.to_owned());
    let json = r#"{"uid": 10, "name": 20}"#;
    assert_eq!(at(json, "uid", "types.UID"), ("10".into(), label("write it in quotes")));
    let yaml = "uid: 10\nname: 20\nfinalizers: 30\n";
    let list = label("write a list, even for one value");
    assert_eq!(at(yaml, "finalizers", "[]string"), ("30".into(), list));
}
