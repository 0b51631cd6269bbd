//! A change of a value, as what it becomes at a place inside of it: the value is copied when that is
//! asked for.

use std::borrow::Cow;

use billhook_apimachinery::value::deep_clone;
use billhook_schema::SchemaView;
use serde_json::Value;

use crate::sample::sample;

/// A change of a value.
pub(crate) struct Change<'v> {
    /// The way to the place, from its end.
    way: Vec<Step<'v>>,
    edit: Edit<'v>,
    pub(crate) hint: Hint,
}

/// How much hints say for a change: they mention the member that is added or removed, or the value
/// that it is given; or only what is around the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hint {
    Exact,
    Around,
    None,
}

enum Step<'v> {
    Member(Cow<'v, str>),
    First,
}

enum Edit<'v> {
    To(Value),
    /// To the smallest value of a schema.
    ToSample(SchemaView<'v>),
    /// Without a member.
    Without(&'v str),
}

impl<'v> Change<'v> {
    /// The change to another value.
    pub(crate) fn to(value: Value, hint: Hint) -> Self {
        Change { way: Vec::new(), edit: Edit::To(value), hint }
    }

    /// The change to the smallest value of a schema.
    pub(crate) fn to_sample(schema: SchemaView<'v>, hint: Hint) -> Self {
        Change { way: Vec::new(), edit: Edit::ToSample(schema), hint }
    }

    /// The removal of a member.
    pub(crate) fn without(name: &'v str, hint: Hint) -> Self {
        Change { way: Vec::new(), edit: Edit::Without(name), hint }
    }

    /// The same change of a member.
    pub(crate) fn in_member(mut self, name: impl Into<Cow<'v, str>>) -> Self {
        self.way.push(Step::Member(name.into()));
        self
    }

    /// The same change of the first element.
    pub(crate) fn in_first(mut self) -> Self {
        self.way.push(Step::First);
        self
    }

    /// The value as a whole that it leads to, if it replaces all of it.
    pub(crate) fn whole(&self) -> Option<&Value> {
        match &self.edit {
            Edit::To(value) if self.way.is_empty() => Some(value),
            _ => None,
        }
    }

    /// Changes a value.
    pub(crate) fn of(&self, value: &Value) -> Value {
        if let (true, Edit::To(value)) = (self.way.is_empty(), &self.edit) {
            return deep_clone(value);
        }
        let mut changed = deep_clone(value);
        self.make(&mut changed);
        changed
    }

    fn make(&self, value: &mut Value) {
        let mut at = value;
        for step in self.way.iter().rev() {
            let below = match (step, at) {
                (Step::Member(name), Value::Object(members)) => {
                    Some(members.entry(name.as_ref()).or_insert(Value::Null))
                }
                (Step::First, Value::Array(items)) => items.first_mut(),
                _ => None,
            };
            let Some(below) = below else { return };
            at = below;
        }
        match &self.edit {
            Edit::To(value) => *at = deep_clone(value),
            Edit::ToSample(schema) => *at = sample(schema.written()),
            Edit::Without(name) => {
                if let Some(members) = at.as_object_mut() {
                    members.remove(*name);
                }
            }
        }
    }
}
