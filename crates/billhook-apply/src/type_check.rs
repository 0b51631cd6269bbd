//! The check of a value against its merge type (SA-10 to SA-15).

use billhook_apimachinery::value::{grow, in_order};
use serde_json::Value;

use crate::foreign::{Foreign, ForeignValues, PathStep};
use crate::identity::{Identity, Item, NoIdentity};
use crate::schema::Scalar;
use crate::shape::{List, Map, Shape, Type};
use crate::type_error::{TypeError, TypeErrors, not_a, not_scalar};

/// Whether the elements of sets and keyed lists may repeat (SA-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// They may, as in objects that are stored.
    Allowed,
    /// They may not, as in configurations that are applied.
    Refused,
}

/// Checks a value, parts of which may stand for values that JSON does not have.
pub(crate) fn check(
    type_: Type<'_>,
    value: &Value,
    duplicates: Duplicates,
    foreign: Option<&ForeignValues>,
) -> Result<(), TypeErrors> {
    let foreign = foreign.filter(|foreign| !foreign.is_empty());
    let mut check = Check { duplicates, foreign, errors: Vec::new() };
    check.value(type_, value, &At::Top);
    TypeErrors::new(check.errors).map_or(Ok(()), Err)
}

/// Whether a value fits its type.
pub(crate) fn fits(type_: Type<'_>, value: &Value, duplicates: Duplicates) -> bool {
    is_admitted_scalar(type_, value) || check(type_, value, duplicates, None).is_ok()
}

pub(crate) fn is_admitted_scalar(type_: Type<'_>, value: &Value) -> bool {
    let is_scalar = !value.is_array() && !value.is_object();
    is_scalar && type_.scalar().is_some_and(|scalar| admits(scalar, value))
}

struct Check<'c> {
    duplicates: Duplicates,
    foreign: Option<&'c ForeignValues>,
    errors: Vec<TypeError>,
}

/// The place of the walk.
enum At<'a> {
    Top,
    Name(&'a At<'a>, &'a str),
    Element(&'a At<'a>, Identity<'a>, usize),
    Index(&'a At<'a>, usize),
}

impl At<'_> {
    fn text(&self) -> String {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            let (above, step) = match at {
                At::Top => break,
                At::Name(above, name) => (above, format!(".{name}")),
                At::Element(above, element, _) => (above, element.element().to_string()),
                At::Index(above, index) => (above, format!("[{index}]")),
            };
            steps.push(step);
            at = above;
        }
        steps.into_iter().rev().collect()
    }

    fn steps(&self) -> Vec<PathStep> {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            let (above, step) = match at {
                At::Top => break,
                At::Name(above, name) => (above, PathStep::Name((*name).to_owned())),
                At::Element(above, _, index) | At::Index(above, index) => {
                    (above, PathStep::Index(*index))
                }
            };
            steps.push(step);
            at = above;
        }
        steps.reverse();
        steps
    }
}

impl<'c> Check<'c> {
    #[inline]
    fn foreign(&self, at: &At<'_>) -> Option<&'c Foreign> {
        self.foreign?.get(&at.steps())
    }

    fn report(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.errors.push(TypeError::new(at.text(), message));
    }

    #[inline]
    fn value(&mut self, type_: Type<'_>, value: &Value, at: &At<'_>) {
        if self.foreign.is_some() || !is_admitted_scalar(type_, value) {
            self.other_value(type_, value, at);
        }
    }

    /// A value that is not a scalar as it should be.
    fn other_value(&mut self, type_: Type<'_>, value: &Value, at: &At<'_>) {
        if let Some(foreign) = self.foreign(at) {
            return self.report(at, foreign.unfit_for(type_.first_shape()));
        }
        match (type_.shape(value), value) {
            (_, Value::Null) => {}
            (Some(Shape::Map(map)), Value::Object(_)) => grow(|| self.map(map, value, at)),
            (Some(Shape::List(list)), Value::Array(items)) => grow(|| self.list(list, items, at)),
            (Some(Shape::Scalar(scalar)), value) if !admits(scalar, value) => {
                self.report(at, not_scalar(scalar, value));
            }
            (Some(Shape::Scalar(_)), _) => {}
            (Some(Shape::Map(_)), other) => self.report(at, not_a("map", other)),
            (Some(Shape::List(_)), other) => self.report(at, not_a("list", other)),
            (None, _) => self.report(at, "no type found"),
        }
    }

    /// The server visits members in random order and stops at the first one without type; here
    /// that one comes last, so that no other error is missing (SA-14).
    fn map(&mut self, map: Map<'_>, value: &Value, at: &At<'_>) {
        let Value::Object(members) = value else { return };
        let (mut types, mut undeclared) = (map.members(), None);
        for (name, value) in in_order(members) {
            match types.find(name) {
                Some(member) => self.value(member.type_, value, &At::Name(at, name)),
                None => undeclared = undeclared.or(Some(name)),
            }
        }
        if let Some(name) = undeclared {
            self.report(&At::Name(at, name), "field not declared in schema");
        }
    }

    fn list(&mut self, list: List<'_>, items: &[Value], at: &At<'_>) {
        let repeated = match self.duplicates {
            Duplicates::Refused if !list.is_atomic() => repeated(list, items),
            _ => Vec::new(),
        };
        for (index, item) in items.iter().enumerate() {
            if list.is_atomic() {
                self.value(list.items, item, &At::Index(at, index));
                continue;
            }
            let identity = match list.identify(item) {
                Ok(identity) => identity,
                Err(_) if self.foreign(&At::Index(at, index)).is_some() => {
                    let error = NoIdentity::NotAMap;
                    return self.report(at, format!("element {index}: {error}"));
                }
                Err(error) => return self.report(at, format!("element {index}: {error}")),
            };
            self.value(list.items, item, &At::Element(at, identity, index));
            if repeated.binary_search(&index).is_ok() {
                let element = identity.element();
                self.report(at, format!("duplicate entries for key {element}"));
            }
        }
    }
}

/// Returns the positions of elements whose identity is that of an earlier one.
fn repeated(list: List<'_>, items: &[Value]) -> Vec<usize> {
    let items = list.in_order(items);
    let groups = items.chunk_by(Item::is_like);
    let mut repeated: Vec<usize> =
        groups.flat_map(|group| group.iter().skip(1).map(|item| item.position)).collect();
    repeated.sort_unstable();
    repeated
}

/// Whether a scalar type takes a value.
pub(crate) fn admits(scalar: Scalar, value: &Value) -> bool {
    match scalar {
        Scalar::Numeric => value.is_number(),
        Scalar::String => value.is_string(),
        Scalar::Boolean => value.is_boolean(),
        Scalar::Any => !value.is_array() && !value.is_object(),
    }
}
