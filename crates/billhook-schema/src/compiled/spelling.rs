//! The names of members as JSON text spells them, for comparing them with text by words.

use super::{ExpectedProperty, NodeRef, PropertyRef};

/// The number of words by which a spelling is compared at once. The end of the comparison would be
/// hard to predict, so most names take the same path.
const WORDS: usize = 2;

/// The bytes of so many words.
const BYTES: usize = 8 * WORDS;

/// The length of a spelling besides the name: two quotation marks and the colon.
pub(super) const AROUND: usize = 3;

/// A name with its quotation marks and the colon, as it is usually spelled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelling {
    words: [u64; WORDS],
    /// Which bytes of the words the spelling takes.
    masks: [u64; WORDS],
    /// The last eight bytes of a long spelling.
    end: u64,
}

impl Spelling {
    pub(super) fn new(name: &str) -> Self {
        if name.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            // It needs escapes, and no word equals one under an empty mask.
            return Spelling { words: [1; WORDS], masks: [0; WORDS], end: 0 };
        }
        let spelled = || b"\"".iter().chain(name.as_bytes()).chain(b"\":").copied();
        let mut words = [0; WORDS];
        let mut masks = [0; WORDS];
        for (position, byte) in spelled().enumerate().take(BYTES) {
            let shift = 8 * (position % 8);
            if let (Some(word), Some(mask)) =
                (words.get_mut(position / 8), masks.get_mut(position / 8))
            {
                *word |= u64::from(byte) << shift;
                *mask |= 0xff << shift;
            }
        }
        let long = (name.len() + AROUND).checked_sub(8);
        let end = long.map_or(0, |start| {
            spelled()
                .skip(start)
                .zip(0..)
                .fold(0, |word, (byte, at)| word | u64::from(byte) << (8 * at))
        });
        Spelling { words, masks, end }
    }

    /// Whether a text that starts so may be the spelling.
    #[inline(always)]
    fn may_start(&self, start: &[u8; BYTES]) -> bool {
        let Spelling { words: [word, next], masks: [mask, next_mask], .. } = self;
        let (&[first, second], _) = start.as_chunks::<8>() else { return false };
        u64::from_le_bytes(first) & mask == *word && u64::from_le_bytes(second) & next_mask == *next
    }
}

/// The number of expected members that are compared with a text.
const GUESSES: usize = 3;

impl<'s> NodeRef<'s> {
    /// Returns the member whose name a JSON text has at a place, if it is expected there or soon
    /// after, spelled without escapes and followed directly by a colon; also the length of the name
    /// with quotation marks and colon. The last bytes of a text are not looked at.
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
        while !property.property.spelling.may_start(start) {
            if guesses == GUESSES {
                return None;
            }
            guesses += 1;
            property = self.expected(property.expected_next())?;
        }
        let length = property.property.spelled_length as usize;
        (length <= BYTES || property.goes_on(rest, length)).then_some((property, length))
    }
}

impl PropertyRef<'_> {
    /// Whether a text that starts like the part of the member's name that was compared goes on
    /// like it.
    #[inline(always)]
    fn goes_on(self, rest: &[u8], length: usize) -> bool {
        let end = rest.get(length.saturating_sub(8)..length).and_then(<[u8]>::first_chunk);
        end.map(|end| u64::from_le_bytes(*end)) == Some(self.property.spelling.end)
            && (length <= BYTES + 8 || self.is_spelled_in(rest, length))
    }

    #[inline(never)]
    fn is_spelled_in(self, rest: &[u8], length: usize) -> bool {
        let start = self.property.name_start as usize - 1;
        let spelled = self.arena.names.as_bytes().get(start..start + length).unwrap_or_default();
        rest.starts_with(spelled)
    }
}
