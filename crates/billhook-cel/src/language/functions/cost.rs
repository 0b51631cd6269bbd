//! The costs of calls of the standard functions at run time (CE-35).

use billhook_apimachinery::value::grow;

use super::price::{PATTERN, TRAVERSAL};
use crate::language::value::{EvaluationError, Value};

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
    (characters as f64 * TRAVERSAL).ceil() as u64
}

/// One traversal of the first argument.
pub(super) fn first(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    traversal(size_at(arguments, 0))
}

/// Two traversals of the first argument.
pub(super) fn first_twice(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    twice(size_at(arguments, 0))
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
    let text = ((1 + text) as f64 * TRAVERSAL).ceil() as u64;
    text.saturating_mul((pattern as f64 * PATTERN).ceil() as u64)
}

/// One traversal of the second argument.
pub(super) fn second(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    traversal(size_at(arguments, 1))
}

/// Two traversals of the result.
pub(super) fn result_twice(_: &[Value<'_>], result: &Value<'_>) -> u64 {
    twice(size(result))
}

fn twice(characters: u64) -> u64 {
    (characters as f64 * 2.0 * TRAVERSAL).ceil() as u64
}

/// More values than any list has whose parts a limit of cost lets be read; not all that count
/// nothing are waited for (CE-36).
const MAX_PARTS: u64 = 1 << 24;

/// Sums the parts of a value: one for anything except text, a tenth of the bytes for text.
pub(super) fn parts(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    let mut parts = Parts { cost: 0, left: MAX_PARTS };
    let counted = arguments.first().map_or(Some(()), |value| parts.add(value));
    counted.map_or(u64::MAX, |()| parts.cost)
}

struct Parts {
    cost: u64,
    /// How many more values are looked at.
    left: u64,
}

impl Parts {
    /// Adds a value; none if there are too many.
    fn add(&mut self, value: &Value<'_>) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        match value {
            Value::String(text) => self.cost += read(text.as_str().len()),
            Value::Bytes(bytes) => self.cost += read(bytes.len()),
            Value::List(list) => {
                return grow(|| list.iter().try_for_each(|part| self.add_part(part)));
            }
            Value::Map(map) => {
                return grow(|| {
                    map.entries().into_iter().try_for_each(|(key, value)| {
                        self.add(&key)?;
                        self.add_part(value)
                    })
                });
            }
            _ => self.cost += 1,
        }
        Some(())
    }

    /// Adds a part; one that does not fit its schema is an error, which counts one.
    fn add_part(&mut self, part: Result<Value<'_>, EvaluationError>) -> Option<()> {
        self.add(&part.unwrap_or(Value::Null))
    }
}

fn read(bytes: usize) -> u64 {
    (bytes as f64 * TRAVERSAL) as u64
}
