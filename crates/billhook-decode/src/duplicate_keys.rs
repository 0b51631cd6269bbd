//! Finding repeated keys among those that no schema lists.

use std::collections::HashSet;

use billhook_apimachinery::hash_name;

use crate::scanner::{Keys, Step, Stop};

/// The number of hashes that can be open at once without allocating.
const INLINE: usize = 64;

/// The number of keys of one object that are compared one by one; further ones go to a set.
const LINEAR: usize = 64;

/// The hashes of the keys of all objects that are open.
pub(crate) struct OpenKeys {
    inline: [u64; INLINE],
    /// Takes over when many objects are open at once.
    spilled: Vec<u64>,
    len: usize,
    /// For each open object with many keys where its hashes begin, and those beyond the first.
    sets: Vec<(usize, HashSet<u64>)>,
    /// Set when the text is known to have no repeated keys.
    trusted: bool,
}

impl OpenKeys {
    pub(crate) fn new(trusted: bool) -> Self {
        OpenKeys { inline: [0; INLINE], spilled: Vec::new(), len: 0, sets: Vec::new(), trusted }
    }

    /// Returns the current position, for [`OpenKeys::forget_since`].
    pub(crate) fn mark(&self) -> usize {
        self.len
    }

    /// Forgets the objects that were opened since a mark and not closed.
    #[inline(always)]
    pub(crate) fn forget_since(&mut self, mark: usize) {
        self.len = mark;
        if !self.sets.is_empty() {
            self.sets.retain(|(base, _)| *base < mark);
        }
    }

    #[inline(always)]
    fn open_hashes(&self) -> &[u64] {
        if self.spilled.is_empty() { &self.inline } else { &self.spilled }
    }

    #[inline(never)]
    fn spill(&mut self, hash: u64) {
        if self.spilled.is_empty() {
            self.spilled.extend_from_slice(&self.inline);
        }
        self.spilled.truncate(self.len);
        self.spilled.push(hash);
    }

    /// Adds a key of an object that has many; false if it was there.
    #[inline(never)]
    fn add_to_set(&mut self, base: usize, hash: u64) -> bool {
        if self.sets.last().is_none_or(|(of, _)| *of != base) {
            self.sets.push((base, HashSet::new()));
        }
        self.sets.last_mut().is_some_and(|(_, set)| set.insert(hash))
    }
}

impl Keys for OpenKeys {
    /// The start of the object's hashes.
    type Frame = usize;

    #[inline(always)]
    fn open(&mut self) -> usize {
        self.len
    }

    /// An equal hash or a key with several spellings is taken for a repeated one; the slower path is
    /// exact.
    #[inline]
    fn key(&mut self, base: &usize, key: &[u8], escaped: bool) -> Step<()> {
        if self.trusted {
            return Ok(());
        }
        let hash = hash_name(key);
        let open = self.open_hashes().get(*base..self.len).unwrap_or_default();
        if (escaped && !has_one_spelling(key)) || open.contains(&hash) {
            return Err(Stop::Duplicate);
        }
        if open.len() >= LINEAR {
            return if self.add_to_set(*base, hash) { Ok(()) } else { Err(Stop::Duplicate) };
        }
        match self.inline.get_mut(self.len) {
            Some(slot) if self.spilled.is_empty() => *slot = hash,
            _ => self.spill(hash),
        }
        self.len += 1;
        Ok(())
    }

    #[inline(always)]
    fn close(&mut self, base: usize) {
        if self.len != base {
            self.forget_since(base);
        }
    }
}

/// Whether only what must be escaped is, and in its short form: such keys are equal if their texts
/// are.
fn has_one_spelling(key: &[u8]) -> bool {
    let mut bytes = key.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' && !matches!(bytes.next(), Some(b'"' | b'\\')) {
            return false;
        }
    }
    true
}
