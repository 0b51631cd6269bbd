//! Texts that are not YAML or JSON: a parser says where it stopped, which is often not what to mend.

use crate::source::Source;

/// Returns what to do about a text that cannot be read, if the message of the server and the line
/// where reading stopped say enough. Line and column count from 1.
pub fn syntax_help(source: &Source, message: &str, line: usize, column: usize) -> Option<String> {
    let text = |line: usize| {
        let (start, end) = (source.offset(line, 1), source.offset(line + 1, 1));
        source.text().get(start..end).unwrap_or_default().trim_end()
    };
    let whole = text(line);
    let from = whole.char_indices().nth(column.saturating_sub(1)).map_or(whole.len(), |(at, _)| at);
    let (before, rest) = whole.split_at(from);
    if whole.contains("{{") {
        return Some("this is a template: render it first".to_owned());
    }
    json(message).or_else(|| yaml(message, before, rest))
}

fn json(message: &str) -> Option<String> {
    let found = message.strip_prefix("invalid character ").map(|rest| rest.get(..3));
    let help = match found {
        Some(Some("'/'" | "'#'")) => "JSON has no comments",
        Some(Some("'}'" | "']'")) if message.contains("looking for beginning of") => {
            "remove the comma before it"
        }
        Some(Some("'\\'")) if message.contains("looking for beginning of") => {
            "write texts of JSON in double quotes"
        }
        Some(Some("'\"'" | "'{'" | "'['")) if message.contains("after") => {
            "is there a comma missing before it?"
        }
        _ if message == "unexpected end of JSON input" => "a bracket or a quote is not closed",
        _ => return None,
    };
    Some(help.to_owned())
}

fn yaml(message: &str, before: &str, rest: &str) -> Option<String> {
    let first = rest.chars().next();
    let has = |part: &str| message.contains(part);
    let help = match first {
        Some('\t') => "indent with spaces: YAML allows no tabs there",
        _ if has("tab character") => "indent with spaces: YAML allows no tabs there",
        Some(c @ ('@' | '`' | '%')) if has("cannot start any token") => {
            return Some(format!("write a text that begins with `{c}` in quotes"));
        }
        Some('*') if has("unknown anchor") => "write a text that begins with `*` in quotes",
        _ if has("alphabetic or numeric character") && before.ends_with(['*', '&']) => {
            "write a text that begins with `*` or `&` in quotes"
        }
        Some(':') if has("mapping values are not allowed") => {
            match before.trim_start().contains(':') {
                true => "write a text that contains `: ` in quotes",
                false => "is there a `:` missing on the line before, or is the indentation wrong?",
            }
        }
        _ if has("found unexpected end of stream") => "a quote is not closed",
        _ if has("could not find expected ':'") => "is there a `:` missing on the line before?",
        _ if has("expected '-' indicator") || has("expected key") => {
            "is this line indented as the other lines of its list or object?"
        }
        _ if has("expected ',' or") => "a bracket or a comma is missing",
        _ if has("<document start>") => "separate documents by a line `---`",
        _ if has("UTF-8 octet") => "save the file as UTF-8",
        _ => return None,
    };
    Some(help.to_owned())
}
