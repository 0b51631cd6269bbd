//! From bytes to the characters of a YAML stream: encoding, byte order marks, and characters that
//! are not allowed.

use std::borrow::Cow;

use crate::cursor::is_break;
use crate::error::YamlError;
use crate::place::Place;

const BOM: &str = "\u{feff}";

/// The characters of a stream.
pub(crate) struct Text<'b> {
    /// The text that can be read.
    pub(crate) chars: Cow<'b, str>,
    /// The reason why nothing can be read after that.
    pub(crate) broken: Option<YamlError>,
    /// The number of bytes before the characters; `None` if the bytes are not UTF-8.
    pub(crate) offset: Option<usize>,
}

impl<'b> Text<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        let (mut chars, mut broken) = decode(bytes);
        if let Some(offset) = first_not_allowed(&chars) {
            let place = place_of(&chars, offset);
            broken = Some(YamlError::plain(place, "yaml: control characters are not allowed"));
            chars = cut(chars, offset);
        }
        Text { chars, broken, offset: offset(bytes) }
    }
}

fn offset(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => None,
        [0xef, 0xbb, 0xbf, ..] => Some(BOM.len()),
        _ => Some(0),
    }
}

/// Whether a character may occur in a stream.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

/// The bytes that are looked at together: most are ASCII characters that are allowed.
const CHUNK: usize = 64;

/// Returns the offset of the first character that is not allowed.
fn first_not_allowed(chars: &str) -> Option<usize> {
    let is_plain = |chunk: &[u8; CHUNK]| {
        chunk.iter().fold(true, |is_plain, byte| {
            is_plain & matches!(*byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')
        })
    };
    let mut at = 0;
    while let Some(rest) = chars.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.as_bytes().first_chunk().is_some_and(is_plain) {
            at += CHUNK;
            continue;
        }
        let mut end = rest.len();
        for (offset, c) in rest.char_indices() {
            if offset >= CHUNK {
                end = offset;
                break;
            }
            if !is_allowed(c) {
                return Some(at + offset);
            }
        }
        at += end;
    }
    None
}

/// Decodes the bytes up to the first that is not a character.
fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<YamlError>) {
    match bytes {
        [0xff, 0xfe, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => decode_utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => decode_utf8(rest),
        _ => decode_utf8(bytes),
    }
}

fn decode_utf8(bytes: &[u8]) -> (Cow<'_, str>, Option<YamlError>) {
    let error = match std::str::from_utf8(bytes) {
        Ok(chars) => return (Cow::Borrowed(chars), None),
        Err(error) => error,
    };
    let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
    let chars = std::str::from_utf8(good).unwrap_or_default();
    let message = match bytes.get(error.valid_up_to()) {
        _ if error.error_len().is_none() => "yaml: incomplete UTF-8 octet sequence",
        Some(0xc2..=0xf4) => "yaml: invalid trailing UTF-8 octet",
        _ => "yaml: invalid leading UTF-8 octet",
    };
    (Cow::Borrowed(chars), Some(YamlError::plain(place_of(chars, chars.len()), message)))
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (Cow<'_, str>, Option<YamlError>) {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut chars = String::with_capacity(bytes.len());
    let mut message = (!rest.is_empty()).then_some("yaml: incomplete UTF-16 character");
    for decoded in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match decoded {
            Ok(c) => chars.push(c),
            Err(_) => {
                message = Some("yaml: expected low surrogate area");
                break;
            }
        }
    }
    let broken = message.map(|text| YamlError::plain(place_of(&chars, chars.len()), text));
    (Cow::Owned(chars), broken)
}

fn cut(chars: Cow<'_, str>, offset: usize) -> Cow<'_, str> {
    match chars {
        Cow::Borrowed(chars) => Cow::Borrowed(chars.get(..offset).unwrap_or_default()),
        Cow::Owned(mut chars) => {
            chars.truncate(offset);
            Cow::Owned(chars)
        }
    }
}

/// The place of a byte offset.
pub(crate) fn place_of(chars: &str, offset: usize) -> Place {
    let mut place = Place { line: 1, column: 1 };
    place.advance(chars.get(..offset).unwrap_or(chars));
    place
}

impl Place {
    /// Moves past some text.
    pub(crate) fn advance(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if is_break(c) && !(c == '\r' && chars.peek() == Some(&'\n')) {
                *self = Place { line: self.line + 1, column: 1 };
            } else {
                self.column += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken_at(bytes: &[u8]) -> Option<(String, usize, usize)> {
        Text::new(bytes).broken.map(|e| (e.to_string(), e.line(), e.column()))
    }

    /// Fact `bom`.
    #[test]
    fn a_mark_at_the_start_is_no_character() {
        assert_eq!(Text::new(b"\xef\xbb\xbfa").chars, "a");
        assert_eq!(Text::new("a\u{feff}b".as_bytes()).chars, "a\u{feff}b");
    }

    #[test]
    fn utf_16_with_a_mark_is_read() {
        assert_eq!(Text::new(b"\xff\xfea\0\xe9\0").chars, "aé");
        assert_eq!(Text::new(b"\xfe\xff\xd8\x3d\xde\x00").chars, "😀");
        let expected = |text: &str| Some((text.to_owned(), 1, 2));
        assert_eq!(broken_at(b"\xff\xfea\0x"), expected("yaml: incomplete UTF-16 character"));
        assert_eq!(
            broken_at(b"\xff\xfea\0\x00\xd8"),
            expected("yaml: expected low surrogate area")
        );
    }

    /// Vector yamldoc-control.
    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        for (bytes, text, line, column) in [
            (&b"a: 1\nb\xff"[..], "yaml: invalid leading UTF-8 octet", 2, 2),
            (b"a: 1\r\nb\xc3(", "yaml: invalid trailing UTF-8 octet", 2, 2),
            (b"a\rb\xe2\x82", "yaml: incomplete UTF-8 octet sequence", 2, 2),
            (b"a\x01", "yaml: control characters are not allowed", 1, 2),
            ("é\u{fffe}".as_bytes(), "yaml: control characters are not allowed", 1, 2),
            (b"\0", "yaml: control characters are not allowed", 1, 1),
            (b"a\x7f", "yaml: control characters are not allowed", 1, 2),
        ] {
            assert_eq!(broken_at(bytes), Some((text.to_owned(), line, column)), "{bytes:?}");
        }
    }
}
