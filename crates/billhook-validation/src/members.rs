//! The listed members of a node: finding them by name, and which of them an object has.

use crate::compile::NodeId;

/// A listed member.
#[derive(Debug)]
pub(crate) struct Member {
    name: Box<str>,
    id: NodeId,
}

impl Member {
    pub(crate) fn new(name: &str, id: NodeId) -> Self {
        Member { name: name.into(), id }
    }

    pub(crate) fn id(&self) -> NodeId {
        self.id
    }
}

/// The listed members of one node, sorted by name.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a>(pub(crate) &'a [Member]);

/// How many members are compared one by one.
const LINEAR: usize = 8;

impl Members<'_> {
    /// A member and its place. Objects mostly have their members in the order of their names, so
    /// the search begins at `next`, one behind the member that was found last.
    #[inline]
    pub(crate) fn find(self, name: &str, next: usize) -> Option<(usize, NodeId)> {
        let ahead = self.0.iter().enumerate().skip(next).take(LINEAR);
        for (place, member) in ahead {
            if *member.name == *name {
                return Some((place, member.id));
            }
        }
        self.search(name)
    }

    fn search(self, name: &str) -> Option<(usize, NodeId)> {
        let place = self.0.binary_search_by(|member| (*member.name).cmp(name)).ok()?;
        self.0.get(place).map(|member| (place, member.id))
    }

    /// The places of some members, if all of them have one that a [`Seen`] can note.
    pub(crate) fn places(self, names: &[Box<str>]) -> Option<Seen> {
        let mut places = Seen::default();
        for name in names {
            let (place, _) = self.search(name)?;
            places.insert(place);
            if place >= Seen::COUNT {
                return None;
            }
        }
        Some(places)
    }
}

/// Which of the first listed members an object has, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen(u64);

impl Seen {
    const COUNT: usize = u64::BITS as usize;

    /// Notes a member by its place.
    #[inline]
    pub(crate) fn insert(&mut self, place: usize) {
        if place < Seen::COUNT {
            self.0 |= 1 << place;
        }
    }

    /// Whether all of some members are there.
    #[inline]
    pub(crate) fn holds(self, members: Seen) -> bool {
        members.0 & !self.0 == 0
    }
}
