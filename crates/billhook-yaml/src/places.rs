//! The positions of the values of a document in the text.

use std::collections::HashMap;

use billhook_apimachinery::{FieldPath, Segment};

use crate::error::Place;

/// The number of a value in [`Places`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot(usize);

/// The places of a document's values, as a tree of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    spots: Vec<(Place, Children)>,
}

#[derive(Clone, Debug, Default)]
enum Children {
    #[default]
    None,
    List(Vec<Spot>),
    Map(HashMap<Box<str>, Spot>),
}

impl Places {
    /// A new value. The first one is the top.
    pub(crate) fn add(&mut self, place: Place) -> Spot {
        self.spots.push((place, Children::None));
        Spot(self.spots.len() - 1)
    }

    /// Says that a value is the next item of a list.
    pub(crate) fn add_item(&mut self, list: Spot, item: Spot) {
        let Some((_, children)) = self.spots.get_mut(list.0) else { return };
        if let Children::List(items) = children {
            items.push(item);
        } else {
            *children = Children::List(vec![item]);
        }
    }

    /// Records that a value is a member of an object; the last one of a name counts.
    pub(crate) fn add_member(&mut self, object: Spot, name: &str, member: Spot) {
        let Some((_, children)) = self.spots.get_mut(object.0) else { return };
        if !matches!(children, Children::Map(_)) {
            *children = Children::Map(HashMap::new());
        }
        if let Children::Map(members) = children {
            members.insert(name.into(), member);
        }
    }

    pub(crate) fn find(&self, path: &FieldPath) -> Option<Place> {
        let mut at = self.spots.first()?;
        for segment in path.segments() {
            let spot = match (&at.1, segment) {
                (Children::List(items), Segment::Index(index)) => items.get(index)?,
                (Children::Map(members), Segment::Name(name) | Segment::Key(name)) => {
                    members.get(name)?
                }
                _ => return None,
            };
            at = self.spots.get(spot.0)?;
        }
        Some(at.0)
    }
}
