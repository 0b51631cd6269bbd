//! The listed members of a node: finding them by name, and which of them an object has.

use crate::compile::NodeId;

/// A listed member.
#[derive(Debug)]
pub(crate) struct Member {
    name: Box<str>,
    place: u32,
    id: NodeId,
}

impl Member {
    pub(crate) fn new(name: &str, place: usize, id: NodeId) -> Self {
        Member { name: name.into(), place: place as u32, id }
    }

    pub(crate) fn id(&self) -> NodeId {
        self.id
    }

    /// The place among the members of the node.
    pub(crate) fn place(&self) -> usize {
        self.place as usize
    }
}

/// The listed members of one node, sorted by name.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a>(pub(crate) &'a [Member]);

/// The number of members that are compared one by one.
const LINEAR: usize = 8;

impl<'a> Members<'a> {
    /// Finds a member by its name. Objects mostly have their members in the order of their names,
    /// so the search begins at `next`, one past the member that was found last.
    #[inline]
    pub(crate) fn find(self, name: &str, next: usize) -> Option<&'a Member> {
        match self.0.get(next) {
            Some(member) if *member.name == *name => Some(member),
            _ => self.search(name, next),
        }
    }

    #[inline(never)]
    fn search(self, name: &str, next: usize) -> Option<&'a Member> {
        let ahead = self.0.get(next..).unwrap_or_default().iter().skip(1).take(LINEAR);
        for member in ahead {
            if *member.name == *name {
                return Some(member);
            }
        }
        let place = self.0.binary_search_by(|member| (*member.name).cmp(name)).ok()?;
        self.0.get(place)
    }

    /// The places of some members, if all of them have one that a [`Seen`] can note.
    pub(crate) fn places(self, names: &[Box<str>]) -> Option<Seen> {
        let mut places = Seen::default();
        for name in names {
            let member = self.find(name, 0).filter(|member| member.place() < Seen::COUNT)?;
            places.insert(member.place());
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
