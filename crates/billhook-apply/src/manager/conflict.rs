//! Conflicts between managers, and their texts (SA-80 to SA-84).

use std::fmt;

use billhook_apimachinery::{Status, StatusCause, StatusDetails};

use super::managed_fields::ManagerEntry;
use crate::field_set::{FieldSet, OwnedPath};

/// The fields in conflict with one manager.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The entry of the manager, with all its fields.
    pub owner: ManagerEntry,
    /// The fields in conflict; never empty.
    pub fields: FieldSet,
}

/// The conflicts of an apply, in the order of the managers; never empty. Prints the server's
/// message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(Vec<Conflict>);

impl Conflicts {
    pub(super) fn new(conflicts: Vec<Conflict>) -> Option<Self> {
        (!conflicts.is_empty()).then_some(Conflicts(conflicts))
    }

    /// Returns the conflicts with each manager.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.0
    }

    /// Returns the conflicts that are about other fields than these.
    pub(super) fn without(self, fields: &FieldSet) -> Option<Self> {
        let others = self.0.into_iter().filter_map(|conflict| {
            let fields = conflict.fields.difference(fields);
            (!fields.is_empty()).then_some(Conflict { fields, ..conflict })
        });
        Conflicts::new(others.collect())
    }

    fn paths(&self) -> impl Iterator<Item = (&ManagerEntry, OwnedPath)> {
        self.0.iter().flat_map(|conflict| {
            conflict.fields.paths().into_iter().map(|path| (&conflict.owner, path))
        })
    }

    /// Returns the status that the client gets (SA-80).
    pub fn to_status(&self) -> Status {
        let causes = self.paths().map(|(owner, path)| {
            let mut cause = StatusCause::default();
            "FieldManagerConflict".clone_into(&mut cause.reason);
            cause.message = format!("conflict with {}", owner.description());
            cause.field = path.to_string();
            cause
        });
        let mut details = StatusDetails::default();
        details.causes = causes.collect();
        let mut status = Status::failure(409, "Conflict", self.to_string());
        status.details = Some(Box::new(details));
        status
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<_> = self.paths().collect();
        if let [(owner, path)] = paths.as_slice() {
            let owner = owner.description();
            return write!(f, "Apply failed with 1 conflict: conflict with {owner}: {path}");
        }
        write!(f, "Apply failed with {} conflicts: ", paths.len())?;
        let mut separator = "";
        for conflict in &self.0 {
            write!(f, "{separator}conflicts with {}:", conflict.owner.description())?;
            separator = "\n";
            conflict.fields.paths().iter().try_for_each(|path| write!(f, "\n- {path}"))?;
        }
        Ok(())
    }
}

impl std::error::Error for Conflicts {}
