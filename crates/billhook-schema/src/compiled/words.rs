//! Names as words, so that most are compared at once instead of byte by byte.

/// Names up to this length are equal if their words are.
const EXACT: usize = 14;

/// The first eight bytes of a name, and its last six with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameWords {
    start: u64,
    end: u64,
}

impl NameWords {
    #[inline(always)]
    pub(super) fn new(name: &[u8]) -> Self {
        let length = name.len() as u64 & 0xffff;
        match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
            (Some(start), Some(end)) => NameWords {
                start: u64::from_le_bytes(*start),
                end: u64::from_le_bytes(*end) & !0xffff | length,
            },
            _ => NameWords { start: short(name), end: length },
        }
    }

    /// Whether a name may differ from another one that has the same words.
    #[inline(always)]
    pub(super) fn leave_doubt(name: &[u8]) -> bool {
        name.len() > EXACT
    }
}

/// The bytes of a name that is shorter than a word.
#[inline(always)]
fn short(name: &[u8]) -> u64 {
    if let (Some(start), Some(end)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        // Where the two overlap, they have the same bits.
        let shift = 8 * (name.len() as u64 - 4);
        return u64::from(u32::from_le_bytes(*start))
            | u64::from(u32::from_le_bytes(*end)) << shift;
    }
    name.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}
