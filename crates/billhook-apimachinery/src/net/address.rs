//! The text forms of addresses and prefixes: IPv4 without leading zeros, IPv6 with zones only
//! where they are asked for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::message_error;
use crate::print::quote;

message_error! {
    /// A text that is not an IP address or a prefix of addresses; prints the server's text.
    pub struct AddressError;
}

/// A problem and its place.
struct Problem<'t> {
    message: &'static str,
    at: &'t str,
}

fn problem<'t, T>(message: &'static str, at: &'t str) -> Result<T, Problem<'t>> {
    Err(Problem { message, at })
}

/// An IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// The address without its zone.
    pub ip: IpAddr,
    /// Whether a zone was written after it, as in `fe80::1%en0`.
    pub has_zone: bool,
}

impl Address {
    /// Parses an IPv4 address without leading zeros, or an IPv6 address.
    ///
    /// # Errors
    ///
    /// If the text is neither.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let first = text.find(['.', ':', '%']);
        let separator = first.and_then(|at| text.get(at..)?.chars().next());
        let parsed = match separator {
            Some('.') => v4(text).map(|ip| Address { ip: IpAddr::V4(ip), has_zone: false }),
            Some(':') => zoned(text),
            Some(_) => problem("missing IPv6 address", ""),
            None => problem("unable to parse IP", ""),
        };
        parsed.map_err(|Problem { message, at }| {
            let at = if at.is_empty() { String::new() } else { format!(" (at {})", quote(at)) };
            AddressError::new(format!("ParseAddr({}): {message}{at}", quote(text)))
        })
    }
}

fn zoned(text: &str) -> Result<Address, Problem<'_>> {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    if zone == Some("") {
        return problem("zone must be a non-empty string", "");
    }
    Ok(Address { ip: IpAddr::V6(v6(address)?), has_zone: zone.is_some() })
}

fn v4(text: &str) -> Result<Ipv4Addr, Problem<'_>> {
    let mut octets = [0_u8; 4];
    let (mut position, mut value, mut digits) = (0, 0_u16, 0);
    for (at, byte) in text.bytes().enumerate() {
        let rest = || text.get(at..).unwrap_or_default();
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return problem("IPv4 field has octet with leading zero", "");
                }
                value = value * 10 + u16::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return problem("IPv4 field has value >255", "");
                }
            }
            b'.' => {
                if digits == 0 || at + 1 == text.len() {
                    return problem("IPv4 field must have at least one digit", rest());
                }
                let Some(octet) = octets.get_mut(position).filter(|_| position < 3) else {
                    return problem("IPv4 address too long", "");
                };
                *octet = value as u8;
                (position, value, digits) = (position + 1, 0, 0);
            }
            _ => return problem("unexpected character", rest()),
        }
    }
    match octets.get_mut(position).filter(|_| position == 3) {
        Some(octet) => *octet = value as u8,
        None => return problem("IPv4 address too short", ""),
    }
    Ok(octets.into())
}

fn v6(text: &str) -> Result<Ipv6Addr, Problem<'_>> {
    let mut groups: Vec<u16> = Vec::with_capacity(8);
    let mut ellipsis = None;
    let mut rest = text;
    if let Some(behind) = rest.strip_prefix("::") {
        (ellipsis, rest) = (Some(0), behind);
        if rest.is_empty() {
            return Ok(Ipv6Addr::UNSPECIFIED);
        }
    }
    while groups.len() < 8 {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        let digits = rest.strip_suffix(behind).unwrap_or_default();
        if digits.len() > 4 {
            return problem("each group must have 4 or less digits", rest);
        }
        if digits.is_empty() {
            return problem("each colon-separated field must have at least one digit", rest);
        }
        if behind.starts_with('.') {
            groups.extend(embedded_v4(rest, groups.len(), ellipsis.is_some())?);
            rest = "";
            break;
        }
        groups.push(u16::from_str_radix(digits, 16).unwrap_or(0));
        rest = behind;
        if rest.is_empty() {
            break;
        }
        let Some(behind) = rest.strip_prefix(':') else {
            return problem("unexpected character, want colon", rest);
        };
        if behind.is_empty() {
            return problem("colon must be followed by more characters", rest);
        }
        rest = behind;
        if let Some(behind) = rest.strip_prefix(':') {
            if ellipsis.is_some() {
                return problem("multiple :: in address", rest);
            }
            (ellipsis, rest) = (Some(groups.len()), behind);
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return problem("trailing garbage after address", rest);
    }
    expand(groups, ellipsis)
}

/// Makes an address of its groups, with zeros where the `::` is.
fn expand(mut groups: Vec<u16>, ellipsis: Option<usize>) -> Result<Ipv6Addr, Problem<'static>> {
    match ellipsis {
        None if groups.len() < 8 => return problem("address string too short", ""),
        Some(_) if groups.len() >= 8 => {
            return problem("the :: must expand to at least one field of zeros", "");
        }
        Some(at) => {
            let missing = 8 - groups.len();
            groups.splice(at..at, std::iter::repeat_n(0, missing));
        }
        None => {}
    }
    let mut address = [0_u16; 8];
    address.iter_mut().zip(groups).for_each(|(place, group)| *place = group);
    Ok(address.into())
}

/// Parses the IPv4 address at the end of an IPv6 address, as its last two groups.
fn embedded_v4(
    text: &str,
    groups_before: usize,
    has_ellipsis: bool,
) -> Result<[u16; 2], Problem<'_>> {
    if !has_ellipsis && groups_before != 6 {
        let why = "embedded IPv4 address must replace the final 2 fields of the address";
        return problem(why, text);
    }
    if groups_before > 6 {
        let why = "too many hex fields to fit an embedded IPv4 at the end of the address";
        return problem(why, text);
    }
    let [a, b, c, d] = v4(text)?.octets();
    Ok([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
}

/// Parses an address and the length of a prefix in bits, as in `10.0.0.0/8`.
///
/// # Errors
///
/// If the text is not one.
pub fn parse_prefix(text: &str) -> Result<(IpAddr, u8), AddressError> {
    let fail =
        |message: &str| AddressError::new(format!("netip.ParsePrefix({}): {message}", quote(text)));
    let (address, bits) = text.rsplit_once('/').ok_or_else(|| fail("no '/'"))?;
    let Address { ip: address, has_zone } =
        Address::parse(address).map_err(|error| fail(&error.to_string()))?;
    if has_zone {
        return Err(fail("IPv6 zones cannot be present in a prefix"));
    }
    let bad_bits = || fail(&format!("bad bits after slash: {}", quote(bits)));
    if bits.len() > 1 && !bits.starts_with(|c: char| matches!(c, '1'..='9')) {
        return Err(bad_bits());
    }
    let length: i64 = bits.parse().map_err(|_| bad_bits())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    match u8::try_from(length) {
        Ok(length) if length <= most => Ok((address, length)),
        _ => Err(fail("prefix length out of range")),
    }
}
