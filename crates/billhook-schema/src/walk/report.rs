//! The report of the changes that a walk makes.

use billhook_apimachinery::metadata::{metadata_changes, unknown_metadata_fields};
use billhook_apimachinery::{Change, Location};
use serde_json::Value;

use super::At;
use super::place::{AllPlaces, NoPlaces, Place, Places};
use crate::compiled::NodeRef;

mod sealed {
    pub trait Sealed {}
}

/// Receives the changes of an object. `()` ignores them, and no change is put together for it; a
/// vector keeps the changes, [`Findings`] also the unknown fields.
pub trait Report: sealed::Sealed {
    /// Whether changes are received at all.
    const IS_ON: bool;
    /// The way in which the walk remembers its place.
    type Places: Places;

    /// Takes a change.
    fn push(&mut self, change: Change);

    /// Takes the paths of unknown fields in metadata.
    fn unknown_metadata(&mut self, paths: Vec<String>);

    /// Returns the changes so far.
    fn changes(&mut self) -> &mut [Change];

    /// Takes the changes that normalizing metadata makes, in a resource at `node`.
    fn metadata(&mut self, written: &Value, normal: &Value, at: &Location<'_>, node: NodeRef<'_>) {
        if Self::IS_ON {
            self.unknown_metadata(unknown_metadata_fields(written, at));
            let changes = metadata_changes(written, normal, at, &node.schema_path());
            changes.into_iter().for_each(|change| self.push(change));
        }
    }

    /// Takes the change at a place.
    #[inline]
    fn change<'s>(&mut self, at: At<'_, 's, Self>, change: impl FnOnce(Place<'_, 's>) -> Change)
    where
        Self: Sized,
    {
        if Self::IS_ON
            && let Some(place) = Self::Places::place(at)
        {
            self.push(change(place));
        }
    }
}

impl sealed::Sealed for () {}

impl Report for () {
    const IS_ON: bool = false;
    type Places = NoPlaces;

    #[inline]
    fn push(&mut self, _: Change) {}

    fn unknown_metadata(&mut self, _: Vec<String>) {}

    fn changes(&mut self) -> &mut [Change] {
        &mut []
    }
}

impl sealed::Sealed for Vec<Change> {}

impl Report for Vec<Change> {
    const IS_ON: bool = true;
    type Places = AllPlaces;

    fn push(&mut self, change: Change) {
        Vec::push(self, change);
    }

    fn unknown_metadata(&mut self, _: Vec<String>) {}

    fn changes(&mut self) -> &mut [Change] {
        self
    }
}

/// The bytes that the paths of [`Findings`] may take together (PR-34).
pub const MAX_PATHS: usize = 16 << 20;

/// The findings about an object. Changes are left out when the paths take more than
/// [`MAX_PATHS`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// The changes, in the order of the steps: root metadata, pruned fields, removed nulls,
    /// metadata of embedded resources, defaults.
    pub changes: Vec<Change>,
    /// The paths of unknown fields, in the order in which field validation lists them (RP-20).
    pub unknown: Vec<String>,
    /// The number of changes that are left out.
    pub omitted: usize,
    /// The bytes of the paths.
    paths: usize,
}

impl sealed::Sealed for Findings {}

impl Report for Findings {
    const IS_ON: bool = true;
    type Places = AllPlaces;

    fn push(&mut self, change: Change) {
        self.paths = self.paths.saturating_add(change.path().size());
        if self.paths > MAX_PATHS {
            self.omitted += 1;
        } else {
            self.changes.push(change);
        }
    }

    fn unknown_metadata(&mut self, paths: Vec<String>) {
        self.unknown.extend(paths);
    }

    fn changes(&mut self) -> &mut [Change] {
        &mut self.changes
    }
}

/// A report for a walk that remembers its place in any case, for its errors.
#[derive(Debug)]
pub struct Located<'r, R>(pub &'r mut R);

impl<R> sealed::Sealed for Located<'_, R> {}

impl<R: Report> Report for Located<'_, R> {
    const IS_ON: bool = R::IS_ON;
    type Places = AllPlaces;

    fn push(&mut self, change: Change) {
        self.0.push(change);
    }

    fn unknown_metadata(&mut self, paths: Vec<String>) {
        self.0.unknown_metadata(paths);
    }

    fn changes(&mut self) -> &mut [Change] {
        self.0.changes()
    }
}
