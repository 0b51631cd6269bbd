//! What came next last time: objects of one kind list their members in the same order again and
//! again, so a reader of text can compare the next key instead of looking it up.
//!
//! The hints change no result. They are the only part of a compiled schema that is written to,
//! without any order between threads.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{NodeRef, PropertyRef};

/// A position in the table of all properties, of a property of the node that it is a hint for; or
/// one behind the table.
#[derive(Debug)]
pub(super) struct Hint(AtomicU32);

impl Hint {
    pub(super) const fn none() -> Self {
        Hint::new(u32::MAX)
    }

    pub(super) const fn new(position: u32) -> Self {
        Hint(AtomicU32::new(position))
    }
}

impl Clone for Hint {
    fn clone(&self) -> Self {
        Hint::new(self.0.load(Ordering::Relaxed))
    }
}

impl<'s> NodeRef<'s> {
    /// The member that is expected after `previous`, or first.
    #[inline(always)]
    pub fn expected_after(self, previous: Option<PropertyRef<'s>>) -> Option<PropertyRef<'s>> {
        let hint = previous.map_or(&self.node.first, |previous| &previous.property.next);
        let position = hint.0.load(Ordering::Relaxed);
        let property = self.arena.properties.get(position as usize)?;
        Some(PropertyRef { arena: self.arena, property })
    }

    /// Notes that `property` came after `previous`, or first; both are members of this node.
    #[inline]
    pub fn learn(self, previous: Option<PropertyRef<'s>>, property: PropertyRef<'s>) {
        let position = property.property.position;
        let of_node = self.node.properties.0..self.node.properties.1;
        let is_own = |property: PropertyRef<'_>| of_node.contains(&property.property.position);
        if is_own(property) && previous.is_none_or(is_own) {
            let hint = previous.map_or(&self.node.first, |previous| &previous.property.next);
            hint.0.store(position, Ordering::Relaxed);
        }
    }
}
