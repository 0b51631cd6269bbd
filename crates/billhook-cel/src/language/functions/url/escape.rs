//! Escapes in the parts of URLs.

use std::fmt::Write as _;

use billhook_apimachinery::print::quote;

/// A part of a URL, which decides the characters to escape in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Path,
    UserInfo,
    Host,
    Zone,
    Query,
    Fragment,
}

/// Whether a byte must be escaped in a part.
fn must_escape(byte: u8, part: Part) -> bool {
    if byte.is_ascii_alphanumeric() {
        return false;
    }
    if matches!(part, Part::Host | Part::Zone) && b"!$&'()*+,;=:[]<>\"".contains(&byte) {
        return false;
    }
    match byte {
        b'-' | b'_' | b'.' | b'~' => false,
        b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match part {
            Part::Path => byte == b'?',
            Part::UserInfo => matches!(byte, b'@' | b'/' | b'?' | b':'),
            Part::Fragment => false,
            Part::Host | Part::Zone | Part::Query => true,
        },
        b'!' | b'(' | b')' | b'*' => part != Part::Fragment,
        _ => true,
    }
}

/// The text without escapes.
pub(super) fn unescape(text: &str, part: Part) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let Some(code) = bytes.get(at + 1..at + 3).and_then(code) else {
                    let rest = bytes.get(at..(at + 3).min(bytes.len())).unwrap_or_default();
                    return Err(invalid_escape(rest));
                };
                let escape = bytes.get(at..at + 3).unwrap_or_default();
                if part == Part::Host && code < 0x80 && escape != b"%25" {
                    return Err(invalid_escape(escape));
                }
                let is_allowed = escape == b"%25" || code == b' ' || !must_escape(code, Part::Host);
                if part == Part::Zone && !is_allowed {
                    return Err(invalid_escape(escape));
                }
                out.push(code);
                at += 3;
                continue;
            }
            b'+' if part == Part::Query => out.push(b' '),
            byte if matches!(part, Part::Host | Part::Zone)
                && byte.is_ascii()
                && must_escape(byte, part) =>
            {
                let shown = String::from(char::from(byte));
                return Err(format!("invalid character {} in host name", quote(&shown)));
            }
            byte => out.push(byte),
        }
        at += 1;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn code(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match digits {
        &[high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    }
}

fn invalid_escape(text: &[u8]) -> String {
    format!("invalid URL escape {}", quote(&String::from_utf8_lossy(text)))
}

/// The text with everything escaped that must be.
pub(super) fn escape(text: &str, part: Part) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if must_escape(byte, part) {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "%{byte:02X}");
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

/// Whether a path or fragment may stay as it was written.
pub(super) fn is_escaped(text: &str, part: Part) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || !must_escape(byte, part))
}
