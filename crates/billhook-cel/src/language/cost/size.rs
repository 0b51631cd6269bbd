//! Ranges of sizes; arithmetic stops at the largest number.

/// The number of characters, bytes, elements or members of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) min: u64,
    pub(super) max: u64,
}

/// The sizes of the content of a list or a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries {
    pub(super) is_map: bool,
    pub(super) key: Size,
    pub(super) value: Size,
}

impl Size {
    pub(super) const UNKNOWN: Size = Size { min: 0, max: u64::MAX };

    pub(super) fn fixed(size: u64) -> Self {
        Size { min: size, max: size }
    }

    /// The range of no sizes at all; it is for unions.
    pub(super) fn of_none() -> Self {
        Size { min: u64::MAX, max: 0 }
    }

    pub(super) fn union(self, other: Size) -> Self {
        Size { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    pub(super) fn plus(self, other: Size) -> Self {
        Size { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) fn times(self, other: Size) -> Self {
        Size { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// The cost of going through it at most, at a cost for each element.
    pub(super) fn cost(self, each: f64) -> u64 {
        scale(self.max, each)
    }
}

impl Entries {
    pub(super) fn union(self, other: Entries) -> Self {
        Entries {
            is_map: self.is_map,
            key: self.key.union(other.key),
            value: self.value.union(other.value),
        }
    }
}

/// A number times a factor, rounded up.
pub(super) fn scale(number: u64, factor: f64) -> u64 {
    // A conversion to an integer stops at the largest one.
    (number as f64 * factor).ceil() as u64
}
