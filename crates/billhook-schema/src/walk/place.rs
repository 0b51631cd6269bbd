//! The place of a walk, for walks that report it; for all others it costs nothing.

use billhook_apimachinery::{FieldPath, Location};

use crate::compiled::NodeRef;

/// The place of a walk.
#[derive(Clone, Copy)]
pub struct Place<'a, 's> {
    /// The way from the top; members that the schema does not list are map keys.
    pub at: Location<'a>,
    /// The last node on the way that stands for a part of the schema.
    pub written: NodeRef<'s>,
}

impl Place<'_, '_> {
    /// Returns the path of the place, with map keys written like other members (PR-31).
    pub fn path(&self) -> FieldPath {
        self.at.to_path_of_names()
    }
}

/// The way in which a walk remembers its place.
pub trait Places {
    /// A place.
    type At<'a, 's: 'a>: Copy;

    /// Returns the place of the value that the walk begins with.
    fn top(node: NodeRef<'_>) -> Self::At<'_, '_>;
    /// Returns the place of a member of the object at `at`; its value is at `node`.
    fn member<'b, 's>(
        at: &'b Self::At<'_, 's>,
        key: &'b str,
        is_listed: bool,
        node: NodeRef<'s>,
    ) -> Self::At<'b, 's>;
    /// Returns the place of an element of the list at `at`; its value is at `node`.
    fn element<'b, 's>(
        at: &'b Self::At<'_, 's>,
        index: usize,
        node: NodeRef<'s>,
    ) -> Self::At<'b, 's>;
    /// Returns the place, if it was remembered.
    fn place<'a, 's: 'a>(at: Self::At<'a, 's>) -> Option<Place<'a, 's>>;
}

/// Nothing is remembered.
#[derive(Debug)]
pub struct NoPlaces;

impl Places for NoPlaces {
    type At<'a, 's: 'a> = ();

    #[inline(always)]
    fn top(_: NodeRef<'_>) {}

    #[inline(always)]
    fn member<'s>((): &(), _: &str, _: bool, _: NodeRef<'s>) {}

    #[inline(always)]
    fn element<'s>((): &(), _: usize, _: NodeRef<'s>) {}

    #[inline(always)]
    fn place<'a, 's: 'a>((): ()) -> Option<Place<'a, 's>> {
        None
    }
}

/// The whole way is remembered, on the stack.
#[derive(Debug)]
pub struct AllPlaces;

impl Places for AllPlaces {
    type At<'a, 's: 'a> = Place<'a, 's>;

    fn top(node: NodeRef<'_>) -> Place<'_, '_> {
        Place { at: Location::TOP, written: node }
    }

    fn member<'b, 's>(
        at: &'b Place<'_, 's>,
        key: &'b str,
        is_listed: bool,
        node: NodeRef<'s>,
    ) -> Place<'b, 's> {
        let below = if is_listed { at.at.name(key) } else { at.at.key(key) };
        Place { at: below, written: at.written_at(node) }
    }

    fn element<'b, 's>(at: &'b Place<'_, 's>, index: usize, node: NodeRef<'s>) -> Place<'b, 's> {
        Place { at: at.at.index(index), written: at.written_at(node) }
    }

    fn place<'a, 's: 'a>(at: Place<'a, 's>) -> Option<Place<'a, 's>> {
        Some(at)
    }
}

impl<'s> Place<'_, 's> {
    fn written_at(&self, node: NodeRef<'s>) -> NodeRef<'s> {
        if node.specifies_nothing() { self.written } else { node }
    }
}
