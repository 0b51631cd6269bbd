//! UIDs and name suffixes that are the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use billhook_admission::ServerFields;

use crate::clock::Clock;

/// Makes what a server gives new objects, from a seed.
#[derive(Debug)]
pub(crate) struct Identifiers {
    clock: Clock,
    /// The next number of the sequence.
    next: AtomicU64,
}

/// The letters of name suffixes, as servers use them.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;

impl Identifiers {
    pub(crate) fn new(clock: Clock, seed: u64) -> Self {
        Identifiers { clock, next: AtomicU64::new(seed) }
    }

    /// Returns the fields of an object that is created now.
    pub(crate) fn server_fields(&self) -> ServerFields {
        let (high, low) = (self.number(), self.number());
        let number = u128::from(high) << 64 | u128::from(low);
        let uid = uuid::Builder::from_random_bytes(number.to_be_bytes()).into_uuid();
        ServerFields::new(uid.to_string(), self.clock.now().to_rfc3339(), self.suffix())
    }

    fn suffix(&self) -> String {
        let mut number = self.number();
        let count = LETTERS.len() as u64;
        let letter = |_| {
            let index = usize::try_from(number % count).unwrap_or_default();
            number /= count;
            char::from(LETTERS.get(index).copied().unwrap_or(b'x'))
        };
        (0..SUFFIX).map(letter).collect()
    }

    /// Returns the next number of a sequence that looks random (SplitMix64).
    fn number(&self) -> u64 {
        let mut number = self.next.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }
}
