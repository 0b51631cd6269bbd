//! IP addresses and CIDR blocks (CE-10).

mod cidr;
mod ip;

use super::declare::Overload;

pub(super) fn library() -> Vec<Overload> {
    let mut overloads = ip::overloads();
    overloads.extend(cidr::overloads());
    overloads
}
