//! Any text: never a panic, and JSON is YAML.

use billhook_apimachinery::value::deep_eq;
use billhook_apimachinery::{FieldPath, Spans};
use billhook_yaml::{read_document, read_documents, read_documents_with_spans};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::spans::children;

/// Values as the server has them: whole floats that fit are integers (SS-01).
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let float = any::<f64>().prop_filter("JSON holds no other", |float| {
        float.is_finite() && (float.fract() != 0.0 || float.abs() > 1e19)
    });
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        float.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[-~_0-9a-z:#{} \\t\\n\"'.+]{0,12}".prop_map(Value::from),
        "(y|no|Null|~|0x1|1_0|0b1|.inf|<<|=|1e3|-|---|\\.\\.\\.|2001-01-01|!a|&a|\\*a|@|`|%)"
            .prop_map(Value::from),
    ];
    scalar.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// JSON text in which every character may occur in YAML 1.1, too.
fn json_text(value: &Value, pretty: bool) -> Option<String> {
    let text = if pretty { format!("{value:#}") } else { value.to_string() };
    let mut out = String::new();
    for c in text.chars() {
        match u32::from(c) {
            code @ (0x7f..=0x9f | 0x2028 | 0x2029 | 0xfeff | 0xfffe | 0xffff) => {
                out.push_str(&format!("\\u{code:04x}"));
            }
            _ => out.push(c),
        }
    }
    // A key that is longer than 1024 characters is none in either.
    (out.len() < 1000).then_some(out)
}

pub(crate) const PIECES: &[&str] = &[
    "a",
    "b: ",
    "- ",
    "? ",
    ": ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "\n",
    "\n  ",
    "\n    ",
    "\t",
    " ",
    "&a ",
    "*a",
    "*b ",
    "!!str ",
    "!!int ",
    "!x ",
    "! ",
    "<<: ",
    "|",
    ">",
    "|2-\n",
    "'",
    "\"",
    "\\",
    "#",
    " # c\n",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "%TAG ! a\n",
    "%",
    "@",
    "1",
    "0x",
    ".inf",
    "~",
    "y",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\r",
    "\r\n",
    "\u{1}",
    "é",
    "😀",
    "\\u",
    "d83d",
    "!<a>",
    "=",
    "null: ",
    "1.5: ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_documents(&bytes);
    }

    #[test]
    fn pieces_never_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let text = pieces.concat();
        let documents = read_documents_with_spans(text.as_bytes());
        for document in documents.into_iter().flatten() {
            if let Some(spans) = document.spans() {
                check_bounds(&text, document.value(), spans, &FieldPath::default());
            }
            for duplicate in document.duplicates() {
                prop_assert!(!duplicate.key().is_empty());
                prop_assert!(duplicate.line() >= 1);
                prop_assert!(!duplicate.path().is_empty());
            }
        }
    }

    #[test]
    fn json_is_yaml(value in any_value(), pretty: bool) {
        if let Some(text) = json_text(&value, pretty) {
            let document = read_document(text.as_bytes());
            prop_assert!(document.is_ok(), "{text:?}: {document:?}");
            let document = document.unwrap();
            prop_assert!(deep_eq(document.value(), &value), "{text:?}: {document:?}");
            prop_assert!(document.duplicates().is_empty());
        }
    }

    #[test]
    fn block_style_is_read(value in any_value()) {
        let mut text = String::new();
        write_block(&value, 0, &mut text);
        let keys_fit = text.lines().all(|line| line.len() < 1000);
        if keys_fit {
            let document = read_document(text.as_bytes());
            prop_assert!(document.is_ok(), "{text:?}: {document:?}");
            let document = document.unwrap();
            prop_assert!(deep_eq(document.value(), &value), "{text:?}: {document:?}");
        }
    }
}

/// Every value has a place, which is a part of the text.
fn check_bounds(text: &str, value: &Value, spans: &Spans, path: &FieldPath) {
    let found = spans.find(path).unwrap_or_else(|| panic!("{text:?}: {path} has no place"));
    for span in found.key.into_iter().chain([found.value]) {
        assert!(text.get(span.start..span.end).is_some(), "{text:?}: {path}: {span:?}");
    }
    for (path, below) in children(value, path) {
        check_bounds(text, below, spans, &path);
    }
}

/// Block collections with JSON scalars in them.
fn write_block(value: &Value, indent: usize, out: &mut String) {
    let margin = " ".repeat(indent);
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members {
                let key = json_text(&Value::from(key.as_str()), false).unwrap_or_default();
                out.push_str(&format!("\n{margin}{key}: "));
                write_block(member, indent + 2, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&format!("\n{margin}- "));
                write_block(item, indent + 2, out);
            }
        }
        scalar => out.push_str(&json_text(scalar, false).unwrap_or_default()),
    }
}
