//! Literals: the values of their texts.

use std::str::Chars;

use super::lexer::TokenKind;
use crate::language::ast::Literal;

/// The value of a number.
pub(super) fn number(kind: TokenKind, text: &str) -> Result<Literal, &'static str> {
    match kind {
        TokenKind::Uint => {
            let (digits, radix) = radix(text.trim_end_matches(['u', 'U']));
            u64::from_str_radix(&digits, radix)
                .map(Literal::Uint)
                .map_err(|_| "invalid uint literal")
        }
        TokenKind::Float => match text.parse() {
            Ok(value) if f64::is_finite(value) => Ok(Literal::Double(value)),
            _ => Err("invalid double literal"),
        },
        _ => {
            let (digits, radix) = radix(text);
            i64::from_str_radix(&digits, radix).map(Literal::Int).map_err(|_| "invalid int literal")
        }
    }
}

/// The digits of an integer, with its sign, and their base.
fn radix(text: &str) -> (String, u32) {
    match text.split_once("0x") {
        Some((sign @ ("" | "-"), digits)) => (format!("{sign}{digits}"), 16),
        _ => (text.to_owned(), 10),
    }
}

/// Returns the value of a string or of bytes whose text is a complete token.
pub(super) fn text(kind: TokenKind, token: &str) -> Result<Literal, &'static str> {
    let quoted = token.trim_start_matches(['b', 'B', 'r', 'R']);
    let is_raw = token.len() > quoted.len()
        && token.chars().take(token.len() - quoted.len()).any(|c| matches!(c, 'r' | 'R'));
    let content = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find_map(|quote| quoted.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or_default();
    let content = content.replace("\r\n", "\n").replace('\r', "\n");
    if kind == TokenKind::Bytes {
        let mut bytes = Vec::new();
        unescape(&content, is_raw, |unit| {
            match unit {
                Unit::Char(character) => {
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Unit::Byte(byte) => bytes.push(byte),
                Unit::CodePoint(_) => return None,
            }
            Some(())
        })
        .ok_or(UNESCAPABLE)?;
        return Ok(Literal::Bytes(bytes.into()));
    }
    let mut value = String::new();
    unescape(&content, is_raw, |unit| {
        value.push(match unit {
            Unit::Char(character) => character,
            Unit::Byte(byte) => char::from(byte),
            Unit::CodePoint(number) => char::from_u32(number)?,
        });
        Some(())
    })
    .ok_or(UNESCAPABLE)?;
    Ok(Literal::String(value.into()))
}

const UNESCAPABLE: &str = "unable to unescape string";

/// A unit of a string.
enum Unit {
    Char(char),
    /// `\x41` or `\101`: a code point in strings.
    Byte(u8),
    /// `\u0041` or `\U00000041`
    CodePoint(u32),
}

fn unescape(content: &str, is_raw: bool, mut each: impl FnMut(Unit) -> Option<()>) -> Option<()> {
    let mut rest = content.chars();
    while let Some(character) = rest.next() {
        if character != '\\' || is_raw {
            each(Unit::Char(character))?;
            continue;
        }
        let unit = match rest.next()? {
            'u' => Unit::CodePoint(digits(&mut rest, 0, 4, 16)?),
            'U' => Unit::CodePoint(digits(&mut rest, 0, 8, 16)?),
            'x' | 'X' => Unit::Byte(u8::try_from(digits(&mut rest, 0, 2, 16)?).ok()?),
            first @ '0'..='3' => {
                Unit::Byte(u8::try_from(digits(&mut rest, first.to_digit(8)?, 2, 8)?).ok()?)
            }
            'a' => Unit::Char('\x07'),
            'b' => Unit::Char('\x08'),
            'f' => Unit::Char('\x0c'),
            'n' => Unit::Char('\n'),
            'r' => Unit::Char('\r'),
            't' => Unit::Char('\t'),
            'v' => Unit::Char('\x0b'),
            other => Unit::Char(other),
        };
        each(unit)?;
    }
    Some(())
}

/// Reads some digits after those that were read.
fn digits(rest: &mut Chars<'_>, start: u32, count: usize, radix: u32) -> Option<u32> {
    (0..count).try_fold(start, |value, _| {
        value.checked_mul(radix)?.checked_add(rest.next()?.to_digit(radix)?)
    })
}
