//! Laws that hold for every schema and every object.

use billhook::{Change, DecodeOptions, Dialect, FieldValidation};
use billhook_apimachinery::print::is_printable;
use billhook_testing::{resource, root_schema, value};
use proptest::prelude::*;
use serde_json::Value;

use crate::definitions::version_with;

fn undo(changes: &[Change], mut object: Value) -> Value {
    changes.iter().rev().for_each(|change| change.undo(&mut object));
    object
}

/// Objects are compared as they are printed where they were printed in between: whole floats come
/// back as integers (RP-52).
fn print(object: &Value) -> String {
    billhook::to_json(object)
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![3 => Just(Dialect::Kubernetes), 1 => Just(Dialect::Kep)]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn pruning_is_idempotent_reported_and_undone(
        schema in root_schema(), input in value(), dialect in dialect(),
    ) {
        let version = version_with(&schema, dialect, false);
        let mut once = input.clone();
        version.prune(&mut once, &mut ());
        let mut twice = once.clone();
        version.prune(&mut twice, &mut ());
        prop_assert_eq!(&twice, &once);

        let mut reported = input.clone();
        let mut changes = Vec::new();
        version.prune(&mut reported, &mut changes);
        prop_assert_eq!(&reported, &once);
        prop_assert_eq!(changes.is_empty(), once == input);
        prop_assert_eq!(undo(&changes, reported), input);
    }

    #[test]
    fn null_removal_is_idempotent_reported_and_undone(
        schema in root_schema(), input in value(), dialect in dialect(),
    ) {
        let version = version_with(&schema, dialect, false);
        let mut once = input.clone();
        version.remove_nulls(&mut once, &mut ());
        let mut twice = once.clone();
        version.remove_nulls(&mut twice, &mut ());
        prop_assert_eq!(&twice, &once);

        let mut reported = input.clone();
        let mut changes = Vec::new();
        version.remove_nulls(&mut reported, &mut changes);
        prop_assert_eq!(&reported, &once);
        prop_assert_eq!(undo(&changes, reported), input);
    }

    #[test]
    fn defaulting_is_idempotent_reported_and_undone(
        schema in root_schema(), input in value(), dialect in dialect(),
    ) {
        let version = version_with(&schema, dialect, false);
        let mut once = input.clone();
        version.apply_defaults(&mut once, &mut ()).unwrap();
        let mut twice = once.clone();
        version.apply_defaults(&mut twice, &mut ()).unwrap();
        prop_assert_eq!(&twice, &once);

        let mut reported = input.clone();
        let mut changes = Vec::new();
        version.apply_defaults(&mut reported, &mut changes).unwrap();
        prop_assert_eq!(&reported, &once);
        prop_assert_eq!(undo(&changes, reported), input);
    }

    /// An embedded resource whose type fields are no strings is refused (OM-21), so the law is
    /// about what is accepted. The generated defaults hold no nulls: a null inside a default is
    /// kept when the default is set and removed by the next decode (DF-26).
    #[test]
    fn decoding_what_was_decoded_changes_nothing(
        schema in root_schema(), input in resource(), preserve in proptest::bool::weighted(0.2),
    ) {
        let version = version_with(&schema, Dialect::Kubernetes, preserve);
        prop_assert_eq!(version.structural_errors(), &[]);
        let body = billhook::to_json(&input);
        let options = DecodeOptions::default();
        if let Ok(decoded) = version.decode(body.as_bytes(), &options) {
            let again = billhook::to_json(decoded.object());
            let strict = options.clone().field_validation(FieldValidation::Strict).report(true);
            let again = version.decode(again.as_bytes(), &strict);
            let again = again.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(print(again.object()), print(decoded.object()));
            prop_assert_eq!(again.changes(), &[]);
        }
    }

    #[test]
    fn decoding_with_and_without_a_report_gives_the_same(
        schema in root_schema(), input in resource(), dialect in dialect(),
    ) {
        let version = version_with(&schema, dialect, false);
        let body = billhook::to_json(&input);
        let plain = DecodeOptions::default().field_validation(FieldValidation::Ignore);
        let reporting = DecodeOptions::default().report(true);
        let plain = version.decode(body.as_bytes(), &plain);
        let reporting = version.decode(body.as_bytes(), &reporting);
        match (plain, reporting) {
            (Ok(plain), Ok(reporting)) => prop_assert_eq!(plain.object(), reporting.object()),
            (plain, reporting) => prop_assert_eq!(plain.err(), reporting.err()),
        }
    }

    #[test]
    fn storage_reads_never_refuse_single_metadata_fields(
        schema in root_schema(), input in resource(),
    ) {
        let version = version_with(&schema, Dialect::Kubernetes, false);
        let body = billhook::to_json(&input);
        let options = DecodeOptions::default().report(true);
        if let Ok(read) = version.decode_storage(body.as_bytes(), &options) {
            prop_assert!(read.object()["metadata"]["generation"].as_i64() >= Some(1));
            let stored = version.encode_storage(read.object()).unwrap();
            let again = version.decode_storage(&stored, &options).unwrap();
            prop_assert_eq!(print(again.object()), print(read.object()));
        }
    }
}

