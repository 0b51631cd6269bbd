//! IP addresses.

use std::net::{IpAddr, Ipv4Addr};

use billhook_apimachinery::net::Address;
use billhook_apimachinery::print::quote;

use crate::language::functions::cost;
use crate::language::functions::declare::{Call, Cost, Overload, Result, opaque, text, wrap};
use crate::language::types::Type;
use crate::language::value::{EvaluationError, LibraryValue, Value};

const NAME: &str = "net.IP";
pub(super) const IP: Type = Type::Opaque(NAME);

/// An address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ip(pub(super) IpAddr);

impl LibraryValue for Ip {
    fn type_name(&self) -> &'static str {
        NAME
    }

    fn size(&self) -> usize {
        if self.0.is_ipv4() { 4 } else { 16 }
    }
}

pub(super) fn overloads() -> Vec<Overload> {
    use Type::{Bool, Int, String};
    let is = |name: &'static str, call: Call| Overload::method(name, vec![IP], Bool, call);
    vec![
        Overload::function("ip", vec![String], IP, |arguments| {
            parse(text(arguments, 0)?).map(wrap)
        })
        .costs(Cost::Of(cost::first)),
        Overload::function("isIP", vec![String], Bool, |arguments| {
            Ok(Value::Bool(parse(text(arguments, 0)?).is_ok()))
        })
        .costs(Cost::Of(cost::first)),
        Overload::function("ip.isCanonical", vec![String], Bool, |arguments| {
            let text = text(arguments, 0)?;
            Ok(Value::Bool(parse(text)?.0.to_string() == text))
        })
        .costs(Cost::Of(|arguments, _| {
            // The text is read and then compared.
            cost::traversal(2 * cost::size_at(arguments, 0))
        })),
        Overload::function("string", vec![IP], String, |arguments| {
            Ok(Value::text(receiver(arguments)?.to_string()))
        }),
        Overload::method("family", vec![IP], Int, |arguments| {
            Ok(Value::Int(if receiver(arguments)?.is_ipv4() { 4 } else { 6 }))
        }),
        is("isUnspecified", |arguments| Ok(Value::Bool(receiver(arguments)?.is_unspecified()))),
        is("isLoopback", |arguments| Ok(Value::Bool(receiver(arguments)?.is_loopback()))),
        is("isLinkLocalMulticast", |arguments| {
            Ok(Value::Bool(match receiver(arguments)? {
                IpAddr::V4(address) => matches!(address.octets(), [224, 0, 0, _]),
                IpAddr::V6(address) => {
                    matches!(address.octets(), [0xff, flags, ..] if flags & 0xf == 2)
                }
            }))
        }),
        is("isLinkLocalUnicast", |arguments| {
            Ok(Value::Bool(is_link_local_unicast(receiver(arguments)?)))
        }),
        is("isGlobalUnicast", |arguments| {
            let address = receiver(arguments)?;
            Ok(Value::Bool(
                address != IpAddr::V4(Ipv4Addr::BROADCAST)
                    && !address.is_unspecified()
                    && !address.is_loopback()
                    && !address.is_multicast()
                    && !is_link_local_unicast(address),
            ))
        }),
    ]
}

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn receiver(arguments: &[Value<'_>]) -> Result<IpAddr> {
    opaque::<Ip>(arguments, 0).map(|ip| ip.0)
}

/// The address a text is. Zones and IPv4 addresses in the form of IPv6 are refused.
pub(super) fn parse(text: &str) -> Result<Ip> {
    let Address { ip: address, has_zone, .. } = Address::parse(text).map_err(|error| {
        EvaluationError::new(format!(
            "IP Address {} parse error during conversion from string: {error}",
            quote(text)
        ))
    })?;
    if has_zone {
        let error = format!("IP address {} with zone value is not allowed", quote(text));
        return Err(EvaluationError::new(error));
    }
    no_mapped(address, text).map(Ip)
}

/// The address, if it is not an IPv4 address in the form of IPv6.
pub(super) fn no_mapped(address: IpAddr, text: &str) -> Result<IpAddr> {
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => Err(EvaluationError::new(format!(
            "IPv4-mapped IPv6 address {} is not allowed",
            quote(text)
        ))),
        address => Ok(address),
    }
}
