//! The members that followed each other last time: objects of one kind list their members in the
//! same order again and again, so a reader of text can compare the next key instead of looking it
//! up.
//!
//! The hints change no result. They are the only part of a compiled schema that is written to,
//! without any ordering between threads.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{NodeRef, PropertyRef};

/// A position in the table of all properties, of a property of the node that it is a hint for; or
/// one past the end of the table.
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

impl Hint {
    #[inline(always)]
    fn get(&self) -> ExpectedProperty {
        ExpectedProperty(self.0.load(Ordering::Relaxed))
    }
}

impl Clone for Hint {
    fn clone(&self) -> Self {
        Hint::new(self.0.load(Ordering::Relaxed))
    }
}

/// The position of the member that may come next ([`NodeRef::expected`]).
#[derive(Clone, Copy, Debug)]
pub struct ExpectedProperty(u32);

/// The preceding member ([`NodeRef::learn`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviousProperty(usize);

impl PreviousProperty {
    /// There is none.
    pub const NONE: PreviousProperty = PreviousProperty(usize::MAX);
}

impl<'s> NodeRef<'s> {
    /// Which member is expected to come first in an object.
    #[inline(always)]
    pub fn expected_first(self) -> ExpectedProperty {
        self.node.first.get()
    }

    /// Returns the expected member, if one is.
    #[inline(always)]
    pub fn expected(self, expected: ExpectedProperty) -> Option<PropertyRef<'s>> {
        let property = self.arena.properties.get(expected.0 as usize)?;
        Some(PropertyRef { arena: self.arena, property })
    }

    /// Notes that `property`, a member of this node, followed another one, or came first.
    #[inline]
    pub fn learn(self, previous: PreviousProperty, property: PropertyRef<'s>) {
        let (start, _) = self.node.properties;
        let properties = self.arena.properties(self.node.properties);
        let own = |position: usize| properties.get(position);
        if own(property.position()).is_some_and(|own| std::ptr::eq(own, property.property)) {
            let hint = match previous {
                PreviousProperty::NONE => Some(&self.node.first),
                PreviousProperty(position) => own(position).map(|own| &own.next),
            };
            if let Some(hint) = hint {
                hint.0.store(start + property.property.index, Ordering::Relaxed);
            }
        }
    }
}

impl PropertyRef<'_> {
    /// Which member is expected to come next.
    #[inline(always)]
    pub fn expected_next(self) -> ExpectedProperty {
        self.property.next.get()
    }

    /// Returns the member, for the one that comes next.
    #[inline(always)]
    pub fn as_previous(self) -> PreviousProperty {
        PreviousProperty(self.position())
    }
}
