//! The paths of repeated keys (RP-20). A path is put together only when it is listed; until then
//! places are numbers, so that many repeated keys far down cost no more than few.

use std::cell::Cell;
use std::collections::HashMap;

use billhook_apimachinery::{FieldPath, Segment};

/// The maximum number of repeated keys that a document reports (RP-20).
const MAX_DUPLICATES: usize = 100;

/// Where the reader is: a list on the stack.
pub(crate) struct Place<'a> {
    above: Option<(&'a Place<'a>, Segment<'a>)>,
    /// Its number, once there is one.
    number: Cell<Option<usize>>,
}

impl<'a> Place<'a> {
    pub(crate) fn top() -> Self {
        Place { above: None, number: Cell::new(Some(0)) }
    }

    pub(crate) fn is_top(&self) -> bool {
        self.above.is_none()
    }

    pub(crate) fn inside(&'a self, segment: Segment<'a>) -> Self {
        Place { above: Some((self, segment)), number: Cell::new(None) }
    }

    fn path(&self) -> FieldPath {
        let above = |place: &&Place<'a>| place.above.map(|(above, _)| above);
        let places: Vec<_> = std::iter::successors(Some(self), above).collect();
        places.iter().rev().filter_map(|place| Some(place.above?.1)).collect()
    }
}

/// The step from a place to one in it.
#[derive(PartialEq, Eq, Hash)]
enum Step {
    Name(Box<str>),
    Index(usize),
}

/// Lists repeated keys in document order, each once.
#[derive(Default)]
pub(crate) struct Duplicates {
    listed: Vec<String>,
    /// The numbers of places, by those of the places above them; the top is 0.
    numbers: HashMap<(usize, Step), usize>,
    /// Whether the place with a number is listed; the top is not.
    is_listed: Vec<bool>,
}

impl Duplicates {
    pub(crate) fn add(&mut self, place: &Place<'_>) {
        if self.listed.len() == MAX_DUPLICATES {
            return;
        }
        let number = self.number(place);
        let Some(is_listed) = self.is_listed.get_mut(number.saturating_sub(1)) else { return };
        if !std::mem::replace(is_listed, true) {
            self.listed.push(place.path().to_dotted());
        }
    }

    pub(crate) fn into_paths(self) -> Vec<String> {
        self.listed
    }

    fn number(&mut self, place: &Place<'_>) -> usize {
        let mut unknown = Vec::new();
        let mut known = place;
        let mut number = loop {
            match (known.number.get(), known.above) {
                (Some(number), _) => break number,
                (None, Some((above, segment))) => {
                    unknown.push((known, segment));
                    known = above;
                }
                (None, None) => break 0,
            }
        };
        for (place, segment) in unknown.into_iter().rev() {
            let step = match segment {
                Segment::Index(index) => Step::Index(index),
                Segment::Name(name) | Segment::Key(name) => Step::Name(name.into()),
                _ => continue,
            };
            let next = self.is_listed.len() + 1;
            number = *self.numbers.entry((number, step)).or_insert(next);
            if number == next {
                self.is_listed.push(false);
            }
            place.number.set(Some(number));
        }
        number
    }
}
