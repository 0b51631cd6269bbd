//! Network addresses (VV-71).

use std::net::IpAddr;

/// An IP address with a dot; its decimal parts may have leading zeros.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && is_sloppy_ip(text)
}

/// An IP address with a colon, without zone and leading zeros in decimal parts.
pub(super) fn is_ipv6(text: &str) -> bool {
    is_ip(text) && text.contains(':')
}

/// An IP address as Go's `net.ParseIP` takes it.
pub(super) fn is_ip(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

/// An address and the length of a prefix that fits it.
pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let bits = match address {
        address if is_sloppy_ipv4(address) => 32,
        address if is_sloppy_ipv6(address) => 128,
        _ => return false,
    };
    small_number(length, 10).is_some_and(|length| length <= bits)
}

/// The separator that comes first decides which kind of address it is.
fn is_sloppy_ip(text: &str) -> bool {
    is_sloppy_ipv4(text) || is_sloppy_ipv6(text)
}

fn is_sloppy_ipv4(text: &str) -> bool {
    let mut parts = 0;
    text.split('.').all(|part| {
        parts += 1;
        small_number(part, 10).is_some_and(|number| number <= 0xff)
    }) && parts == 4
}

/// Eight groups of hexadecimal digits, `::` once for as many as are missing, and at the end a
/// dotted address in place of two.
fn is_sloppy_ipv6(text: &str) -> bool {
    let (before, after) = match text.split_once("::") {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    };
    let Some(first) = group_count(before, after.is_none()) else { return false };
    match after {
        None => first == 8,
        Some(after) => group_count(after, true).is_some_and(|second| first + second < 8),
    }
}

/// Returns the number of groups of a part; only the last part may end in a dotted address.
fn group_count(text: &str, is_end: bool) -> Option<usize> {
    if text.is_empty() {
        return Some(0);
    }
    let mut count = 0;
    let mut groups = text.split(':').peekable();
    while let Some(group) = groups.next() {
        let is_last = groups.peek().is_none();
        if small_number(group, 16).is_some_and(|number| number <= 0xffff) {
            count += 1;
        } else if is_last && is_end && is_sloppy_ipv4(group) {
            count += 2;
        } else {
            return None;
        }
    }
    Some(count)
}

/// A number of any length that is below 2^24.
fn small_number(text: &str, radix: u32) -> Option<u32> {
    let mut number = 0;
    for character in text.chars() {
        number = number * radix + character.to_digit(radix)?;
        if number >= 0xff_ffff {
            return None;
        }
    }
    (!text.is_empty()).then_some(number)
}

/// 6, 8 or 20 octets, by twos with `:` or `-` between, by fours with `.`, or without separators.
pub(super) fn is_mac(text: &str) -> bool {
    let (separator, width) = match text.as_bytes().get(2) {
        Some(b':') => (Some(':'), 2),
        Some(b'-') => (Some('-'), 2),
        _ if text.as_bytes().get(4) == Some(&b'.') => (Some('.'), 4),
        _ => (None, text.len()),
    };
    let groups: Vec<&str> = match separator {
        Some(separator) => text.split(separator).collect(),
        None => vec![text],
    };
    let is_group =
        |group: &&str| group.len() == width && group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().all(is_group) && matches!(groups.len() * width, 12 | 16 | 40)
}
