//! The changes that the merge of a configuration makes, before they are made.

use billhook_apimachinery::value::{DeepValue, deep_clone, grow};
use serde_json::{Map, Value};

/// A change of a value.
pub(crate) enum Edit<'c> {
    /// It becomes this part of the configuration.
    Set(&'c Value),
    /// It becomes this value.
    Made(DeepValue),
    /// It goes, if it is a member; anything else becomes null.
    Remove,
    /// Parts of it change.
    Parts(Edits<'c>),
}

/// The changes one step below a place.
pub(crate) struct Edits<'c>(Vec<(Part<'c>, Edit<'c>)>);

/// A step to a part of a value.
#[derive(Clone, Copy)]
pub(crate) enum Part<'c> {
    /// To a member, which may be missing.
    Member(&'c str),
    /// To an element of a list, by its position.
    Item(usize),
}

impl<'c> Edit<'c> {
    /// The change of these parts; none if there are none.
    pub(crate) fn of_parts(parts: Vec<(Part<'c>, Edit<'c>)>) -> Option<Self> {
        (!parts.is_empty()).then_some(Edit::Parts(Edits(parts)))
    }

    /// Makes the change. Returns the one that takes it back.
    pub(crate) fn apply_to(self, value: &mut Value) -> Edit<'c> {
        let new = match self {
            Edit::Set(new) => deep_clone(new),
            Edit::Made(new) => new.into_inner(),
            Edit::Remove => Value::Null,
            Edit::Parts(edits) => return Edit::Parts(grow(|| edits.apply_to(value))),
        };
        Edit::Made(DeepValue::from(std::mem::replace(value, new)))
    }
}

impl<'c> Edit<'c> {
    fn apply_to_member(self, name: &str, members: &mut Map<String, Value>) -> Option<Edit<'c>> {
        if let Edit::Remove = self {
            return Some(Edit::Made(members.remove(name)?.into()));
        }
        if let Some(member) = members.get_mut(name) {
            return Some(self.apply_to(member));
        }
        let mut member = Value::Null;
        drop(self.apply_to(&mut member));
        members.insert(name.to_owned(), member);
        Some(Edit::Remove)
    }
}

impl<'c> Edits<'c> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Part<'c>, Edit<'c>)> {
        self.0.iter()
    }

    fn apply_to(mut self, value: &mut Value) -> Edits<'c> {
        let edits = std::mem::take(&mut self.0).into_iter();
        let undone = edits.filter_map(|(part, edit)| {
            let undo = match (part, &mut *value) {
                (Part::Member(name), Value::Object(members)) => edit.apply_to_member(name, members),
                (Part::Item(position), Value::Array(items)) => {
                    items.get_mut(position).map(|item| edit.apply_to(item))
                }
                _ => None,
            };
            Some((part, undo?))
        });
        Edits(undone.collect())
    }
}

impl Drop for Edits<'_> {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            grow(|| drop(std::mem::take(&mut self.0)));
        }
    }
}
