//! The addresses of pods (CP-117).

use std::net::Ipv4Addr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::object::Object;
use crate::resource::PODS;
use crate::view::View;

/// The address before that of the first pod.
const FIRST: u32 = u32::from_be_bytes([10, 244, 0, 0]);
/// How many addresses there are before they begin again.
const ADDRESSES: u32 = (12 << 16) - 2;

/// The addresses of pods: no two pods have one.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    /// The number of the next one, once one was needed.
    next: OnceLock<AtomicU32>,
}

impl Addresses {
    /// Returns a new address. The first one comes after those of the pods that are there, which another
    /// control plane may have left.
    pub(super) fn next(&self, view: &View) -> Ipv4Addr {
        let next = self.next.get_or_init(|| {
            let used = view.all(&PODS).filter_map(|pod| number(of(pod)?)).max();
            AtomicU32::new(used.map_or(0, |used| used.saturating_add(1)))
        });
        let number = next.fetch_add(1, Ordering::Relaxed) % ADDRESSES;
        Ipv4Addr::from(FIRST + 1 + number)
    }
}

/// Returns the address that a pod has.
pub(super) fn of(pod: &Object) -> Option<Ipv4Addr> {
    pod.text("/status/podIP").parse().ok()
}

/// Returns the number of an address, from 0 on, if it is one of those that are given.
fn number(address: Ipv4Addr) -> Option<u32> {
    let number = u32::from(address).checked_sub(FIRST + 1)?;
    (number < ADDRESSES).then_some(number)
}
