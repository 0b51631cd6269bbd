//! Request URIs, as Go reads them from a request line (VV-71).

use std::net::Ipv6Addr;

/// An absolute URI with a scheme, a path from the root, or `*`.
pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().filter(u8::is_ascii_control).count() > 0 {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((has_scheme, rest)) = split_scheme(text) else { return false };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        // Behind a scheme anything else is opaque.
        return has_scheme;
    }
    let Some(authority) = rest.strip_prefix("//").filter(|_| has_scheme) else {
        return has_valid_escapes(rest);
    };
    let end = authority.find('/').unwrap_or(authority.len());
    match authority.split_at_checked(end) {
        Some((authority, path)) => is_authority(authority) && has_valid_escapes(path),
        None => false,
    }
}

/// Returns whether there is a scheme, and the text after it; `None` if only its name is missing.
fn split_scheme(text: &str) -> Option<(bool, &str)> {
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if position > 0 => {}
            b':' if position > 0 => return Some((true, text.get(position + 1..)?)),
            b':' => return None,
            _ => break,
        }
    }
    Some((false, text))
}

fn is_authority(authority: &str) -> bool {
    match authority.rsplit_once('@') {
        None => is_host(authority),
        Some((user, host)) => is_host(host) && is_user_info(user),
    }
}

fn is_user_info(text: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    text.bytes().all(is_allowed) && has_valid_escapes(text)
}

fn is_host(host: &str) -> bool {
    if let Some(literal) = host.strip_prefix('[') {
        let Some((address, port)) = literal.rsplit_once(']') else { return false };
        return is_optional_port(port) && is_address(address);
    }
    match host.rsplit_once(':') {
        Some((name, port)) => is_host_name(name) && is_port(port),
        None => is_host_name(host),
    }
}

/// An IPv6 address in brackets; its zone begins with an escaped percent sign.
fn is_address(text: &str) -> bool {
    let (address, zone) = match text.split_once("%25") {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let zone_is_valid = zone.is_none_or(|zone| {
        !zone.is_empty() && has_valid_escapes(zone) && zone.bytes().all(is_host_byte)
    });
    zone_is_valid && address.parse::<Ipv6Addr>().is_ok()
}

fn is_optional_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(is_port)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Bytes that need no escape in a host, escapes themselves, and everything beyond ASCII. Only
/// bytes beyond ASCII may be escaped.
fn is_host_name(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| is_host_byte(byte) && !matches!(byte, b':' | b'['));
    let escapes_ascii = || {
        text.match_indices('%').any(|(at, _)| {
            let digits = text.get(at + 1..at + 3).unwrap_or_default();
            u8::from_str_radix(digits, 16).is_ok_and(|byte| byte.is_ascii()) && digits != "25"
        })
    };
    is_plain && (!text.contains('%') || has_valid_escapes(text) && !escapes_ascii())
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte)
}

/// Whether two hexadecimal digits follow each percent sign.
fn has_valid_escapes(text: &str) -> bool {
    !text.contains('%')
        || text.match_indices('%').all(|(at, _)| {
            let digits = text.as_bytes().get(at + 1..at + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        })
}
