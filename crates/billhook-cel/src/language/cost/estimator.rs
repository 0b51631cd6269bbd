//! The values of nodes: where in an object they come from and how large they can be.

use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::size::{Entries, Size};
use crate::language::ast::{Expr, Kind, Literal};
use crate::language::check::Checked;
use crate::language::schema::SchemaType;
use crate::language::types::Type;

pub(super) struct Estimator<'e> {
    pub(super) checked: &'e Checked,
    /// The places that variables denote, by their names.
    pub(super) named: &'e [(&'e str, &'e SchemaType)],
    /// The place of all others.
    pub(super) root: Place<'e>,
    /// The size of a value about which nothing is known.
    pub(super) unknown: Size,
    pub(super) facts: Vec<Facts<'e>>,
    /// The variables of macros.
    pub(super) locals: Vec<(Arc<str>, Facts<'e>)>,
}

/// The known facts about the value of a node, or of a variable of a macro.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts<'e> {
    pub(super) place: Place<'e>,
    /// The size, if it does not follow from the place or the type.
    pub(super) size: Option<Size>,
    /// The content of a list or a map that the expression makes.
    pub(super) entries: Option<Entries>,
}

/// The place in an object that a value comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Place<'e> {
    /// No particular place.
    #[default]
    Nowhere,
    At(&'e SchemaType),
    /// A key of a map.
    Key,
    /// A place about which the schema has no information.
    Unknown,
}

/// One step down from a place.
#[derive(Clone, Copy)]
pub(super) enum Step<'n> {
    Field(&'n str),
    Elements,
    Keys,
    Indices,
}

impl<'e> Estimator<'e> {
    pub(super) fn step(&self, place: Place<'e>, step: Step<'_>) -> Place<'e> {
        let schema = match place {
            // The way to a value begins with the name of a variable; a way from nowhere begins with
            // its first step.
            Place::Nowhere => return self.root,
            Place::At(schema) => schema,
            Place::Key | Place::Unknown => return Place::Unknown,
        };
        let next = match step {
            Step::Field(name) => schema.field(name),
            Step::Elements => schema.elements(),
            Step::Keys if schema.is_map() => return Place::Key,
            Step::Keys | Step::Indices => None,
        };
        next.map_or(Place::Unknown, |schema| Place::At(schema))
    }

    /// The size of the values at a place, if it is known.
    pub(super) fn size_at(place: Place<'_>) -> Option<Size> {
        match place {
            Place::At(schema) => Some(Size { min: 0, max: schema.max.unwrap_or_default() }),
            Place::Key => Some(Size::fixed(0)),
            Place::Nowhere | Place::Unknown => None,
        }
    }

    /// The size of a value; anything if nothing is known of it.
    pub(super) fn size(&self, expr: &Expr) -> Size {
        self.known_size(expr).unwrap_or(self.unknown)
    }

    pub(super) fn known_size(&self, expr: &Expr) -> Option<Size> {
        let facts = self.facts(expr);
        facts
            .size
            .or_else(|| size_of_literal(expr))
            .or_else(|| Self::size_at(facts.place))
            .or_else(|| self.is_scalar(self.type_of(expr)).then_some(Size::fixed(1)))
            .or_else(|| self.local_of(expr)?.size)
    }

    pub(super) fn entries(&self, expr: &Expr) -> Option<Entries> {
        let known = self.facts(expr).entries.or_else(|| self.local_of(expr)?.entries);
        known.filter(|_| self.follows_sizes())
    }

    /// Whether all values of a type have the same size.
    fn is_scalar(&self, type_: &Type) -> bool {
        match type_.unwrapped() {
            Type::Bool
            | Type::Double
            | Type::Duration
            | Type::Int
            | Type::Timestamp
            | Type::Uint => true,
            Type::Optional(of) => self.follows_sizes() && grow(|| self.is_scalar(of)),
            _ => false,
        }
    }

    /// Whether sizes are followed through the values that expressions make (KV-50).
    pub(super) fn follows_sizes(&self) -> bool {
        self.checked.language.edition().follows_sizes
    }

    /// The place of a variable.
    pub(super) fn place_of(&self, name: &str) -> Place<'e> {
        match self.local(name) {
            Some(local) => local.place,
            None if !self.follows_sizes()
                && name == self.checked.language.edition().accumulator =>
            {
                Place::Unknown
            }
            None => {
                let named = self.named.iter().find(|(known, _)| *known == name);
                named.map_or(self.root, |(_, schema)| Place::At(schema))
            }
        }
    }

    pub(super) fn local_of(&self, expr: &Expr) -> Option<Facts<'e>> {
        match &expr.kind {
            Kind::Ident(name) => self.local(name),
            _ => None,
        }
    }

    pub(super) fn local(&self, name: &str) -> Option<Facts<'e>> {
        self.locals.iter().rev().find(|(known, _)| **known == *name).map(|(_, local)| *local)
    }

    pub(super) fn facts(&self, expr: &Expr) -> Facts<'e> {
        self.facts.get(expr.id).copied().unwrap_or_default()
    }

    pub(super) fn note(&mut self, expr: &Expr, note: impl FnOnce(&mut Facts<'e>)) {
        if let Some(facts) = self.facts.get_mut(expr.id) {
            note(facts);
        }
    }

    pub(super) fn type_of(&self, expr: &Expr) -> &'e Type {
        self.checked.types.get(expr.id).unwrap_or(&Type::Dyn)
    }

    /// Returns the size of the elements of a list, which is known only of lists from an object.
    pub(super) fn element_size(&self, list: &Expr) -> Size {
        let place = self.facts(list).place;
        let known = match place {
            Place::Nowhere => None,
            place => Self::size_at(self.step(place, Step::Elements)),
        };
        known.unwrap_or(self.unknown)
    }
}

fn size_of_literal(expr: &Expr) -> Option<Size> {
    let size = match &expr.kind {
        Kind::Literal(Literal::String(text)) => text.chars().count(),
        Kind::Literal(Literal::Bytes(bytes)) => bytes.len(),
        Kind::Literal(_) => 1,
        Kind::List(elements) => elements.len(),
        Kind::Map(members) => members.len(),
        _ => return None,
    };
    Some(Size::fixed(size as u64))
}
