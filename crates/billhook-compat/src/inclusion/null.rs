//! Nulls that are sent, which are kept, removed or replaced.

use serde_json::Value;

use super::known::Shape;
use super::{Kinds, Prover};

/// The place of a value, which decides the fate of null (DF-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    Member,
    Item,
}

/// The fate of a null that is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Null<'s> {
    Kept,
    Removed,
    Replaced(&'s Value),
    Refused,
}

impl<'s> Null<'s> {
    /// DF-10 to DF-14, DF-25.
    pub(super) fn of(shape: Shape<'s>, place: Place, prover: &Prover<'_>) -> Self {
        let schema = shape.schema;
        match schema.default_value() {
            _ if schema.nullable || shape.is_bare(prover.bare) => Null::Kept,
            Some(default) => Null::Replaced(default),
            None if place == Place::Member => Null::Removed,
            None if prover.kinds_of(schema).include(Kinds::NULL) => Null::Kept,
            None => Null::Refused,
        }
    }
}
