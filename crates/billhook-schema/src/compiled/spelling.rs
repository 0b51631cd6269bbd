//! The names of members as JSON text spells them, for comparing them with text by words.

use super::PropertyRef;

/// How many words a spelling is compared by. Where the comparison ends would be hard to predict, so
/// that all names but the longest take the same way.
const WORDS: usize = 3;

/// A name with its quotation marks and the colon, as it is usually spelled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelling {
    words: [u64; WORDS],
    /// Which bytes of the words the spelling takes.
    masks: [u64; WORDS],
    /// Zero if the name needs escapes.
    length: u32,
}

impl Spelling {
    pub(super) fn new(name: &str) -> Self {
        if name.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            // No word is one under an empty mask.
            return Spelling { words: [1; WORDS], masks: [0; WORDS], length: 0 };
        }
        let spelled = format!("\"{name}\":");
        let mut words = [0; WORDS];
        let mut masks = [0; WORDS];
        for (position, byte) in spelled.bytes().enumerate().take(8 * WORDS) {
            let shift = 8 * (position % 8);
            if let (Some(word), Some(mask)) =
                (words.get_mut(position / 8), masks.get_mut(position / 8))
            {
                *word |= u64::from(byte) << shift;
                *mask |= 0xff << shift;
            }
        }
        Spelling { words, masks, length: spelled.len() as u32 }
    }
}

impl PropertyRef<'_> {
    /// If a JSON text has the member's name at a place, without escapes and followed by a colon at
    /// once, the length of that with its quotation marks and the colon.
    #[inline(always)]
    pub fn spelled_at(self, text: &[u8], at: usize) -> Option<usize> {
        let Spelling { words, masks, length } = &self.property.spelling;
        let rest = text.get(at..)?;
        let Some(found) = rest.first_chunk::<{ 8 * WORDS }>() else {
            return self.is_spelled_at_end(rest);
        };
        let (found, _) = found.as_chunks::<8>();
        let differs =
            found.iter().zip(words).zip(masks).fold(0, |differs, ((found, word), mask)| {
                differs | (u64::from_le_bytes(*found) & mask ^ word)
            });
        if differs != 0 {
            return None;
        }
        if *length as usize <= 8 * WORDS {
            return Some(*length as usize);
        }
        self.is_spelled_at_end(rest)
    }

    #[inline(never)]
    fn is_spelled_at_end(self, rest: &[u8]) -> Option<usize> {
        let (start, end) = self.property.name;
        let spelled = self.arena.names.as_bytes().get(start as usize - 1..end as usize + 2)?;
        let is_spelled = self.property.spelling.length > 0 && rest.starts_with(spelled);
        is_spelled.then_some(spelled.len())
    }
}
