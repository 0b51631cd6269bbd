//! Which texts are JSON and where the others stop being it, by the grammar of RFC 8259 and by what
//! the server accepts beyond it: invalid UTF-8 and lone surrogates in strings.
//!
//! The place of an error is the first byte that cannot follow what is before it, or the end of the
//! text if more must follow; for an escape sequence, a number beyond float64 and a container too
//! deep, where these begin.

use billhook_decode::{MAX_DEPTH, check_json, read_json};

use crate::table::{ACCEPTED, DOCUMENTS, REFUSED};

fn accept(text: &[u8]) {
    let shown = String::from_utf8_lossy(text.get(..80).unwrap_or(text)).into_owned();
    if let Err(error) = read_json(text) {
        panic!("read_json refuses {shown:?} at {}: {error}", error.offset());
    }
    if let Err(error) = check_json(text) {
        panic!("check_json refuses {shown:?} at {}: {error}", error.offset());
    }
}

fn refuse(text: &[u8], offset: usize) {
    let shown = String::from_utf8_lossy(text.get(..80).unwrap_or(text)).into_owned();
    let read = read_json(text).map(|_| ()).map_err(|error| error.offset());
    assert_eq!(read, Err(offset), "read_json: {shown:?}");
    let checked = check_json(text).map(|_| ()).map_err(|error| error.offset());
    assert_eq!(checked, Err(offset), "check_json: {shown:?}");
}

/// Cases by themselves, as the item of an array and as the value of a member.
fn accept_value(value: &[u8]) {
    accept(value);
    accept(&[b"[", value, b"]"].concat());
    accept(&[b"[0, ", value, b" , 0]"].concat());
    accept(&[b"{\"a\":", value, b"}"].concat());
    accept(&[b"\n", value, b"\t\r\n "].concat());
}

fn refuse_value(value: &[u8], offset: usize) {
    refuse(value, offset);
    refuse(&[b" \n", value].concat(), offset + 2);
    if offset < value.len() {
        refuse(&[b"[", value, b"]"].concat(), offset + 1);
        refuse(&[b"{\"a\":", value, b"}"].concat(), offset + 5);
    }
}

#[test]
fn values() {
    ACCEPTED.iter().for_each(|value| accept_value(value));
}

#[test]
fn malformed_values() {
    REFUSED.iter().for_each(|(value, offset)| refuse_value(value, *offset));
}

#[test]
fn malformed_documents() {
    DOCUMENTS.iter().for_each(|(text, offset)| refuse(text, *offset));
}

#[test]
fn long_texts() {
    for length in 0..40 {
        let fill = "x".repeat(length);
        accept_value(format!("\"{fill}\"").as_bytes());
        accept_value(format!("\"{fill}\\n{fill}\\\"{fill}\"").as_bytes());
        refuse_value(format!("\"{fill}").as_bytes(), length + 1);
        refuse_value(format!("\"{fill}\x1f{fill}\"").as_bytes(), length + 1);
        refuse_value(format!("\"{fill}\\z{fill}\"").as_bytes(), length + 1);
        refuse_value(format!("\"{fill}\\").as_bytes(), length + 2);
        accept_value(format!("-1{}.{}5", "0".repeat(length), "0".repeat(length)).as_bytes());
        refuse_value(format!("1{}.x", "0".repeat(length)).as_bytes(), length + 2);
    }
    accept_value("9".repeat(308).as_bytes());
    refuse_value("9".repeat(309).as_bytes(), 0);
    refuse_value(format!("-{}", "9".repeat(309)).as_bytes(), 0);
    accept_value(format!("{}.{}", "9".repeat(308), "9".repeat(500)).as_bytes());
    accept_value(format!("0.{}1", "0".repeat(1000)).as_bytes());
    accept_value(format!("1{}e-1000", "0".repeat(1000)).as_bytes());
    accept_value(format!("1e{}5", "0".repeat(400)).as_bytes());
}

#[test]
fn depth() {
    for (open, inner, close) in [("[", "", "]"), ("{\"a\":", "0", "}"), ("[ ", " \"[\" ", " ]")] {
        let nested = |depth: usize| format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
        accept(nested(MAX_DEPTH).as_bytes());
        refuse(nested(MAX_DEPTH + 1).as_bytes(), open.len() * MAX_DEPTH);
        refuse(nested(10 * MAX_DEPTH).as_bytes(), open.len() * MAX_DEPTH);
        let unclosed = open.repeat(MAX_DEPTH);
        refuse(unclosed.as_bytes(), unclosed.len());
        refuse(open.repeat(MAX_DEPTH + 1).as_bytes(), open.len() * MAX_DEPTH);
        // What was closed does not count.
        accept(format!("[{0},{0}]", nested(MAX_DEPTH - 1)).as_bytes());
        refuse(
            nested(MAX_DEPTH).replacen(close, "", 1).as_bytes(),
            nested(MAX_DEPTH).len() - close.len(),
        );
    }
    assert_eq!(MAX_DEPTH, 10_000);
}

#[test]
fn every_byte_outside_of_strings() {
    for byte in 0..=u8::MAX {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => accept(&[b'[', byte, b']']),
            b'0'..=b'9' => accept(&[b'[', byte, b']']),
            b'"' => refuse(b"[\"]", 3),
            // These must go on.
            b'-' | b't' | b'f' | b'n' => refuse(&[b'[', byte, b']'], 2),
            b'[' => refuse(b"[[]", 3),
            b'{' => refuse(b"[{]", 2),
            b']' => refuse(b"[]]", 2),
            _ => refuse(&[b'[', byte, b']'], 1),
        }
    }
}

#[test]
fn every_byte_in_strings() {
    for byte in 0..=u8::MAX {
        let text = [b'"', byte, b'a', b'"'];
        match byte {
            0..0x20 => refuse(&text, 1),
            b'"' => refuse(&text, 2),
            b'\\' => refuse(&text, 1),
            // The server takes what is not UTF-8 for U+FFFD.
            _ => accept(&text),
        }
        let escaped = [b'"', b'\\', byte, b'"'];
        match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                // An escaped quote does not end the string, so the other one does.
                accept(&escaped);
            }
            _ => refuse(&escaped[..], 1),
        }
        let digit = [b'"', b'\\', b'u', b'0', b'0', b'4', byte, b'"'];
        if byte.is_ascii_hexdigit() { accept(&digit) } else { refuse(&digit, 1) }
    }
}

/// A sequence that can be seen as it is stands in backquotes, any other in quotes with escapes.
#[test]
fn escape_sequences_are_shown() {
    for (text, shown) in [
        (&br#""\x""#[..], r"`\x`"),
        (br#""\u00g0""#, r"`\u00g0`"),
        (br#""\ d""#, r#""\\ ""#),
        (b"\"\\u12\t0\"", r#""\\u12\t0""#),
        (b"\"\\\x01\"", r#""\\\x01""#),
        (b"\"\\`\"", r#""\\`""#),
        ("\"\\é\"".as_bytes(), r#""\\\xc3""#),
    ] {
        let error = read_json(text).unwrap_err().to_string();
        let expected = format!("invalid escape sequence {shown} in string");
        assert_eq!(error, expected, "{text:?}");
    }
}
