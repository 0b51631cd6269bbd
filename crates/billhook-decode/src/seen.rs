//! Which members of the open objects were seen, a bit each.

/// Words that are there without allocating.
const INLINE: usize = 64;

/// The bits of all open objects.
pub(crate) struct Seen {
    inline: [u64; INLINE],
    /// Takes over when many wide objects are open at once.
    spilled: Vec<u64>,
    len: usize,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { inline: [0; INLINE], spilled: Vec::new(), len: 0 }
    }
}

/// The bits of one object.
pub(crate) struct SeenFrame {
    base: usize,
}

impl Seen {
    fn words(&self) -> &[u64] {
        if self.spilled.is_empty() { &self.inline } else { &self.spilled }
    }

    fn words_mut(&mut self) -> &mut [u64] {
        if self.spilled.is_empty() { &mut self.inline } else { &mut self.spilled }
    }

    /// Begins an object that knows `count` members by name.
    #[inline]
    pub(crate) fn open(&mut self, count: usize) -> SeenFrame {
        let base = self.len;
        if count == 0 {
            return SeenFrame { base };
        }
        let end = base + count.div_ceil(64);
        if end > self.words().len() {
            if self.spilled.is_empty() {
                self.spilled.extend_from_slice(&self.inline);
            }
            self.spilled.resize(end.next_power_of_two(), 0);
        }
        if let Some(words) = self.words_mut().get_mut(base..end) {
            words.fill(0);
        }
        self.len = end;
        SeenFrame { base }
    }

    /// Notes a member; false if it was there already.
    #[inline]
    pub(crate) fn insert(&mut self, frame: &SeenFrame, position: usize) -> bool {
        let bit = 1 << (position % 64);
        match self.words_mut().get_mut(frame.base + position / 64) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }

    #[inline]
    pub(crate) fn contains(&self, frame: &SeenFrame, position: usize) -> bool {
        let word = self.words().get(frame.base + position / 64);
        word.is_some_and(|word| word & 1 << (position % 64) != 0)
    }

    #[inline]
    pub(crate) fn close(&mut self, frame: &SeenFrame) {
        self.len = frame.base;
    }
}
