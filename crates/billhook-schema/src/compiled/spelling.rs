//! The names of members as JSON text spells them, for comparing them with text by words.

use super::PropertyRef;

/// A name with its quotation marks and the colon, as it is usually spelled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelling {
    /// The first bytes, at most eight, and which bytes of a word they take.
    first: u64,
    mask: u64,
    /// The second eight bytes, if there are that many.
    second: u64,
    /// The last eight bytes, if there are that many.
    last: u64,
    /// Zero if the name needs escapes.
    length: u32,
}

impl Spelling {
    pub(super) fn new(name: &str) -> Self {
        if name.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            // No word is one under an empty mask.
            return Spelling { first: 1, mask: 0, second: 0, last: 0, length: 0 };
        }
        let spelled = format!("\"{name}\":");
        let bytes = spelled.as_bytes();
        let word =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let (first, mask) = match bytes.first_chunk::<8>() {
            Some(first) => (word(first), u64::MAX),
            None => (word(bytes), (1 << (8 * bytes.len())) - 1),
        };
        let second = bytes.get(8..16).map_or(0, word);
        let last = bytes.last_chunk::<8>().map_or(0, |last| word(last));
        Spelling { first, mask, second, last, length: bytes.len() as u32 }
    }
}

impl PropertyRef<'_> {
    /// If a JSON text has the member's name at a place, without escapes and followed by a colon at
    /// once, the length of that with its quotation marks and the colon.
    #[inline(always)]
    pub fn spelled_at(self, text: &[u8], at: usize) -> Option<usize> {
        let Spelling { first, mask, second, last, length } = &self.property.spelling;
        let length = *length as usize;
        let rest = text.get(at..)?;
        let Some(found) = word(rest, 0) else { return self.is_spelled_at_end(rest) };
        if found & mask != *first {
            return None;
        }
        if length <= 8 {
            return Some(length);
        }
        if word(rest, length - 8)? != *last {
            return None;
        }
        if length <= 16 {
            return Some(length);
        }
        if word(rest, 8)? != *second {
            return None;
        }
        if length <= 24 {
            return Some(length);
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

#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}
