//! Types with unknown parts, and the solutions for these.

use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::value::grow;

use crate::language::types::Type;

/// Steps after which an expression is too complex: the types of nested macros can grow
/// exponentially with its length.
const STEPS: usize = 2_000_000;

/// A type while it is being inferred.
#[derive(Clone, Debug)]
pub(super) enum Ty {
    /// Of something that was reported; fits everywhere.
    Error,
    /// Not known yet.
    Unknown(usize),
    /// A type without parts.
    Simple(Type),
    List(Arc<Ty>),
    Map(Arc<Ty>, Arc<Ty>),
    Optional(Arc<Ty>),
    Type(Arc<Ty>),
}

pub(super) const DYN: Ty = Ty::Simple(Type::Dyn);
/// A message that can be anything.
const ANY: &str = "google.protobuf.Any";
pub(super) const BOOL: Ty = Ty::Simple(Type::Bool);

impl Ty {
    pub(super) fn list(self) -> Ty {
        Ty::List(self.into())
    }

    pub(super) fn optional(self) -> Ty {
        Ty::Optional(self.into())
    }

    pub(super) fn is_dyn(&self) -> bool {
        matches!(self, Ty::Simple(Type::Dyn | Type::Message(ANY)))
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        self.is_dyn() || matches!(self, Ty::Error)
    }

    /// Whether null is assignable.
    fn is_nullable(&self) -> bool {
        use Type::{Duration, Message, Null, Object, Opaque, Timestamp, Wrapper};
        matches!(
            self,
            Ty::Optional(_)
                | Ty::Simple(
                    Null | Object(_) | Opaque(_) | Message(_) | Wrapper(_) | Duration | Timestamp
                )
        )
    }

    /// The type, when nothing in it is unknown any more.
    fn known(&self) -> Type {
        grow(|| match self {
            Ty::Error | Ty::Unknown(_) => Type::Dyn,
            Ty::Simple(of) => of.clone(),
            Ty::List(of) => of.known().list(),
            Ty::Map(key, value) => Type::Map(key.known().into(), value.known().into()),
            Ty::Optional(of) => of.known().optional(),
            Ty::Type(of) => Type::Type(of.known().into()),
        })
    }
}

/// Prints the type as error texts name it.
impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        grow(|| match self {
            Ty::Error => f.write_str("!error!"),
            Ty::Unknown(number) => write!(f, "_var{number}"),
            Ty::Simple(Type::Message(ANY)) => f.write_str("any"),
            Ty::Simple(of) => write!(f, "{of}"),
            Ty::List(of) => write!(f, "list({of})"),
            Ty::Map(key, value) => write!(f, "map({key}, {value})"),
            Ty::Optional(of) => write!(f, "optional_type({of})"),
            Ty::Type(of) => write!(f, "type({of})"),
        })
    }
}

