//! The costs of calls of the standard functions at run time (CE-35).

use billhook_apimachinery::value::grow;

use crate::language::value::{EvaluationError, Value};

/// The cost of reading a character.
const CHARACTER: f64 = 0.1;
/// The cost of a character of a pattern.
const PATTERN_CHARACTER: f64 = 0.25;

/// Returns the length of a value, or of the value in an optional; one if it has none.
pub(crate) fn size(value: &Value<'_>) -> u64 {
    match value {
        Value::Optional(Some(value)) => grow(|| size(value)),
        Value::Opaque(opaque) => opaque.size() as u64,
        value => value.size().map_or(1, |size| size as u64),
    }
}

pub(super) fn size_at(arguments: &[Value<'_>], index: usize) -> u64 {
    arguments.get(index).map_or(1, size)
}

/// The cost of reading so many characters once.
pub(crate) fn traversal(characters: u64) -> u64 {
    (characters as f64 * CHARACTER).ceil() as u64
}

/// One traversal of the first argument.
pub(super) fn first(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    traversal(size_at(arguments, 0))
}

/// Two traversals of the first argument.
pub(super) fn first_twice(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    (size_at(arguments, 0) as f64 * 2.0 * CHARACTER).ceil() as u64
}

/// One traversal of the shorter argument.
pub(super) fn shorter(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    traversal(size_at(arguments, 0).min(size_at(arguments, 1)))
}

/// One traversal of both arguments.
pub(super) fn both(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    traversal(size_at(arguments, 0) + size_at(arguments, 1))
}

/// The length of the list.
pub(super) fn length(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    size_at(arguments, 1)
}

/// The text at each place of the part.
pub(super) fn search(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    traversal(size_at(arguments, 0)).saturating_mul(traversal(size_at(arguments, 1)))
}

/// The text for each expression of the pattern.
pub(super) fn pattern(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    matching(size_at(arguments, 0), size_at(arguments, 1))
}

/// A text of a length for each expression of a pattern of a length: four characters on average.
pub(crate) fn matching(text: u64, pattern: u64) -> u64 {
    let text = ((1 + text) as f64 * CHARACTER).ceil() as u64;
    text.saturating_mul((pattern as f64 * PATTERN_CHARACTER).ceil() as u64)
}

/// One traversal of the second argument.
pub(super) fn second(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    traversal(size_at(arguments, 1))
}

/// One traversal of the result.
pub(super) fn result(_: &[Value<'_>], result: &Value<'_>) -> u64 {
    traversal(size(result))
}

/// Sums the parts of a value: one for anything except text, a tenth of the bytes for text.
pub(super) fn parts(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    arguments.first().map_or(0, parts_of)
}

fn parts_of(value: &Value<'_>) -> u64 {
    let read = |bytes: usize| (bytes as f64 * CHARACTER) as u64;
    // A value that does not fit its schema is an error, which counts one.
    let part =
        |value: Result<Value<'_>, EvaluationError>| value.map_or(1, |value| parts_of(&value));
    match value {
        Value::String(text) => read(text.as_str().len()),
        Value::Bytes(bytes) => read(bytes.len()),
        Value::List(list) => grow(|| list.iter().map(part).sum()),
        Value::Map(map) => grow(|| {
            map.entries().into_iter().map(|(key, value)| parts_of(&key) + part(value)).sum()
        }),
        _ => 1,
    }
}
