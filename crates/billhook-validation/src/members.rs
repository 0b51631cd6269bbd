//! The members that a schema lists, and which members an object has.

use billhook_schema::{NodeId, NodeRef, PropertyRef};

/// The node of a member that the schema lists.
#[inline]
pub(crate) fn listed(property: Option<PropertyRef<'_>>) -> Option<NodeId> {
    property.filter(|property| property.is_listed()).map(|property| property.edge().node_id())
}

/// Which of the first members that a node knows an object has, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen(u64);

impl Seen {
    const COUNT: usize = u64::BITS as usize;

    /// The members with some names, if they are all among the first ones.
    pub(crate) fn of(node: NodeRef<'_>, names: &[Box<str>]) -> Option<Seen> {
        let mut seen = Seen::default();
        for name in names {
            let position = node.property(name)?.position();
            seen.insert(Some(position).filter(|position| *position < Seen::COUNT)?);
        }
        Some(seen)
    }

    /// Notes a member by its position.
    #[inline]
    pub(crate) fn insert(&mut self, position: usize) {
        if position < Seen::COUNT {
            self.0 |= 1 << position;
        }
    }

    /// Whether all of some members are there.
    #[inline]
    pub(crate) fn holds(self, members: Seen) -> bool {
        members.0 & !self.0 == 0
    }
}
