//! The `Warning` headers of webhooks, which are only logged (CL-60).

use hyper::header::{HeaderMap, WARNING};

/// The texts of the warnings for all recipients (code 299). Where a header is malformed, the rest of it
/// is left out.
pub(super) fn texts(headers: &HeaderMap) -> Vec<String> {
    let mut texts = Vec::new();
    for value in headers.get_all(WARNING) {
        let value = String::from_utf8_lossy(value.as_bytes());
        let mut rest = value.trim();
        while let Some((code, text, after)) = warning(rest) {
            if code == "299" && !text.is_empty() {
                texts.push(text);
            }
            match after.trim_start().strip_prefix(',') {
                Some(after) => rest = after.trim_start(),
                None => break,
            }
        }
    }
    texts
}

/// Splits off a warning: its code, its text, and what follows it and its date.
fn warning(header: &str) -> Option<(&str, String, &str)> {
    let (code, rest) = header.split_once(' ')?;
    let (_agent, rest) = rest.split_once(' ')?;
    let (text, rest) = quoted(rest)?;
    match rest.strip_prefix(' ').and_then(quoted) {
        Some((_date, rest)) => Some((code, text, rest)),
        None => Some((code, text, rest)),
    }
}

/// Splits off a quoted text.
fn quoted(header: &str) -> Option<(String, &str)> {
    let mut chars = header.strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some((text, chars.as_str())),
            '\\' => text.push(chars.next()?),
            other => text.push(other),
        }
    }
}
