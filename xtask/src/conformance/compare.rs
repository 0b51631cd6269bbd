//! When an outcome counts as the server's.

use billhook_apimachinery::print::{plain_json, pretty_json};
use billhook_decode::read_json;
use serde_json::{Map, Value};

use super::{Outcome, apply, crd};
use crate::fuzz::same;

/// Whether an outcome is what the server gave, by the rules of the vectors' description: texts of
/// parsers and of the pattern compiler may differ, and where a step stops at its first error the
/// server's choice of that error is random.
pub(super) fn agree(op: &str, expect: &Value, actual: &Outcome) -> bool {
    let expected_errors = match expect.get("errors") {
        Some(Value::Array(errors)) => errors.as_slice(),
        _ => &[],
    };
    let expected_errors = expected_errors.iter().filter(|error| !is_any_first_error(op, error));
    let expected_errors: Vec<&Value> = expected_errors.collect();
    match (expect.get("ok"), &actual.ok) {
        (None, None) if apply::has_type_errors(op) => {
            apply::same_type_errors(&expected_errors, actual)
        }
        (None, None) => first_error_is_random(op) || same_errors(op, &expected_errors, actual),
        (Some(expected), Some(_)) if !actual.other_first_errors.is_empty() => {
            let error = expected.get("new_error").and_then(Value::as_str).unwrap_or_default();
            actual.other_first_errors.iter().any(|other| other == error)
        }
        (Some(expected), Some(ok)) if op == "objectmeta" && expected.get("object").is_none() => {
            let (found, all) = (unknown_paths(expected), unknown_paths(ok));
            found.iter().all(|path| all.contains(path))
                && expected.get("validate_errors") == ok.get("validate_errors")
                && same_errors(op, &expected_errors, actual)
        }
        (Some(expected), Some(ok)) => {
            let (expected, ok) = (crd::sorted_warnings(op, expected), crd::sorted_warnings(op, ok));
            same(&expected, &ok)
                && (first_error_is_random(op) || same_errors(op, &expected_errors, actual))
        }
        _ => false,
    }
}

/// The unknown fields of metadata. Beside an error of the coercion, those of a vector are the ones
/// that the server happened to meet before it.
fn unknown_paths(ok: &Value) -> &[Value] {
    ok.get("unknown_paths").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// An error of the metadata coercion stands for any that might have been met first.
fn is_any_first_error(op: &str, error: &Value) -> bool {
    op == "objectmeta" && error.get("source").and_then(Value::as_str) == Some("coerce")
}

fn first_error_is_random(op: &str) -> bool {
    matches!(op, "decode" | "decode_storage" | "encode_storage")
}

fn same_errors(op: &str, expected: &[&Value], actual: &Outcome) -> bool {
    let parts = |error: &Value| {
        let part = |name: &str| error.get(name).map(plain_json).unwrap_or_default();
        let text = |name: &str| {
            let text = error.get(name).and_then(Value::as_str).unwrap_or_default();
            let text = without_compiler_text(text);
            if has_random_metadata_error(op) { without_metadata_error(text) } else { text }
                .to_owned()
        };
        // The vectors leave out a value that is null.
        let bad_value = error.get("badvalue").filter(|value| !value.is_null());
        let bad_value = bad_value.map(text_of_value).unwrap_or_default();
        (text("error"), part("type"), part("field"), text("detail"), bad_value)
    };
    let mut expected: Vec<_> = expected.iter().map(|error| parts(error)).collect();
    let actual = actual.errors.iter().filter(|error| !is_any_first_error(op, error));
    let mut actual: Vec<_> = actual.map(|error| parts(error)).collect();
    expected.sort();
    actual.sort();
    expected == actual
}

/// Values that are equal have the same text: a minus before zero does not count.
fn text_of_value(value: &Value) -> String {
    let text = plain_json(value);
    match read_json(text.as_bytes()) {
        Ok(read) => plain_json(read.value()),
        Err(_) => text,
    }
}

/// Whether errors of the metadata coercion are among others.
fn has_random_metadata_error(op: &str) -> bool {
    matches!(op, "defaults_validate" | "crd" | "validate_cr")
}

/// A text without what the metadata coercion met first.
fn without_metadata_error(text: &str) -> &str {
    let starts = ["json: cannot unmarshal", "parsing time"];
    let end = starts.iter().filter_map(|start| text.find(start)).min();
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

fn without_compiler_text(text: &str) -> &str {
    let end = ["error parsing regexp:", "json parse error:", "compilation failed:"]
        .iter()
        .filter_map(|start| text.find(start))
        .min();
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// An outcome in the form of a vector's expectation.
pub(super) fn show(outcome: &Outcome) -> String {
    let mut members = Map::new();
    if let Some(ok) = &outcome.ok {
        members.insert("ok".to_owned(), billhook_apimachinery::value::deep_clone(ok));
    }
    if !outcome.errors.is_empty() {
        let errors = outcome.errors.iter().map(|error| (**error).clone()).collect();
        members.insert("errors".to_owned(), Value::Array(errors));
    }
    pretty_json(&Value::Object(members))
}

/// Two texts beside each other, with a mark where lines differ.
pub(crate) fn side_by_side(expected: &str, actual: &str) -> String {
    const WIDTH: usize = 90;
    let cut = |line: &str| -> String { line.chars().take(WIDTH).collect() };
    let mut out = format!("  {:WIDTH$} | {}\n", "expected", "actual");
    let (mut left, mut right) = (expected.lines(), actual.lines());
    loop {
        let (left, right) = match (left.next(), right.next()) {
            (None, None) => return out,
            (left, right) => (left.unwrap_or(""), right.unwrap_or("")),
        };
        let mark = if left == right { ' ' } else { '!' };
        out.push_str(&format!("{mark} {:WIDTH$} | {}\n", cut(left), cut(right)));
    }
}
