//! The demands on the members of an object, by which the verdict is found.

use billhook_schema::{MemberTable, NodeId, NodeRef, PropertyRef};

use crate::types::Kinds;

/// The node of a member that the schema lists.
#[inline]
pub(crate) fn listed(property: Option<PropertyRef<'_>>) -> Option<NodeId> {
    property.filter(|property| property.is_listed()).map(|property| property.edge().node_id())
}

/// A member that an object may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) id: NodeId,
    /// The kinds of which all values are valid.
    pub(crate) plain: Kinds,
    pub(crate) is_required: bool,
}

/// The members that objects at a node may and must have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    /// Those that the compiled schema knows; none for one that is forbidden.
    known: MemberTable<Option<Member>>,
    /// Any other one; none if all others are forbidden.
    others: Option<Member>,
    /// The number of required members, if all of them are known.
    pub(crate) required: Option<usize>,
}

impl Members {
    /// The members of a node of the compiled schema; `plain` tells of a node which values are valid
    /// by their kinds.
    pub(crate) fn new(
        at: NodeRef<'_>,
        others: Option<Member>,
        required: &[Box<str>],
        plain: impl Fn(NodeId) -> Kinds,
    ) -> Self {
        let is_required = |name: &str| required.iter().any(|required| **required == *name);
        let member = |property: PropertyRef<'_>| {
            let is_required = is_required(property.name());
            match listed(Some(property)) {
                Some(id) => Some(Member { id, plain: plain(id), is_required }),
                None => others.map(|other| Member { is_required, ..other }),
            }
        };
        let known = at.member_table(member);
        let count = known.iter().flatten().filter(|member| member.is_required).count();
        let required = required.iter().all(|name| at.property(name).is_some()).then_some(count);
        Members { known, others, required }
    }

    /// Returns what is demanded of the member at a position if it has this name.
    #[inline(always)]
    pub(crate) fn at(&self, position: usize, name: &str) -> Option<&Option<Member>> {
        self.known.at(position, name)
    }

    /// Returns what is demanded of the member with a name that is not the one at `next`, none if it
    /// is forbidden, and the position after it. `node` is theirs.
    #[inline]
    pub(crate) fn search<'s>(
        &self,
        node: impl FnOnce() -> NodeRef<'s>,
        name: &str,
        next: usize,
    ) -> (Option<&Member>, usize) {
        let (known, next) = self.known.search(node, name, next);
        (known.unwrap_or(&self.others).as_ref(), next)
    }
}
