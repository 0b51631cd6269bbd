//! Sets of completion indexes, written as `0-2,5` (CP-67).

use std::fmt;

/// The index of a pod of a Job.
pub(super) type Index = u32;

/// A set of indexes, as ranges that do not touch each other, in order. A range may be long; it is
/// never spelled out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes {
    /// The first and the last index of each range.
    ranges: Vec<(Index, Index)>,
}

impl Indexes {
    /// Parses a list of indexes and ranges. What is malformed is not in it.
    pub(super) fn parse(text: &str) -> Self {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some((first, last))
        };
        let mut indexes = Indexes { ranges: text.split(',').filter_map(range).collect() };
        indexes.unite();
        indexes
    }

    /// Adds indexes.
    pub(super) fn extend(&mut self, indexes: impl IntoIterator<Item = Index>) {
        self.ranges.extend(indexes.into_iter().map(|index| (index, index)));
        self.unite();
    }

    /// Keeps the indexes below an end.
    pub(super) fn truncate(&mut self, end: usize) {
        let last = end.checked_sub(1).map(|last| Index::try_from(last).unwrap_or(Index::MAX));
        self.ranges.retain(|(first, _)| last.is_some_and(|end| *first <= end));
        if let Some((range, end)) = self.ranges.last_mut().zip(last) {
            range.1 = range.1.min(end);
        }
    }

    fn unite(&mut self) {
        self.ranges.sort_unstable();
        let mut united: Vec<(Index, Index)> = Vec::with_capacity(self.ranges.len());
        for (first, last) in self.ranges.drain(..) {
            match united.last_mut().filter(|before| first <= before.1.saturating_add(1)) {
                Some(before) => before.1 = before.1.max(last),
                None => united.push((first, last)),
            }
        }
        self.ranges = united;
    }

    pub(super) fn contains(&self, index: Index) -> bool {
        let place = self.ranges.partition_point(|(_, last)| *last < index);
        self.ranges.get(place).is_some_and(|(first, _)| *first <= index)
    }

    /// Returns how many indexes there are.
    pub(super) fn count(&self) -> usize {
        self.ranges.iter().map(|range| length(*range)).fold(0, usize::saturating_add)
    }

    /// Returns how many indexes are in another set as well.
    pub(super) fn count_common(&self, other: &Indexes) -> usize {
        let (mut left, mut right) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        let mut count = 0_usize;
        while let (Some((first, last)), Some((from, to))) = (left.peek(), right.peek()) {
            let (first, end) = (*first.max(from), *last.min(to));
            if first <= end {
                count = count.saturating_add(length((first, end)));
            }
            match last < to {
                true => drop(left.next()),
                false => drop(right.next()),
            }
        }
        count
    }

    /// Returns the lowest indexes below an end that are not in the set.
    pub(super) fn first_missing(&self, end: usize) -> impl Iterator<Item = Index> {
        let starts =
            std::iter::once(0).chain(self.ranges.iter().map(|(_, last)| last.saturating_add(1)));
        let ends = self.ranges.iter().map(|(first, _)| *first);
        let end = Index::try_from(end).unwrap_or(Index::MAX);
        starts
            .zip(ends.chain(std::iter::once(end)))
            .flat_map(move |(start, until)| start..until.min(end))
    }
}

fn length((first, last): (Index, Index)) -> usize {
    usize::try_from(last.abs_diff(first)).unwrap_or(usize::MAX).saturating_add(1)
}

/// Prints the list: two that follow each other are two, more are a range.
impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            match last.abs_diff(*first) {
                0 => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first},{last}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}
