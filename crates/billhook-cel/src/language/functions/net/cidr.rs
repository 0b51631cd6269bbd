//! CIDR blocks.

use std::net::IpAddr;

use billhook_apimachinery::net::parse_prefix;

use super::ip::{self, IP, Ip, no_mapped};
use crate::language::functions::cost;
use crate::language::functions::declare::{Cost, Overload, Result, argument, opaque, text, wrap};
use crate::language::types::Type;
use crate::language::value::{EvaluationError, LibraryValue, Value};

const NAME: &str = "net.CIDR";
const CIDR: Type = Type::Opaque(NAME);

/// An address and the length of a prefix.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl LibraryValue for Cidr {
    fn type_name(&self) -> &'static str {
        NAME
    }

    fn size(&self) -> usize {
        usize::from(self.bits.div_ceil(8))
    }
}

impl Cidr {
    fn masked(self) -> Cidr {
        let bits = u32::from(self.bits);
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - bits.min(32)).unwrap_or(0);
                IpAddr::V4((address.to_bits() & mask).into())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - bits.min(128)).unwrap_or(0);
                IpAddr::V6((address.to_bits() & mask).into())
            }
        };
        Cidr { address, ..self }
    }

    fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4()
            && Cidr { address, ..self }.masked() == self.masked()
    }

    fn contains_block(self, other: Cidr) -> bool {
        self.contains(other.address) && self.bits <= other.bits
    }
}

pub(super) fn overloads() -> Vec<Overload> {
    use Type::{Bool, Int, String};
    let contains = |name: &'static str, other: Type, call| {
        Overload::method(name, vec![CIDR, other], Bool, call)
    };
    vec![
        Overload::function("cidr", vec![String], CIDR, |arguments| {
            parse(text(arguments, 0)?).map(wrap)
        })
        .costs(Cost::Of(cost::first)),
        Overload::function("isCIDR", vec![String], Bool, |arguments| {
            Ok(Value::Bool(parse(text(arguments, 0)?).is_ok()))
        })
        .costs(Cost::Of(cost::first)),
        Overload::function("string", vec![CIDR], String, |arguments| {
            let Cidr { address, bits } = receiver(arguments)?;
            Ok(Value::text(format!("{address}/{bits}")))
        }),
        contains("containsIP", String, contains_ip).costs(Cost::Of(|arguments, _| {
            compare_cost(arguments) + cost::traversal(cost::size_at(arguments, 1))
        })),
        contains("containsIP", IP, contains_ip)
            .costs(Cost::Of(|arguments, _| compare_cost(arguments))),
        contains("containsCIDR", String, contains_cidr).costs(Cost::Of(|arguments, _| {
            compare_blocks_cost(arguments) + cost::traversal(cost::size_at(arguments, 1))
        })),
        contains("containsCIDR", CIDR, contains_cidr)
            .costs(Cost::Of(|arguments, _| compare_blocks_cost(arguments))),
        Overload::method("ip", vec![CIDR], IP, |arguments| {
            Ok(wrap(Ip(receiver(arguments)?.address)))
        }),
        Overload::method("masked", vec![CIDR], CIDR, |arguments| {
            Ok(wrap(receiver(arguments)?.masked()))
        }),
        Overload::method("prefixLength", vec![CIDR], Int, |arguments| {
            Ok(Value::Int(receiver(arguments)?.bits.into()))
        }),
    ]
}

/// Two addresses are compared up to the length of the prefix.
fn compare_cost(arguments: &[Value<'_>]) -> u64 {
    cost::traversal(2 * cost::size_at(arguments, 0))
}

/// The block is masked first, and the lengths are compared too.
fn compare_blocks_cost(arguments: &[Value<'_>]) -> u64 {
    compare_cost(arguments) + cost::traversal(cost::size_at(arguments, 0)) + 1
}

fn contains_ip<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let other = match argument(arguments, 1)? {
        // The server takes the error for an address.
        Value::String(text) => {
            ip::parse(text.as_str()).map_err(|_| EvaluationError::NoSuchOverload)?
        }
        _ => *opaque::<Ip>(arguments, 1)?,
    };
    Ok(Value::Bool(receiver(arguments)?.contains(other.0)))
}

fn contains_cidr<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let other = match argument(arguments, 1)? {
        Value::String(text) => parse(text.as_str()).map_err(|error| unparsed(&error))?,
        _ => *opaque::<Cidr>(arguments, 1)?,
    };
    Ok(Value::Bool(receiver(arguments)?.contains_block(other)))
}

fn receiver(arguments: &[Value<'_>]) -> Result<Cidr> {
    opaque::<Cidr>(arguments, 0).copied()
}

fn parse(text: &str) -> Result<Cidr> {
    let (address, bits) = parse_prefix(text).map_err(|error| unparsed(&error))?;
    Ok(Cidr { address: no_mapped(address, text)?, bits })
}

fn unparsed(error: &impl std::fmt::Display) -> EvaluationError {
    EvaluationError::new(format!(
        "network address parse error during conversion from string: {error}"
    ))
}
