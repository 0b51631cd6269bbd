//! The names of members as JSON text spells them, for comparing them with text by words.

use super::{ExpectedProperty, NodeRef, PropertyRef};

/// How many words a spelling is compared by at once. Where the comparison ends would be hard to
/// predict, so that most names take the same way.
const WORDS: usize = 2;

/// The bytes of so many words.
const BYTES: usize = 8 * WORDS;

/// What a spelling has besides the name: two quotation marks and the colon.
const AROUND: usize = 3;

/// A name with its quotation marks and the colon, as it is usually spelled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelling {
    words: [u64; WORDS],
    /// Which bytes of the words the spelling takes.
    masks: [u64; WORDS],
    length: u32,
}

impl Spelling {
    pub(super) fn new(name: &str) -> Self {
        let spelled = format!("\"{name}\":");
        let length = spelled.len() as u32;
        if name.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            // It needs escapes, and no word is one under an empty mask.
            return Spelling { words: [1; WORDS], masks: [0; WORDS], length };
        }
        let mut words = [0; WORDS];
        let mut masks = [0; WORDS];
        for (position, byte) in spelled.bytes().enumerate().take(BYTES) {
            let shift = 8 * (position % 8);
            if let (Some(word), Some(mask)) =
                (words.get_mut(position / 8), masks.get_mut(position / 8))
            {
                *word |= u64::from(byte) << shift;
                *mask |= 0xff << shift;
            }
        }
        Spelling { words, masks, length }
    }

    #[inline(always)]
    pub(super) fn name_length(&self) -> usize {
        self.length as usize - AROUND
    }

    /// Whether a text that starts so may be the spelling.
    #[inline(always)]
    fn may_be(&self, start: &[u8; BYTES]) -> bool {
        let Spelling { words: [word, next], masks: [mask, next_mask], .. } = self;
        let (&[first, second], _) = start.as_chunks::<8>() else { return false };
        u64::from_le_bytes(first) & mask == *word && u64::from_le_bytes(second) & next_mask == *next
    }
}

/// How many expected members are compared with a text.
const GUESSES: usize = 3;

impl<'s> NodeRef<'s> {
    /// If a JSON text has the name of a member at a place that is expected there or soon after,
    /// spelled without escapes and followed by a colon at once: the member, and the length of its
    /// name with quotation marks and colon. The last bytes of a text are not looked at.
    #[inline(always)]
    pub fn expected_at(
        self,
        expected: ExpectedProperty,
        text: &[u8],
        at: usize,
    ) -> Option<(PropertyRef<'s>, usize)> {
        let rest = text.get(at..)?;
        let start = rest.first_chunk::<BYTES>()?;
        let mut property = self.expected(expected)?;
        let mut guesses = 1;
        // What followed last time may be missing this time; then what followed that is likely.
        while !property.property.spelling.may_be(start) {
            if guesses == GUESSES {
                return None;
            }
            guesses += 1;
            property = self.expected(property.expected_next())?;
        }
        let length = property.property.spelling.length as usize;
        (length <= BYTES || property.is_spelled_in(rest)).then_some((property, length))
    }
}

impl PropertyRef<'_> {
    /// Whether a text that starts like the member's name, as far as that was compared, goes on
    /// like it.
    #[inline(never)]
    fn is_spelled_in(self, rest: &[u8]) -> bool {
        let length = self.property.spelling.length as usize;
        let start = self.property.name_start as usize - 1;
        let spelled = self.arena.names.as_bytes().get(start..start + length).unwrap_or_default();
        let found = rest.get(..length).unwrap_or_default();
        match (spelled.last_chunk::<BYTES>(), found.last_chunk::<BYTES>()) {
            // The start and the end overlap or meet.
            (Some(spelled), Some(found)) if length <= 2 * BYTES => spelled == found,
            _ => spelled == found,
        }
    }
}
