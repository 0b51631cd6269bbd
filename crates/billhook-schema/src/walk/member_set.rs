//! Which members of an object were seen, a bit each.

use crate::compiled::{NodeRef, PropertyRef};

/// The members of one object that were seen.
pub trait Seen {
    /// For an object that knows `count` members by name.
    fn new(count: usize) -> Self;
    /// Notes a member; false if it was there already.
    fn insert(&mut self, position: usize) -> bool;
    /// Whether a member was seen.
    fn contains(&self, position: usize) -> bool;
    /// Whether a member that was compiled with a default was not seen.
    fn lacks_defaulted(&self, node: NodeRef<'_>) -> bool;
    /// Those members, in the order of their names.
    fn missing<'s>(&self, node: NodeRef<'s>) -> impl Iterator<Item = PropertyRef<'s>>;
}

/// How many members a [`Narrow`] set can tell apart.
pub const NARROW: usize = 64;

/// For objects that know few members.
pub struct Narrow(u64);

impl Seen for Narrow {
    #[inline(always)]
    fn new(_: usize) -> Self {
        Narrow(0)
    }

    #[inline(always)]
    fn insert(&mut self, position: usize) -> bool {
        let bit = 1 << (position % NARROW);
        let is_new = self.0 & bit == 0;
        self.0 |= bit;
        is_new
    }

    #[inline(always)]
    fn contains(&self, position: usize) -> bool {
        self.0 & 1 << (position % NARROW) != 0
    }

    #[inline(always)]
    fn lacks_defaulted(&self, node: NodeRef<'_>) -> bool {
        node.defaulted_mask() & !self.0 != 0
    }

    #[inline(always)]
    fn missing<'s>(&self, node: NodeRef<'s>) -> impl Iterator<Item = PropertyRef<'s>> {
        node.properties_in(0, node.defaulted_mask() & !self.0)
    }
}

/// For objects that know many.
pub struct Wide {
    words: [u64; Wide::INLINE],
    /// Takes the place of `words` if those are too few.
    more: Vec<u64>,
}

impl Wide {
    const INLINE: usize = 32;

    #[inline]
    fn words(&self) -> &[u64] {
        if self.more.is_empty() { &self.words } else { &self.more }
    }
}

impl Seen for Wide {
    fn new(count: usize) -> Self {
        let words = count.div_ceil(64);
        let more = if words > Wide::INLINE { vec![0; words] } else { Vec::new() };
        Wide { words: [0; Wide::INLINE], more }
    }

    #[inline]
    fn insert(&mut self, position: usize) -> bool {
        let bit = 1 << (position % 64);
        let words = if self.more.is_empty() { &mut self.words[..] } else { &mut self.more };
        let Some(word) = words.get_mut(position / 64) else { return false };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    #[inline]
    fn contains(&self, position: usize) -> bool {
        self.words().get(position / 64).is_some_and(|word| word & 1 << (position % 64) != 0)
    }

    fn lacks_defaulted(&self, node: NodeRef<'_>) -> bool {
        node.defaulted_words().iter().zip(self.words()).any(|(bits, seen)| bits & !seen != 0)
    }

    fn missing<'s>(&self, node: NodeRef<'s>) -> impl Iterator<Item = PropertyRef<'s>> {
        let words = node.defaulted_words().iter().zip(self.words()).enumerate();
        words.flat_map(move |(word, (bits, seen))| node.properties_in(word, bits & !seen))
    }
}
