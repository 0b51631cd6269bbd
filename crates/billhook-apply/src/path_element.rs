//! The steps of paths in field sets (SA-21), their order (SA-22) and their texts (SA-13).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::print::{error_value, plain_json, quote};
use billhook_apimachinery::value::{DeepValue, grow, sorted};
use serde_json::Value;

use crate::order::compare_values;

/// One step of a path in a [`FieldSet`](crate::FieldSet). Cheap to clone.
///
/// Steps are ordered as the server orders them (SA-22), and print as in its error texts (SA-13):
/// `.name`, `[name="a",port=80]`, `[="a"]`, `[3]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathElement(Step);

#[derive(Clone, Debug)]
enum Step {
    Field(Arc<str>),
    /// Sorted by name.
    Key(Arc<[(String, DeepValue)]>),
    Value(Arc<DeepValue>),
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
    pub fn field(name: impl Into<Arc<str>>) -> Self {
        PathElement(Step::Field(name.into()))
    }

    /// Returns the step to the list element with these key fields.
    pub fn key(fields: impl IntoIterator<Item = (String, DeepValue)>) -> Self {
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.sort_by(|left, right| left.0.cmp(&right.0));
        PathElement(Step::Key(fields.into()))
    }

    /// Returns the step to the set element with this value.
    pub fn value(value: impl Into<DeepValue>) -> Self {
        PathElement(Step::Value(Arc::new(value.into())))
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

    /// Returns how the step compares with the step to the member `name`.
    pub(crate) fn cmp_field(&self, name: &str) -> Ordering {
        match &self.0 {
            Step::Field(own) => (**own).cmp(name),
            _ => Ordering::Greater,
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
            (Step::Key(left), Step::Key(right)) => compare_keys(left, right),
            (Step::Value(left), Step::Value(right)) => compare_values(left, right),
            (Step::Index(left), Step::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

fn compare_keys(left: &[(String, DeepValue)], right: &[(String, DeepValue)]) -> Ordering {
    let pairs = left.iter().zip(right);
    let mut orders = pairs.map(|((left_name, left), (right_name, right))| {
        left_name.cmp(right_name).then_with(|| compare_values(left, right))
    });
    let first = orders.find(|order| order.is_ne());
    first.unwrap_or_else(|| left.len().cmp(&right.len()))
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
