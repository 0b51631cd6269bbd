//! `enum` (VV-38, VV-39).

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::{DeepValue, Num, deep_eq};
use serde_json::Value;

use crate::numbers::truncate;

/// Returns whether a value matches an entry; null never does (VV-38).
pub(crate) fn matches(entries: &[DeepValue], value: &Value) -> bool {
    !value.is_null() && entries.iter().any(|entry| matches_entry(entry, value))
}

/// Whether a value, converted to the entry's kind where that is possible, equals it (VV-39).
fn matches_entry(entry: &Value, value: &Value) -> bool {
    match (entry, value) {
        (Value::Number(entry), Value::Number(value)) => match (Num::of(entry), Num::of(value)) {
            (Num::Int(entry), Num::Float(value)) => entry == truncate(value),
            (Num::Float(entry), value) => entry == value.as_f64(),
            (entry, value) => entry == value,
        },
        (Value::String(entry), Value::Number(value)) => match Num::of(value) {
            Num::Int(code) => is_character(entry, code),
            Num::Float(_) => false,
        },
        (Value::String(entry), Value::String(value)) => entry == value,
        (Value::Null, _) => false,
        (entry, value) => deep_eq(entry, value),
    }
}

/// Returns whether a text is the one character with a code point; numbers that are not code points
/// become the replacement character.
fn is_character(text: &str, code: i64) -> bool {
    let character = u32::try_from(code).ok().and_then(char::from_u32);
    let mut characters = text.chars();
    characters.next() == Some(character.unwrap_or(char::REPLACEMENT_CHARACTER))
        && characters.next().is_none()
}

/// An entry as an error lists it, still without quotation marks (VV-38).
pub(crate) fn entry_text(entry: &Value) -> String {
    match entry {
        Value::String(text) => text.clone(),
        other => compact_json(other),
    }
}
