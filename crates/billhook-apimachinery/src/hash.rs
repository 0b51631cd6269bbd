//! A fast hash of names.

/// Hashes a name, eight bytes at a time; names are short. Names can be chosen
/// to have equal hashes, so nothing may depend on hashes but time that is bounded otherwise.
#[inline]
pub fn hash_name(name: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let length = name.len() as u64;
    let hash = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(_), Some(last)) => {
            // The last word overlaps the one before it unless the length is a multiple.
            let words = name.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            mix(words.fold(length, mix), u64::from_le_bytes(*last))
        }
        _ => match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
                mix(length, u64::from(first) << 32 | u64::from(last))
            }
            _ => mix(length, name.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))),
        },
    };
    hash ^ hash >> 32
}