/// Strings that some YAML reader takes for something else, and ordinary ones.
fn text() -> impl Strategy<Value = String> {
    const ODD: [&str; 59] = [
        "yes",
        "No",
        "y",
        "on",
        "true",
        "null",
        "~",
        "1",
        "0x1f",
        "1_000",
        "1:30",
        "1.5",
        ".inf",
        "1e3",
        "2020-01-01",
        "=",
        "<<",
        "",
        " a",
        "a ",
        "a: b",
        "a #b",
        "- a",
        "a:",
        "[a]",
        "@a",
        "%a",
        "a\nb",
        "a\nb\n",
        "a\n\n",
        "\n",
        "a\n b\n",
        "a \nb",
        "\ta",
        "a\tb\nc",
        "é\nb",
        "a\r\nb",
        "50%",
        "10Gi",
        "example.com/v1",
        "http://a.b/c?d=e",
        "key: |",
        "'",
        "\"",
        "---",
        "...",
        "#",
        "a\n---\nb",
        "\u{feff}a\nb",
        "0o17",
        "017",
        "+1",
        "_1",
        "-",
        "?",
        "a, b",
        "*a",
        "&a",
        "!a",
    ];
    prop_oneof![
        2 => proptest::sample::select(&ODD[..]).prop_map(str::to_owned),
        1 => "[ -~]{0,12}",
        1 => "[a-zA-Z0-9_./ :-]{0,10}",
        1 => "\\PC{0,6}",
        1 => any::<String>(),
        1 => "[\u{7f}-\u{a0}\u{ad}\u{2028}\u{2029}\u{202e}\u{e000}\u{feff}\u{fffd}-\u{ffff}\u{10ffff}a: ]{1,4}",
        1 => (950usize..1100, "[a\"\u{9b}]").prop_map(|(count, c)| c.repeat(count)),
    ]
}

fn printable() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
        Just(Value::Bool(true)),
        Just(Value::from(1.25)),
        Just(Value::from(1e300)),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map(text(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn yaml_is_read_back_as_it_was_written(value in printable()) {
        let document = serde_json::json!({"value": value});
        let text = billhook::to_yaml(&document);
        let read = billhook::read_manifests(text.as_bytes())
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(read.len(), 1, "{}", text);
        prop_assert_eq!(print(read[0].value()), print(&document), "{}", text);
        // A reader of other people takes it for the same.
        let peer: Value = serde_yaml::from_str(&text)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(print(&peer), print(&document), "{}", text);
        let raw = text.chars().find(|c| *c != '\n' && !is_printable(*c));
        prop_assert_eq!(raw, None, "{}", text);
    }
}

/// To readers of YAML 1.1, times and numbers of base 60 need no quotation marks; strings do.
#[test]
fn strings_that_are_like_times_are_quoted() {
    for text in ["2026-01-01", "2026-01-01T00:00:00Z", "1:30", "22:22", "12:30:45", "1-2-3"] {
        assert_eq!(billhook::to_yaml(&serde_json::json!({"a": text})), format!("a: \"{text}\"\n"));
    }
    for text in ["nginx:1.25", "10.0.0.1", "a-b-c", "0 3 1-5", "10Gi", "1-2"] {
        assert_eq!(billhook::to_yaml(&serde_json::json!({"a": text})), format!("a: {text}\n"));
    }
}
