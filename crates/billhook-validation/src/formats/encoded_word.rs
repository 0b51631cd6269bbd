//! Encoded words in display names (RFC 2047): one that is well-formed but in a character set that
//! a server cannot read makes the address invalid.

/// Whether a word is encoded in an unknown character set.
pub(super) fn is_in_unknown_charset(word: &str) -> bool {
    let Some(inner) = word.strip_prefix("=?").and_then(|rest| rest.strip_suffix("?=")) else {
        return false;
    };
    let parts: Vec<&str> = inner.split('?').collect();
    let [charset, encoding, text] = parts.as_slice() else { return false };
    let is_well_formed = match *encoding {
        "B" | "b" => is_base64(text),
        "Q" | "q" => is_quoted_printable(text),
        _ => false,
    };
    let is_known =
        ["utf-8", "iso-8859-1", "us-ascii"].iter().any(|known| charset.eq_ignore_ascii_case(known));
    !charset.is_empty() && is_well_formed && !is_known
}

fn is_base64(text: &str) -> bool {
    text.is_empty() || super::digits::is_base64(text)
}

/// Printable ASCII, with `=` only before two hexadecimal digits.
fn is_quoted_printable(text: &str) -> bool {
    let escapes_are_valid = text.match_indices('=').all(|(at, _)| {
        let digits = text.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    let is_plain = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
    escapes_are_valid && text.bytes().all(is_plain)
}
