//! The content of JSON strings.

use billhook_apimachinery::print::{is_printable, lossy, quote};

use crate::scanner::end_of_plain;

/// The position where reading failed, and the server's text for it; boxed, because results are
/// passed often and fail rarely.
pub(crate) type Failure = Box<(usize, String)>;

pub(crate) fn failure(at: usize, text: String) -> Failure {
    Box::new((at, text))
}

/// Reads the string that starts after the quote at `start`; returns the text and the position after
/// the closing quote. `unicode` is the whole text, if that is UTF-8.
pub(crate) fn string(
    bytes: &[u8],
    unicode: Option<&str>,
    start: usize,
) -> Result<(String, usize), Failure> {
    let mut text = String::new();
    let mut at = start;
    loop {
        let end = end_of_plain(bytes, at);
        match unicode.and_then(|unicode| unicode.get(at..end)) {
            Some(plain) => text.push_str(plain),
            None => text.push_str(&lossy(bytes.get(at..end).unwrap_or_default())),
        }
        at = match bytes.get(end) {
            Some(b'"') => return Ok((text, end + 1)),
            Some(b'\\') => escape(bytes, end, &mut text)?,
            Some(other) => {
                let shown = character(&[*other]);
                let text = format!("invalid character {shown} in string");
                return Err(failure(end, text));
            }
            None => return Err(end_of_input(bytes)),
        };
    }
}

/// Returns the text of a string without mistakes, given as it is written between its quotes.
pub(crate) fn unescaped(written: &[u8]) -> String {
    let lossy = || String::from_utf8_lossy(written).into_owned();
    if !written.contains(&b'\\') {
        return lossy();
    }
    let quoted = [written, b"\""].concat();
    string(&quoted, None, 0).map_or_else(|_| lossy(), |(text, _)| text)
}

pub(crate) fn end_of_input(bytes: &[u8]) -> Failure {
    failure(bytes.len(), "unexpected end of JSON input".to_owned())
}

/// Reads the escape sequence at `at`; returns the position after it.
fn escape(bytes: &[u8], at: usize, text: &mut String) -> Result<usize, Failure> {
    let Some(&letter) = bytes.get(at + 1) else { return Err(end_of_input(bytes)) };
    text.push(match letter {
        b'"' | b'\\' | b'/' => char::from(letter),
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let unit = code_unit(bytes, at)?;
            if let 0xd800..=0xdbff = unit
                && let Ok(low @ 0xdc00..=0xdfff) = code_unit(bytes, at + 6)
                && bytes.get(at + 6..at + 8) == Some(b"\\u")
            {
                let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                return Ok(at + 12);
            }
            text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            return Ok(at + 6);
        }
        _ => return Err(invalid_escape(bytes, at, 2)),
    });
    Ok(at + 2)
}

/// The four hexadecimal digits of the `\u` escape at `at`.
fn code_unit(bytes: &[u8], at: usize) -> Result<u32, Failure> {
    let mut unit = 0;
    for position in at + 2..at + 6 {
        let Some(&digit) = bytes.get(position) else { return Err(end_of_input(bytes)) };
        let Some(digit) = char::from(digit).to_digit(16) else {
            return Err(invalid_escape(bytes, at, 6));
        };
        unit = unit << 4 | digit;
    }
    Ok(unit)
}

fn invalid_escape(bytes: &[u8], at: usize, length: usize) -> Failure {
    let sequence = bytes.get(at..(at + length).min(bytes.len())).unwrap_or_default();
    failure(at, format!("invalid escape sequence {} in string", quoted(sequence)))
}

/// Returns a text in backquotes, or in double quotes with escapes if not all of it can be seen.
fn quoted(text: &[u8]) -> String {
    let is_plain = |c: char| {
        is_printable(c) && !c.is_whitespace() && !matches!(c, '`' | char::REPLACEMENT_CHARACTER)
    };
    if let Ok(text) = std::str::from_utf8(text)
        && text.chars().all(is_plain)
    {
        return format!("`{text}`");
    }
    let mut out = String::from('"');
    for chunk in text.utf8_chunks() {
        let valid = quote(chunk.valid());
        out += valid.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or_default();
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    out + "\""
}

/// The first character of `rest` as the server's errors show it.
pub(crate) fn character(rest: &[u8]) -> String {
    let head = rest.get(..4.min(rest.len())).unwrap_or_default();
    let chunk = head.utf8_chunks().next();
    match chunk.and_then(|chunk| chunk.valid().chars().next()) {
        Some('\'') => r"'\''".to_owned(),
        Some('"') => "'\"'".to_owned(),
        Some(c) => {
            let quoted = quote(c.encode_utf8(&mut [0; 4]));
            format!("'{}'", quoted.trim_matches('"'))
        }
        None => format!("'\\x{:02x}'", rest.first().copied().unwrap_or_default()),
    }
}
