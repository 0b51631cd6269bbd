//! Finding repeated keys among those that no schema lists.

use crate::scan::{Keys, Step, Stop};

/// How many hashes of keys can be open at once without allocating; an object with more goes to
/// the path for repeated keys, which counts exactly.
const CAPACITY: usize = 256;

/// The hashes of the keys of all objects that are open.
pub(crate) struct OpenKeys {
    hashes: [u32; CAPACITY],
    len: usize,
    /// Set when the text is known to have no repeated keys.
    trusted: bool,
}

impl OpenKeys {
    pub(crate) fn new(trusted: bool) -> Self {
        OpenKeys { hashes: [0; CAPACITY], len: 0, trusted }
    }
}

impl OpenKeys {
    /// Forgets the objects that were opened below one and not closed.
    pub(crate) fn forget_below(&mut self, frame: &KeyFrame) {
        self.len = frame.base + frame.count;
    }
}

pub(crate) struct KeyFrame {
    base: usize,
    count: usize,
}

impl Keys for OpenKeys {
    type Frame = KeyFrame;

    #[inline]
    fn open(&mut self) -> KeyFrame {
        KeyFrame { base: self.len, count: 0 }
    }

    /// An equal hash or an escaped key is taken for a repeated one; what follows is exact.
    #[inline]
    fn key(&mut self, frame: &mut KeyFrame, key: &[u8], escaped: bool) -> Step {
        if self.trusted {
            return Ok(());
        }
        let hash = hash(key);
        let open = self.hashes.get(frame.base..self.len).unwrap_or_default();
        if escaped || open.contains(&hash) {
            return Err(Stop::Duplicate);
        }
        let Some(slot) = self.hashes.get_mut(self.len) else { return Err(Stop::Duplicate) };
        *slot = hash;
        self.len += 1;
        frame.count += 1;
        Ok(())
    }

    #[inline]
    fn close(&mut self, frame: KeyFrame) {
        self.len = frame.base;
    }
}

#[inline]
fn hash(key: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = key.len() as u64;
    let (chunks, rest) = key.as_chunks::<8>();
    for chunk in chunks {
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(*chunk)).wrapping_mul(FACTOR);
    }
    let mut last = 0;
    for &byte in rest {
        last = last << 8 | u64::from(byte);
    }
    hash = (hash.rotate_left(5) ^ last).wrapping_mul(FACTOR);
    (hash >> 32) as u32
}