/// The types of a function's parameters when it is called.
pub(super) type Parameters = Vec<(&'static str, Ty)>;

/// The known solutions for the unknown parts.
pub(super) struct Solver {
    found: Vec<Option<Ty>>,
    /// The previous solutions, for backtracking.
    trail: Vec<(usize, Option<Ty>)>,
    steps: usize,
}

impl Solver {
    pub(super) fn new() -> Self {
        Solver { found: Vec::new(), trail: Vec::new(), steps: STEPS }
    }

    /// Whether the expression is too complex.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps == 0
    }

    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        !self.is_exhausted()
    }

    /// A new unknown type.
    pub(super) fn unknown(&mut self) -> Ty {
        self.found.push(None);
        Ty::Unknown(self.found.len() - 1)
    }

    fn get(&self, number: usize) -> Option<&Ty> {
        self.found.get(number)?.as_ref()
    }

    fn set(&mut self, number: usize, of: Ty) {
        if let Some(found) = self.found.get_mut(number) {
            self.trail.push((number, found.replace(of)));
        }
    }

    /// A declared type, with unknown types for its parameters.
    pub(super) fn instance(&mut self, of: &Type, parameters: &mut Parameters) -> Ty {
        self.step();
        let mut part = |of: &Type| grow(|| self.instance(of, parameters));
        match of {
            Type::List(of) => part(of).list(),
            Type::Map(key, value) => Ty::Map(part(key).into(), part(value).into()),
            Type::Optional(of) => part(of).optional(),
            Type::Type(of) => Ty::Type(part(of).into()),
            Type::Param(name) => match parameters.iter().find(|(known, _)| known == name) {
                Some((_, of)) => of.clone(),
                None => {
                    let of = self.unknown();
                    parameters.push((name, of.clone()));
                    of
                }
            },
            simple => Ty::Simple(simple.clone()),
        }
    }

    /// Returns whether a value of each type is allowed where the other is expected. The implied
    /// solutions for unknown types are kept if all of them fit.
    pub(super) fn all_assignable(&mut self, from: &[Ty], to: &[Ty]) -> bool {
        let before = self.trail.len();
        let fits = from.len() == to.len()
            && from.iter().zip(to).all(|(from, to)| self.is_assignable(from, to));
        if fits {
            self.trail.clear();
        }
        while self.trail.len() > before {
            let Some((number, known)) = self.trail.pop() else { break };
            if let Some(found) = self.found.get_mut(number) {
                *found = known;
            }
        }
        fits
    }

    pub(super) fn assignable(&mut self, from: &Ty, to: &Ty) -> bool {
        self.all_assignable(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    fn is_assignable(&mut self, from: &Ty, to: &Ty) -> bool {
        if !self.step() {
            return true;
        }
        if let Ty::Unknown(number) = to {
            match self.substitutable(from, *number) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if let Ty::Unknown(number) = from {
            return self.substitutable(to, *number).0;
        }
        match (from, to) {
            _ if from.is_dyn_or_error() || to.is_dyn_or_error() => true,
            (Ty::Simple(Type::Null), other) | (other, Ty::Simple(Type::Null)) => {
                other.is_nullable()
            }
            (Ty::Simple(from), Ty::Simple(to)) => from.unwrapped() == to.unwrapped(),
            (Ty::List(from), Ty::List(to)) | (Ty::Optional(from), Ty::Optional(to)) => {
                grow(|| self.is_assignable(from, to))
            }
            (Ty::Map(from_key, from_value), Ty::Map(to_key, to_value)) => grow(|| {
                self.is_assignable(from_key, to_key) && self.is_assignable(from_value, to_value)
            }),
            (Ty::Type(_), Ty::Type(_)) => true,
            _ => false,
        }
    }

    /// Returns whether an unknown type can be a type, and whether a solution was known.
    fn substitutable(&mut self, of: &Ty, number: usize) -> (bool, bool) {
        if matches!(of, Ty::Unknown(same) if *same == number) {
            return (true, true);
        }
        let Some(known) = self.get(number).cloned() else {
            let is_free = self.is_free_of(of, number);
            if is_free {
                self.set(number, of.clone());
            }
            return (is_free, false);
        };
        if self.is_same(of, &known) {
            return (true, true);
        }
        let fits = grow(|| self.is_assignable(of, &known));
        if fits {
            let general = self.most_general(of, &known);
            if self.is_free_of(&general, number) {
                self.set(number, general);
            }
        }
        (fits, true)
    }

    /// Returns whether an unknown type is not a part of a type.
    fn is_free_of(&mut self, of: &Ty, number: usize) -> bool {
        if !self.step() {
            return false;
        }
        grow(|| match of {
            Ty::Error | Ty::Simple(_) => true,
            Ty::Unknown(same) if *same == number => false,
            Ty::Unknown(other) => match self.get(*other).cloned() {
                Some(known) => self.is_free_of(&known, number),
                None => true,
            },
            Ty::List(of) | Ty::Optional(of) | Ty::Type(of) => self.is_free_of(of, number),
            Ty::Map(key, value) => self.is_free_of(key, number) && self.is_free_of(value, number),
        })
    }

    /// Whether two types are the same to the letter.
    pub(super) fn is_same(&mut self, left: &Ty, right: &Ty) -> bool {
        if !self.step() {
            return true;
        }
        grow(|| match (left, right) {
            (Ty::Error, Ty::Error) => true,
            (Ty::Unknown(left), Ty::Unknown(right)) => left == right,
            (Ty::Simple(left), Ty::Simple(right)) => left.unwrapped() == right.unwrapped(),
            (Ty::List(left), Ty::List(right))
            | (Ty::Optional(left), Ty::Optional(right))
            | (Ty::Type(left), Ty::Type(right)) => self.is_same(left, right),
            (Ty::Map(left_key, left_value), Ty::Map(right_key, right_value)) => {
                self.is_same(left_key, right_key) && self.is_same(left_value, right_value)
            }
            _ => false,
        })
    }

    /// Returns the more general of two assignable types.
    pub(super) fn most_general(&mut self, left: &Ty, right: &Ty) -> Ty {
        if self.is_as_general(left, right) { left.clone() } else { right.clone() }
    }

    /// Returns whether a type is as general as another or more.
    fn is_as_general(&mut self, left: &Ty, right: &Ty) -> bool {
        if !self.step() {
            return true;
        }
        grow(|| match (left, right) {
            _ if left.is_dyn() || matches!(left, Ty::Unknown(_)) => true,
            _ if right.is_dyn() || matches!(right, Ty::Unknown(_)) => false,
            (Ty::Simple(left), Ty::Simple(right)) => left.unwrapped() == right.unwrapped(),
            (Ty::List(left), Ty::List(right)) | (Ty::Optional(left), Ty::Optional(right)) => {
                self.is_as_general(left, right)
            }
            (Ty::Map(left_key, left_value), Ty::Map(right_key, right_value)) => {
                self.is_as_general(left_key, right_key)
                    && self.is_as_general(left_value, right_value)
            }
            (Ty::Type(_), Ty::Type(_)) | (Ty::Error, Ty::Error) => true,
            _ => false,
        })
    }

    /// Returns a type with the solutions for its unknown parts.
    pub(super) fn resolve(&mut self, of: &Ty) -> Ty {
        self.resolved(of).unwrap_or_else(|| of.clone())
    }

    /// Returns a type with `dyn` for the parts that are still unknown.
    pub(super) fn resolve_to_dyn(&mut self, of: &Ty) -> Ty {
        let resolved = self.resolve(of);
        self.without_unknown(&resolved).unwrap_or(resolved)
    }

    /// Returns a type as it is when nothing is unknown any more.
    pub(super) fn known(&mut self, of: &Ty) -> Type {
        match of {
            Ty::Simple(of) => of.clone(),
            of => self.resolve_to_dyn(of).known(),
        }
    }

    /// Nothing if the type is the same, so that its parts stay shared.
    fn resolved(&mut self, of: &Ty) -> Option<Ty> {
        self.replaced(of, &|solver, number| {
            let known = solver.get(number).cloned()?;
            Some(solver.resolve(&known))
        })
    }

    fn without_unknown(&mut self, of: &Ty) -> Option<Ty> {
        self.replaced(of, &|_, _| Some(DYN))
    }

    fn replaced(
        &mut self,
        of: &Ty,
        replacement: &dyn Fn(&mut Self, usize) -> Option<Ty>,
    ) -> Option<Ty> {
        if !self.step() {
            return None;
        }
        let mut part = |of: &Arc<Ty>| grow(|| self.replaced(of, replacement).map(Arc::new));
        match of {
            Ty::Error | Ty::Simple(_) => None,
            Ty::List(of) => part(of).map(Ty::List),
            Ty::Optional(of) => part(of).map(Ty::Optional),
            Ty::Type(of) => part(of).map(Ty::Type),
            Ty::Map(key, value) => match (part(key), part(value)) {
                (None, None) => None,
                (new_key, new_value) => Some(Ty::Map(
                    new_key.unwrap_or_else(|| Arc::clone(key)),
                    new_value.unwrap_or_else(|| Arc::clone(value)),
                )),
            },
            Ty::Unknown(number) => grow(|| replacement(self, *number)),
        }
    }
}
