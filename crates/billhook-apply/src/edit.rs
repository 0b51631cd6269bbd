//! Changes of a value, before they are made.

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
    Parts(Edits<(Part<'c>, Edit<'c>)>),
    /// It is a list, which then has these elements.
    List(Edits<Element<'c>>),
}

/// A step to a part of a value.
#[derive(Clone, Copy)]
pub(crate) enum Part<'c> {
    /// To a member, which may be missing.
    Member(&'c str),
    /// To an element of a list, by its position.
    Item(usize),
}

/// An element of a list after a change.
pub(crate) struct Element<'c> {
    /// The position where it was before; no two have the same. None if it is new.
    pub(crate) from: Option<usize>,
    /// The change of it; a new one is made of null.
    pub(crate) edit: Option<Edit<'c>>,
}

/// The changes one step below a place.
pub(crate) struct Edits<T>(Vec<T>);

impl<'c> Edit<'c> {
    /// The change of these parts; none if there are none.
    pub(crate) fn of_parts(parts: Vec<(Part<'c>, Edit<'c>)>) -> Option<Self> {
        (!parts.is_empty()).then(|| Edit::Parts(Edits(parts)))
    }

    /// The change of a list that has these elements then, which `stay` if all are where they were and
    /// nothing else was there.
    pub(crate) fn of_list(stay: bool, elements: impl Iterator<Item = Element<'c>>) -> Option<Self> {
        if !stay {
            return Some(Edit::List(Edits(elements.collect())));
        }
        let parts = elements.filter_map(|Element { from, edit }| Some((Part::Item(from?), edit?)));
        Edit::of_parts(parts.collect())
    }

    /// The value that takes the place of the existing one.
    pub(crate) fn replacement(&self) -> Option<&Value> {
        match self {
            Edit::Set(new) => Some(new),
            Edit::Made(new) => Some(new),
            Edit::Remove | Edit::Parts(_) | Edit::List(_) => None,
        }
    }

    /// Makes the change. Returns the one that takes it back.
    pub(crate) fn apply_to(self, value: &mut Value) -> Edit<'c> {
        let new = match self {
            Edit::Set(new) => deep_clone(new),
            Edit::Made(new) => new.into_inner(),
            Edit::Remove => Value::Null,
            Edit::Parts(edits) => return Edit::Parts(grow(|| edits.apply_to(value))),
            Edit::List(edits) => return Edit::List(grow(|| edits.apply_to(value))),
        };
        Edit::Made(DeepValue::from(std::mem::replace(value, new)))
    }

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

impl<'c> Edits<(Part<'c>, Edit<'c>)> {
    fn apply_to(mut self, value: &mut Value) -> Self {
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

impl Edits<Element<'_>> {
    fn apply_to(mut self, value: &mut Value) -> Self {
        let Value::Array(items) = value else { return Edits(Vec::new()) };
        let whole = |item: Value| Some(Edit::Made(item.into()));
        let old = std::mem::take(items).into_iter();
        let mut undo: Vec<Element<'_>> =
            old.map(|item| Element { from: None, edit: whole(item) }).collect();
        let elements = std::mem::take(&mut self.0).into_iter();
        for (position, Element { from, edit }) in elements.enumerate() {
            let mut item = Value::Null;
            let mut old = from.and_then(|from| undo.get_mut(from));
            if let Some(whole) = old.as_mut().and_then(|old| old.edit.take()) {
                drop(whole.apply_to(&mut item));
            }
            let edit = edit.map(|edit| edit.apply_to(&mut item));
            if let Some(old) = old {
                *old = Element { from: Some(position), edit };
            }
            items.push(item);
        }
        Edits(undo)
    }
}

impl<T> Edits<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T> Drop for Edits<T> {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            grow(|| drop(std::mem::take(&mut self.0)));
        }
    }
}
