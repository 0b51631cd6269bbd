//! Base64 as byte strings are written in JSON: the standard alphabet, padded; and as in URLs.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes as text.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        for position in 0..4 {
            let index = (bits >> (18 - 6 * position)) & 63;
            let digit = ALPHABET.get(index as usize).filter(|_| position <= group.len());
            text.push(char::from(*digit.unwrap_or(&b'=')));
        }
    }
    text
}

/// Encodes bytes as text that may stand in a URL: with `-` and `_`, and without padding.
pub fn encode_url(bytes: &[u8]) -> String {
    encode(bytes).trim_end_matches('=').replace('+', "-").replace('/', "_")
}

/// Decodes the text that [`encode_url`] makes; none if it is another one.
pub fn decode_url(text: &str) -> Option<Vec<u8>> {
    if text.contains(['+', '/', '=', '\r', '\n']) {
        return None;
    }
    let padding = "=".repeat((4 - text.len() % 4) % 4);
    decode(&(text.replace('-', "+").replace('_', "/") + &padding)).ok()
}

/// Decodes a text, in which line breaks do not count.
///
/// # Errors
///
/// Returns the offset of the first byte that is out of place.
pub fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut digits, mut padding) = (0_u32, 0, 0);
    for (offset, byte) in text.bytes().enumerate() {
        let value = match byte {
            b'\r' | b'\n' => continue,
            b'=' if digits >= 2 && digits + padding < 4 => {
                padding += 1;
                continue;
            }
            // Padding that is missing is noticed at that before it.
            _ if padding > 0 => return Err(offset - usize::from(digits + padding < 4)),
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(offset),
        };
        bits = bits << 6 | u32::from(value);
        digits += 1;
        if digits == 4 {
            bytes.extend(bits.to_be_bytes().into_iter().skip(1));
            (bits, digits) = (0, 0);
        }
    }
    match (digits, padding) {
        (0, 0) => {}
        (2, 2) => bytes.push((bits >> 4) as u8),
        (3, 1) => bytes.extend([(bits >> 10) as u8, (bits >> 2) as u8]),
        // Digits that are too few are out of place from the first on.
        (digits, 0) => return Err(text.len() - digits),
        _ => return Err(text.len()),
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, and texts that are not base64.
    #[test]
    fn texts_and_bytes() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Ok(bytes.as_bytes()));
        }
        assert_eq!(decode("Zm9v\nYmFy\r\n").as_deref(), Ok(b"foobar".as_slice()));
        assert_eq!(encode(&[0xfb, 0xff, 0xfe]), "+//+");
        for (text, offset) in [
            ("Zm9", 0),
            ("Zm9vZg", 4),
            ("Z===", 1),
            ("Zg==Zg==", 4),
            ("Zg=v", 2),
            ("Zg=-", 2),
            ("Zm-v", 2),
            ("Zg=", 3),
            ("Zm8==", 4),
        ] {
            assert_eq!(decode(text), Err(offset), "{text}");
        }
    }
}
