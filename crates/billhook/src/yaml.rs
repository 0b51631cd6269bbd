//! Writing YAML that every reader takes for the same value: strings that YAML 1.1 or 1.2 could
//! take for something else are quoted.

use billhook_apimachinery::print::{plain_json, yaml_string};
use billhook_apimachinery::value::{grow, sorted};
use serde_json::Value;

/// Returns a value as YAML text, with sorted keys and whole floats without a fraction.
///
/// ```
/// let value = serde_json::json!({"on": "yes", "list": [1.0, {"a": "x"}], "script": "a\nb\n"});
/// assert_eq!(billhook::to_yaml(&value), "\
/// list:
/// - 1
/// - a: x
/// \"on\": \"yes\"
/// script: |
///   a
///   b
/// ");
/// ```
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(_) | Value::Array(_) => write(value, 0, true, &mut out),
        scalar => write_scalar(scalar, 0, &mut out),
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Below this level the text goes on in flow style: indentation would make its size the square of
/// the depth.
const MAX_INDENT: usize = 100;

/// A longer key needs a `?` before it.
const MAX_SIMPLE_KEY: usize = 1000;

/// Writes a value at an indentation; `at_start` means that the line is indented already, as after
/// the dash of a list.
fn write(value: &Value, indent: usize, at_start: bool, out: &mut String) {
    let mut first = at_start;
    let mut line = |out: &mut String| {
        if !std::mem::take(&mut first) {
            indented(indent, out);
        }
    };
    match value {
        Value::Object(members) if !members.is_empty() && indent < MAX_INDENT => grow(|| {
            for (key, member) in sorted(members) {
                line(out);
                write_key(&key_text(key), Some(indent), out);
                match member {
                    Value::Object(below) if !below.is_empty() && indent + 1 < MAX_INDENT => {
                        out.push('\n');
                        write(member, indent + 1, false, out);
                    }
                    Value::Array(items) if !items.is_empty() => {
                        out.push('\n');
                        write(member, indent, false, out);
                    }
                    other => {
                        out.push(' ');
                        write_scalar(other, indent + 1, out);
                    }
                }
            }
        }),
        Value::Array(items) if !items.is_empty() && indent < MAX_INDENT => grow(|| {
            for item in items {
                line(out);
                out.push_str("- ");
                write(item, indent + 1, true, out);
            }
        }),
        other => {
            line(out);
            write_scalar(other, indent, out);
        }
    }
}

fn indented(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", indent));
}

/// Writes a scalar or a value in flow style, with the line break after it.
fn write_scalar(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::String(text) if is_block(text) => write_block(text, indent, out),
        Value::String(text) if is_plain(text) => out.push_str(text),
        other => write_flow(other, out),
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Writes a key of a block mapping at an indentation, or of a flow mapping, and the colon.
fn write_key(key: &str, indent: Option<usize>, out: &mut String) {
    if key.len() <= MAX_SIMPLE_KEY {
        out.push_str(key);
    } else {
        out.push_str("? ");
        out.push_str(key);
        out.push(if indent.is_some() { '\n' } else { ' ' });
        indented(indent.unwrap_or_default(), out);
    }
    out.push(':');
}

fn key_text(key: &str) -> String {
    if is_plain(key) { key.to_owned() } else { yaml_string(key) }
}

/// Writes a value as JSON, which is YAML too except for long keys.
fn write_flow(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(&yaml_string(text)),
        Value::Array(items) => grow(|| {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_flow(item, out);
            }
            out.push(']');
        }),
        Value::Object(members) => grow(|| {
            out.push('{');
            for (index, (key, member)) in sorted(members).into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_key(&yaml_string(key), None, out);
                write_flow(member, out);
            }
            out.push('}');
        }),
        other => out.push_str(&plain_json(other)),
    }
}

/// Returns whether a string needs no quotation marks. Only words of letters and a few other
/// characters are considered; in doubtful cases the text is read and compared.
fn is_plain(text: &str) -> bool {
    const LONGEST_DOUBTFUL: usize = 40;
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let first = text.chars().next();
    let is_sentence = text.chars().all(|c| is_word(c) || " ,:()@+=".contains(c));
    if !is_sentence || text.ends_with([' ', ':']) || text.contains(": ") {
        return false;
    }
    // To some readers of YAML 1.1, `2026-01-01` is a date and `1:30` a number.
    let is_like_a_time = text.contains(':') || text.matches('-').count() == 2;
    match first {
        Some(c) if c.is_ascii_digit() && is_like_a_time => false,
        Some(c) if c.is_ascii_alphabetic() && text.len() > "false".len() => true,
        Some(c) if c.is_ascii_alphanumeric() || c == '/' => {
            text.len() <= LONGEST_DOUBTFUL
                && billhook_yaml::read_document(text.as_bytes())
                    .is_ok_and(|document| document.value() == text)
        }
        _ => false,
    }
}

/// Whether a string of several lines can be written as a literal block.
fn is_block(text: &str) -> bool {
    let body = text.trim_end_matches('\n');
    body.contains('\n')
        && !text.starts_with([' ', '\n', '\t'])
        && !text.contains('\t')
        && text.chars().all(|c| c == '\n' || c.is_ascii_graphic() || c == ' ')
        && body.split('\n').all(|line| !line.ends_with(' '))
}

fn write_block(text: &str, indent: usize, out: &mut String) {
    let body = text.trim_end_matches('\n');
    out.push_str(match text.len() - body.len() {
        0 => "|-\n",
        1 => "|\n",
        _ => "|+\n",
    });
    for line in body.split('\n') {
        if !line.is_empty() {
            out.extend(std::iter::repeat_n("  ", indent.max(1)));
            out.push_str(line);
        }
        out.push('\n');
    }
    out.extend(std::iter::repeat_n('\n', (text.len() - body.len()).saturating_sub(1)));
}
