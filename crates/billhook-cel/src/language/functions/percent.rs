//! Texts of errors that a server prints as if they were formats without values (KV-43).

use crate::language::value::EvaluationError;

/// Returns the error as a server prints it that takes its text for a format.
pub(super) fn reformatted(error: EvaluationError) -> EvaluationError {
    match error {
        EvaluationError::Other(text) => EvaluationError::new(without_values(&text)),
        error => error,
    }
}

/// Prints a format that has no values.
fn without_values(format: &str) -> String {
    let mut printed = String::new();
    let mut rest = format;
    while let Some((before, verb)) = rest.split_once('%') {
        printed += before;
        rest = placeholder(verb, &mut printed);
    }
    printed + rest
}

/// Prints what stands for a verb without its value, and returns the text after the verb.
fn placeholder<'f>(verb: &'f str, printed: &mut String) -> &'f str {
    let mut rest = verb.trim_start_matches(['#', '0', '+', '-', ' ']);
    let mut indexed = index(&mut rest);
    width(&mut rest, "%!(BADWIDTH)", printed);
    if let Some(precision) = rest.strip_prefix('.') {
        rest = precision;
        indexed |= index(&mut rest);
        width(&mut rest, "%!(BADPREC)", printed);
    }
    indexed |= index(&mut rest);
    let mut characters = rest.chars();
    match characters.next() {
        None => *printed += "%!(NOVERB)",
        Some('%') => printed.push('%'),
        Some(verb) => {
            let problem = if indexed { "BADINDEX" } else { "MISSING" };
            *printed += &format!("%!{verb}({problem})");
        }
    }
    characters.as_str()
}

/// Passes the position of a value; none is a right one.
fn index(rest: &mut &str) -> bool {
    let Some(inner) = rest.strip_prefix('[') else { return false };
    *rest = inner.split_once(']').map_or(inner, |(_, rest)| rest);
    true
}

/// Passes a width or a precision, which may be that of a value.
fn width(rest: &mut &str, problem: &str, printed: &mut String) {
    *rest = match rest.strip_prefix('*') {
        Some(after) => {
            *printed += problem;
            after
        }
        None => rest.trim_start_matches(|character: char| character.is_ascii_digit()),
    };
}
