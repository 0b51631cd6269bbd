//! Escapes in the parts of URLs.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::message_error;
use crate::print::quote;

message_error! {
    /// An invalid escape in a URL, or a character that has to be escaped; prints the server's text.
    pub struct EscapeError;
}

/// A part of a URL, which decides the characters to escape in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlPart {
    /// The path.
    Path,
    /// The part before `@`.
    UserInfo,
    /// The host.
    Host,
    /// The zone of an IPv6 address.
    Zone,
    /// A name or a value of the query, where `+` is a space.
    Query,
    /// The part after `#`.
    Fragment,
}

/// Whether a byte must be escaped in a part.
fn must_escape(byte: u8, part: UrlPart) -> bool {
    if byte.is_ascii_alphanumeric() {
        return false;
    }
    if matches!(part, UrlPart::Host | UrlPart::Zone) && b"!$&'()*+,;=:[]<>\"".contains(&byte) {
        return false;
    }
    match byte {
        b'-' | b'_' | b'.' | b'~' => false,
        b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match part {
            UrlPart::Path => byte == b'?',
            UrlPart::UserInfo => matches!(byte, b'@' | b'/' | b'?' | b':'),
            UrlPart::Fragment => false,
            UrlPart::Host | UrlPart::Zone | UrlPart::Query => true,
        },
        b'!' | b'(' | b')' | b'*' => part != UrlPart::Fragment,
        _ => true,
    }
}

/// Returns a text of a URL without escapes; they may stand for any bytes.
///
/// # Errors
///
/// If an escape is invalid, or a character of a host is not escaped.
pub fn unescape(text: &str, part: UrlPart) -> Result<Vec<u8>, EscapeError> {
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
                if part == UrlPart::Host && code < 0x80 && escape != b"%25" {
                    return Err(invalid_escape(escape));
                }
                let is_allowed =
                    escape == b"%25" || code == b' ' || !must_escape(code, UrlPart::Host);
                if part == UrlPart::Zone && !is_allowed {
                    return Err(invalid_escape(escape));
                }
                out.push(code);
                at += 3;
                continue;
            }
            b'+' if part == UrlPart::Query => out.push(b' '),
            byte if matches!(part, UrlPart::Host | UrlPart::Zone)
                && byte.is_ascii()
                && must_escape(byte, part) =>
            {
                let shown = String::from(char::from(byte));
                return Err(format!("invalid character {} in host name", quote(&shown)).into());
            }
            byte => out.push(byte),
        }
        at += 1;
    }
    Ok(out)
}

/// Returns a text of a URL without escapes; what is not UTF-8 becomes U+FFFD.
///
/// # Errors
///
/// If an escape is invalid, or a character of a host is not escaped.
pub fn unescape_text(text: &str, part: UrlPart) -> Result<String, EscapeError> {
    unescaped(text, part).map(Cow::into_owned)
}

/// [`unescape_text`] without a copy of a text that has no escapes.
pub(super) fn unescaped(text: &str, part: UrlPart) -> Result<Cow<'_, str>, EscapeError> {
    // Most texts have no escapes.
    let is_plain = |byte: u8| match part {
        UrlPart::Query => !matches!(byte, b'%' | b'+'),
        UrlPart::Host | UrlPart::Zone => !byte.is_ascii() || !must_escape(byte, part),
        _ => byte != b'%',
    };
    if text.bytes().all(is_plain) {
        return Ok(Cow::Borrowed(text));
    }
    unescape(text, part).map(|bytes| Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

fn code(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match digits {
        &[high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    }
}

fn invalid_escape(text: &[u8]) -> EscapeError {
    format!("invalid URL escape {}", quote(&String::from_utf8_lossy(text))).into()
}

/// Escapes everything in a text that has to be escaped.
pub fn escape(text: impl AsRef<[u8]>, part: UrlPart) -> String {
    let text = text.as_ref();
    let mut out = String::with_capacity(text.len());
    for &byte in text {
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
pub(super) fn is_escaped(text: &str, part: UrlPart) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || !must_escape(byte, part))
}
