//! The places of keys and values: each, cut out of the text and read again, is what is there.

use billhook_apimachinery::value::deep_eq;
use billhook_apimachinery::{FieldPath, Segment, Span, Spans};
use billhook_decode::{
    read_json, read_json_documents, read_json_documents_with_spans, read_json_with_spans,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start..span.end).unwrap()
}

fn check(text: &str, value: &Value, spans: &Spans, path: &FieldPath) {
    let found = spans.find(path).unwrap_or_else(|| panic!("{path:?} has no place in {text}"));
    let part = slice(text, found.value);
    assert!(deep_eq(read_json(part.as_bytes()).unwrap().value(), value), "{path:?}: {part}");
    let name = match path.segments().last() {
        Some(Segment::Name(name)) => Some(Value::from(name)),
        _ => None,
    };
    let key = found.key.map(|key| read_json(slice(text, key).as_bytes()).unwrap().into_value());
    assert_eq!(key.as_deref(), name.as_ref(), "{path:?} in {text}");
    match value {
        Value::Object(members) => members.iter().for_each(|(name, below)| {
            check(text, below, spans, &path.clone().name(name));
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, below)| {
            check(text, below, spans, &path.clone().index(index));
        }),
        _ => {}
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-9i32..9).prop_map(|n| Value::from(f64::from(n) + 0.5)),
        any::<String>().prop_map(Value::from),
    ];
    scalar.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_cut_out_is_what_is_there(value in any_value(), pretty: bool) {
        let text = if pretty { format!("\n{value:#} ") } else { value.to_string() };
        let (document, spans) = read_json_with_spans(text.as_bytes()).unwrap();
        check(&text, document.value(), &spans, &FieldPath::default());
    }
}

#[test]
fn the_last_of_a_repeated_key_has_the_place() {
    let text = r#"{"a": 1, "b": {"a": [ 2 ]}, "\u0061" : [3,-4e1 ]}"#;
    let (document, spans) = read_json_with_spans(text.as_bytes()).unwrap();
    check(text, document.value(), &spans, &FieldPath::default());
    let found = spans.find(&FieldPath::default().name("a")).unwrap();
    assert_eq!(found.key.map(|key| slice(text, key)), Some(r#""\u0061""#));
    assert_eq!(slice(text, found.value), "[3,-4e1 ]");
    assert!(read_json_with_spans(b"{").is_err());
}

#[test]
fn objects_may_follow_each_other() {
    let text = "{\"a\": [1], \"a\": 2}\n {\"b\": {}}{\"c\": 3}  \n";
    let read = read_json_documents_with_spans(text.as_bytes());
    assert_eq!(read.len(), 3);
    for (read, (name, value)) in read.into_iter().zip([("a", "2"), ("b", "{}"), ("c", "3")]) {
        let (document, spans) = read.unwrap();
        check(text, document.value(), &spans, &FieldPath::default());
        let found = spans.find(&FieldPath::default().name(name)).unwrap();
        assert_eq!(slice(text, found.value), value);
        assert_eq!(document.duplicates(), if name == "a" { &["a"][..] } else { &[] });
    }
    for (text, whole, error) in [
        ("{} {\"a\": }", 1, (9, "invalid character '}' looking for beginning of value")),
        ("{}{}5", 1, (4, "invalid character '5' after top-level value")),
        ("{}\n---\n{}", 0, (3, "invalid character '-' after top-level value")),
        ("[] []", 0, (3, "invalid character '[' after top-level value")),
        ("{} {", 1, (4, "unexpected end of JSON input")),
        ("", 0, (0, "unexpected end of JSON input")),
    ] {
        let read = read_json_documents(text.as_bytes());
        assert_eq!(read.iter().filter(|read| read.is_ok()).count(), whole, "{text}");
        let last = read.last().unwrap().as_ref().unwrap_err();
        assert_eq!((last.offset(), &*last.to_string()), error, "{text}");
    }
    // Nesting is counted for each document.
    let deep = ["[".repeat(9_999), "]".repeat(9_999)].concat();
    let text = format!("{{\"a\": {deep}}}").repeat(3);
    assert_eq!(read_json_documents(text.as_bytes()).into_iter().filter(Result::is_ok).count(), 3);
}
