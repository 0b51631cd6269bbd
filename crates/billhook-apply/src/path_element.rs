//! The steps of paths in field sets (SA-21), their order (SA-22) and their texts (SA-13).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::print::{error_value, plain_json, quote};
use billhook_apimachinery::value::{DeepValue, grow, sorted};
use serde_json::Value;
use smol_str::SmolStr;

use crate::order::compare_values;

/// One step of a path in a [`FieldSet`](crate::FieldSet). Cheap to clone.
///
/// Steps are ordered as the server orders them (SA-22), and print as in its error texts (SA-13):
/// `.name`, `[name="a",port=80]`, `[="a"]`, `[3]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathElement(Step);

#[derive(Clone, Debug)]
enum Step {
    Field(SmolStr),
    /// Sorted by name.
    Key(Arc<[(String, DeepValue)]>),
    Value(DeepValue),
    Index(i64),
}

/// The kinds of [`PathElement`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PathElementKind<'a> {
    /// The member of this name.
    Field(&'a str),
    /// The list element with these key fields, sorted by name.
    Key(&'a [(String, DeepValue)]),
    /// The element of a set with this value.
    Value(&'a Value),
    /// The list element at this position.
    Index(i64),
}

impl PathElement {
    /// Returns the step to the member `name`.
    pub fn field(name: impl AsRef<str>) -> Self {
        PathElement(Step::Field(name.as_ref().into()))
    }

    /// Returns the step to the list element with these key fields.
    pub fn key(fields: impl IntoIterator<Item = (String, DeepValue)>) -> Self {
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.sort_by(|left, right| left.0.cmp(&right.0));
        PathElement(Step::Key(fields.into()))
    }

    /// Returns the step to the set element with this value.
    pub fn value(value: impl Into<DeepValue>) -> Self {
        PathElement(Step::Value(value.into()))
    }

    /// Returns the step to the list element at this position. Custom resources never have such
    /// steps in their sets, but sets that are read may.
    pub fn index(index: i64) -> Self {
        PathElement(Step::Index(index))
    }

    /// Returns what the step leads to.
    pub fn kind(&self) -> PathElementKind<'_> {
        match &self.0 {
            Step::Field(name) => PathElementKind::Field(name),
            Step::Key(fields) => PathElementKind::Key(fields),
            Step::Value(value) => PathElementKind::Value(value),
            Step::Index(index) => PathElementKind::Index(*index),
        }
    }

    /// Returns the name of the member that the step leads to, if it leads to one.
    pub(crate) fn as_field(&self) -> Option<&str> {
        match &self.0 {
            Step::Field(name) => Some(name),
            _ => None,
        }
    }

    /// Returns how the step compares with the step to the member `name`.
    pub(crate) fn cmp_field(&self, name: &str) -> Ordering {
        match &self.0 {
            Step::Field(own) => own.as_str().cmp(name),
            _ => Ordering::Greater,
        }
    }

    /// Returns how the step compares with the step to the list element with these key fields,
    /// sorted by name.
    pub(crate) fn cmp_key<'a>(
        &self,
        fields: impl Iterator<Item = (&'a str, &'a Value)>,
    ) -> Ordering {
        match &self.0 {
            Step::Field(_) => Ordering::Less,
            Step::Key(own) => compare_keys(pairs(own), fields),
            Step::Value(_) | Step::Index(_) => Ordering::Greater,
        }
    }

    /// Returns how the step compares with the step to the set element with this value.
    pub(crate) fn cmp_value(&self, value: &Value) -> Ordering {
        match &self.0 {
            Step::Field(_) | Step::Key(_) => Ordering::Less,
            Step::Value(own) => compare_values(own, value),
            Step::Index(_) => Ordering::Greater,
        }
    }
}

impl Step {
    fn rank(&self) -> u8 {
        match self {
            Step::Field(_) => 0,
            Step::Key(_) => 1,
            Step::Value(_) => 2,
            Step::Index(_) => 3,
        }
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Step::Field(left), Step::Field(right)) => left.cmp(right),
            (Step::Key(left), Step::Key(right)) => compare_keys(pairs(left), pairs(right)),
            (Step::Value(left), Step::Value(right)) => compare_values(left, right),
            (Step::Index(left), Step::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

fn pairs(fields: &[(String, DeepValue)]) -> impl Iterator<Item = (&str, &Value)> {
    fields.iter().map(|(name, value)| (name.as_str(), &**value))
}

/// Compares the key fields of two list elements, both sorted by name.
pub(crate) fn compare_keys<'l, 'r>(
    mut left: impl Iterator<Item = (&'l str, &'l Value)>,
    mut right: impl Iterator<Item = (&'r str, &'r Value)>,
) -> Ordering {
    loop {
        let order = match (left.next(), right.next()) {
            (Some(left), Some(right)) => {
                left.0.cmp(right.0).then_with(|| compare_values(left.1, right.1))
            }
            (left, right) => return left.is_some().cmp(&right.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Step {}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Step::Field(name) => write!(f, ".{name}"),
            Step::Key(fields) => {
                for (index, (name, value)) in fields.iter().enumerate() {
                    let before = if index > 0 { ',' } else { '[' };
                    write!(f, "{before}{name}={}", ValueText(value))?;
                }
                f.write_str("]")
            }
            Step::Value(value) => write!(f, "[={}]", ValueText(value)),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A value as it is shown in paths: only strings at the top and inside are quoted, and the members
/// of an object follow each other.
struct ValueText<'a>(&'a Value);

impl fmt::Display for ValueText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::String(text) => f.write_str(&quote(text)),
            Value::Array(items) => grow(|| {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index > 0 { "," } else { "" })?;
                    ValueText(item).fmt(f)?;
                }
                f.write_str("]")
            }),
            Value::Object(members) => grow(|| {
                let mut members = sorted(members).into_iter();
                members.try_for_each(|(name, member)| write!(f, "{name}={}", ValueText(member)))
            }),
            Value::Number(_) => f.write_str(&error_value(self.0)),
            other => f.write_str(&plain_json(other)),
        }
    }
}
