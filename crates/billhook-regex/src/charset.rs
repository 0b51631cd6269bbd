//! Sets of code points as sorted ranges. Surrogates can be in a set, as they can
//! in Go, although no text ever holds one; they are left out when a set is
//! folded.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// The largest code point.
pub(crate) const MAX_RUNE: u32 = 0x10_FFFF;

const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// Ranges that are sorted and neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CharSet {
    ranges: Vec<(u32, u32)>,
}

impl CharSet {
    /// The set of all code points in any of the ranges, given in any order.
    pub(crate) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        normalize(&mut ranges);
        Self { ranges }
    }

    pub(crate) fn surrogates() -> Self {
        Self::new(vec![SURROGATES])
    }

    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// Whether a code point is in the set.
    pub(crate) fn contains(&self, rune: u32) -> bool {
        let after = self.ranges.partition_point(|(lo, _)| *lo <= rune);
        after
            .checked_sub(1)
            .and_then(|last| self.ranges.get(last))
            .is_some_and(|(_, hi)| rune <= *hi)
    }

    /// The only member, if there is just one.
    pub(crate) fn single(&self) -> Option<u32> {
        match self.ranges.as_slice() {
            &[(lo, hi)] if lo == hi => Some(lo),
            _ => None,
        }
    }

    pub(crate) fn negated(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(lo, hi) in &self.ranges {
            if next < lo {
                ranges.push((next, lo - 1));
            }
            next = hi + 1;
        }
        if next <= MAX_RUNE {
            ranges.push((next, MAX_RUNE));
        }
        Self { ranges }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.ranges.iter(), other.ranges.iter());
        let (mut a, mut b) = (left.next(), right.next());
        let mut ranges = Vec::new();
        while let (Some(&(a_lo, a_hi)), Some(&(b_lo, b_hi))) = (a, b) {
            let (lo, hi) = (a_lo.max(b_lo), a_hi.min(b_hi));
            if lo <= hi {
                ranges.push((lo, hi));
            }
            if a_hi < b_hi {
                a = left.next();
            } else {
                b = right.next();
            }
        }
        Self { ranges }
    }

    /// The set in the form in which it is folded.
    pub(crate) fn to_class(&self) -> ClassUnicode {
        let mut class = Vec::with_capacity(self.ranges.len());
        for &(lo, hi) in &self.ranges {
            let below = (lo, hi.min(SURROGATES.0 - 1));
            let above = (lo.max(SURROGATES.1 + 1), hi);
            for (lo, hi) in [below, above] {
                if let (true, Some(lo), Some(hi)) =
                    (lo <= hi, char::from_u32(lo), char::from_u32(hi))
                {
                    class.push(ClassUnicodeRange::new(lo, hi));
                }
            }
        }
        ClassUnicode::new(class)
    }
}

impl From<&ClassUnicode> for CharSet {
    fn from(class: &ClassUnicode) -> Self {
        Self::new(ranges_of(class))
    }
}

fn ranges_of(class: &ClassUnicode) -> Vec<(u32, u32)> {
    class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect()
}

fn normalize(ranges: &mut Vec<(u32, u32)>) {
    if ranges.is_sorted_by(|a, b| a.1 + 1 < b.0) {
        return;
    }
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let joins = next.0 <= kept.1.saturating_add(1);
        if joins {
            kept.1 = kept.1.max(next.1);
        }
        joins
    });
}

/// Collects the members of a `[…]`. Ranges are joined now and then, so that
/// memory follows the size of the set and not the length of its text.
#[derive(Default)]
pub(crate) struct CharSetBuilder {
    ranges: Vec<(u32, u32)>,
    joined: usize,
}

impl CharSetBuilder {
    const SLACK: usize = 4096;

    pub(crate) fn add(&mut self, lo: u32, hi: u32) {
        self.ranges.push((lo, hi));
        self.join();
    }

    pub(crate) fn add_set(&mut self, set: &CharSet) {
        self.ranges.extend_from_slice(&set.ranges);
        self.join();
    }

    pub(crate) fn build(self) -> CharSet {
        CharSet::new(self.ranges)
    }

    fn join(&mut self) {
        if self.ranges.len() > 2 * self.joined + Self::SLACK {
            normalize(&mut self.ranges);
            self.joined = self.ranges.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sorted_and_joined() {
        let set = CharSet::new(vec![(5, 9), (1, 2), (3, 3), (20, 21), (8, 12)]);
        assert_eq!(set.ranges(), [(1, 3), (5, 12), (20, 21)]);
    }

    #[test]
    fn negation_is_its_own_inverse() {
        for ranges in [vec![], vec![(0, MAX_RUNE)], vec![(0, 1), (7, 7)], vec![(3, MAX_RUNE)]] {
            let set = CharSet::new(ranges);
            assert_eq!(set.negated().negated(), set);
        }
    }

    #[test]
    fn surrogates_are_not_folded() {
        let set = CharSet::new(vec![(0xD700, 0xE000), (0xD900, 0xD910)]);
        let class = set.to_class();
        assert_eq!(ranges_of(&class), [(0xD700, 0xD7FF), (0xE000, 0xE000)]);
        assert_eq!(ranges_of(&CharSet::surrogates().to_class()), []);
    }

    #[test]
    fn building_joins_now_and_then() {
        let mut builder = CharSetBuilder::default();
        for _ in 0..100_000 {
            builder.add(1, 5);
        }
        assert!(builder.ranges.len() <= CharSetBuilder::SLACK + 2);
        assert_eq!(builder.build().ranges(), [(1, 5)]);
    }
}
