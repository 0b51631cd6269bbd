//! Checks of IP addresses and of ranges of them (BK-30, BK-206).

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::edition::EDITIONS;
use billhook_apimachinery::net::{Address, parse_prefix};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};

const ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

const RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// The rules of fields that are older than the strict ones: a server of 1.36 is strict with values
/// that are not stored yet.
#[derive(Debug)]
pub(crate) struct AddressRules<'s> {
    is_strict: bool,
    stored: BTreeSet<&'s str>,
}

impl<'s> AddressRules<'s> {
    /// Creates the rules for the fields of an object whose stored values may stay.
    pub(crate) fn new(
        kubernetes: KubernetesVersion,
        stored: impl IntoIterator<Item = &'s str>,
    ) -> Self {
        let is_strict = EDITIONS.of(kubernetes).has_strict_addresses;
        AddressRules { is_strict, stored: stored.into_iter().collect() }
    }

    /// Whether a value is stored already.
    pub(crate) fn has(&self, value: &str) -> bool {
        self.stored.contains(value)
    }

    /// Checks an address.
    pub(crate) fn address(&self, errors: &mut Vec<FieldError>, path: &FieldPath, value: &str) {
        if self.stored.contains(value) {
            return;
        }
        match parse_address(value) {
            None => errors.push(FieldError::invalid(path.clone(), value, ADDRESS)),
            Some(address) if self.is_strict => strict_address(errors, path, value, address),
            Some(_) => {}
        }
    }

    /// Checks a range of addresses.
    pub(crate) fn range(&self, errors: &mut Vec<FieldError>, path: &FieldPath, value: &str) {
        if self.stored.contains(value) {
            return;
        }
        match Range::parse(value) {
            None => errors.push(FieldError::invalid(path.clone(), value, RANGE)),
            Some(range) if self.is_strict => strict_range(errors, path, value, range),
            Some(_) => {}
        }
    }
}

fn strict_address(errors: &mut Vec<FieldError>, path: &FieldPath, value: &str, address: IpAddr) {
    let mut refuse = |detail| errors.push(FieldError::invalid(path.clone(), value, detail));
    if Address::parse(value).is_err() {
        refuse("must not have leading 0s");
    }
    if address.is_ipv4() && value.contains(':') {
        refuse("must not be an IPv4-mapped IPv6 address");
    }
}

fn strict_range(errors: &mut Vec<FieldError>, path: &FieldPath, value: &str, range: Range) {
    let mut refuse = |detail| errors.push(FieldError::invalid(path.clone(), value, detail));
    if parse_prefix(value).is_err() {
        refuse("must not have leading 0s in IP or prefix length");
    }
    if range.address.to_canonical() != range.address {
        refuse("must not have an IPv4-mapped IPv6 address");
    }
    if range.first() != bits(range.address) {
        refuse("must not have bits set beyond the prefix length");
    }
}

/// Returns what is wrong with an address of a field that has always been strict.
pub(crate) fn canonical_address(value: &str) -> Vec<String> {
    let Some(address) = parse_address(value) else { return vec![ADDRESS.to_owned()] };
    let mut errors = Vec::new();
    strict_address(&mut errors, &FieldPath::default(), value, address);
    match errors.first() {
        Some(error) => vec![error.detail().to_owned()],
        None => not_canonical(value, &address.to_string()),
    }
}

/// Returns what is wrong with a range of a field that has always been strict.
pub(crate) fn canonical_range(value: &str) -> Vec<String> {
    let Some(range) = Range::parse(value) else { return vec![RANGE.to_owned()] };
    let mut errors = Vec::new();
    strict_range(&mut errors, &FieldPath::default(), value, range);
    if errors.is_empty() {
        return not_canonical(value, &format!("{}/{}", range.address, range.length));
    }
    errors.iter().map(|error| error.detail().to_owned()).collect()
}

fn not_canonical(value: &str, canonical: &str) -> Vec<String> {
    let is_other = value != canonical;
    is_other.then(|| format!("must be in canonical form (\"{canonical}\")")).into_iter().collect()
}

/// Checks that an address can be that of an endpoint: not one of the machine itself or its link.
pub(crate) fn endpoint_address(errors: &mut Vec<FieldError>, path: &FieldPath, value: &str) {
    let mut refuse = |detail: &str| {
        errors.push(FieldError::invalid(path.clone(), value, detail));
    };
    let Some(address) = parse_address(value) else {
        refuse("must be a valid IP address");
        return;
    };
    if address.is_unspecified() {
        refuse(&format!("may not be unspecified ({address})"));
    }
    if address.is_loopback() {
        refuse("may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if is_link_local(address) {
        refuse("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if is_link_local_multicast(address) {
        refuse("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets().starts_with(&[224, 0, 0]),
        IpAddr::V6(address) => (bits(address.into()) >> 112) & 0xff0f == 0xff02,
    }
}

/// Parses an address as old fields have it: numbers may begin with zeros. An IPv4 address in the
/// form of IPv6 is one of IPv4.
pub(crate) fn parse_address(text: &str) -> Option<IpAddr> {
    written_address(text).map(|address| address.to_canonical())
}

fn written_address(text: &str) -> Option<IpAddr> {
    if !text.contains(':') {
        return v4(text).map(IpAddr::V4);
    }
    let embedded = text.rsplit_once(':').filter(|(_, end)| end.contains('.'));
    let parsed = match embedded {
        Some((groups, end)) => Address::parse(&format!("{groups}:{}", v4(end)?)),
        None => Address::parse(text),
    };
    parsed.ok().filter(|address| !address.has_zone).map(|address| address.ip)
}

fn v4(text: &str) -> Option<Ipv4Addr> {
    let octets: Option<Vec<u8>> = text.split('.').map(number).collect();
    <[u8; 4]>::try_from(octets?).ok().map(Ipv4Addr::from)
}

/// A number that may begin with zeros.
fn number(text: &str) -> Option<u8> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let digits = text.trim_start_matches('0');
    is_number.then(|| if digits.is_empty() { Some(0) } else { digits.parse().ok() }).flatten()
}

/// A range of addresses, in CIDR notation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) address: IpAddr,
    pub(crate) length: u8,
}

impl Range {
    /// Parses a range as old fields have it.
    pub(crate) fn parse(text: &str) -> Option<Range> {
        let (address, length) = text.split_once('/')?;
        let (address, length) = (written_address(address)?, number(length)?);
        (length <= width(address)).then_some(Range { address, length })
    }

    /// Returns the first address as a number.
    fn first(self) -> u128 {
        let rest = u32::from(width(self.address) - self.length);
        bits(self.address).checked_shr(rest).and_then(|top| top.checked_shl(rest)).unwrap_or(0)
    }

    /// Whether another range is inside and smaller.
    pub(crate) fn has_strictly(self, other: Range) -> bool {
        let is_same_family = self.address.is_ipv4() == other.address.is_ipv4();
        let begin = Range { length: self.length, ..other };
        is_same_family && other.length > self.length && begin.first() == self.first()
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => Ipv6Addr::into(address),
    }
}
