//! What came next last time: objects of one kind list their members in the same order again and
//! again, so a reader of text can compare the next key instead of looking it up.
//!
//! The hints change no result. They are the only part of a compiled schema that is written to,
//! without any order between threads.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Arena, NodeRef, PropertyRef};

#[derive(Default)]
pub(super) struct Hints {
    /// For each node the property that came first, in the table of all properties.
    first: Vec<AtomicU32>,
    /// For each property the one that followed.
    next: Vec<AtomicU32>,
}

impl Hints {
    /// Hints that expect all members in the order of their names.
    pub(super) fn new(arena: &Arena) -> Self {
        let first = arena.nodes.iter().map(|node| AtomicU32::new(node.properties.0)).collect();
        let next = (1..=arena.properties.len()).map(|next| AtomicU32::new(next as u32)).collect();
        Hints { first, next }
    }

    #[inline]
    fn after(&self, previous: Option<u32>, node: usize) -> Option<&AtomicU32> {
        match previous {
            Some(property) => self.next.get(property as usize),
            None => self.first.get(node),
        }
    }
}

impl Clone for Hints {
    fn clone(&self) -> Self {
        let copy = |hints: &[AtomicU32]| {
            hints.iter().map(|hint| AtomicU32::new(hint.load(Ordering::Relaxed))).collect()
        };
        Hints { first: copy(&self.first), next: copy(&self.next) }
    }
}

impl<'s> NodeRef<'s> {
    /// The member that is expected after `previous`, or first.
    #[inline]
    pub fn expected_after(self, previous: Option<PropertyRef<'s>>) -> Option<PropertyRef<'s>> {
        let previous = previous.map(|property| property.property.position);
        let hint = self.arena.hints.after(previous, self.id.0 as usize)?;
        let position = hint.load(Ordering::Relaxed);
        let (start, end) = self.node.properties;
        if !(start..end).contains(&position) {
            return None;
        }
        let property = self.arena.properties.get(position as usize)?;
        Some(PropertyRef { arena: self.arena, property })
    }

    /// Notes that `property` came after `previous`, or first.
    #[inline]
    pub fn learn(self, previous: Option<PropertyRef<'s>>, property: PropertyRef<'s>) {
        let previous = previous.map(|property| property.property.position);
        if let Some(hint) = self.arena.hints.after(previous, self.id.0 as usize) {
            hint.store(property.property.position, Ordering::Relaxed);
        }
    }
}
